//! Random structs against casts of single elements.

use crate::support::rng::Rng;
use lanecast::structured::{Field, Match, StructPlan, StructType};
use lanecast::{ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Level};

/// An element of a random struct: where it is in both items, from what to what.
struct Single {
    src: usize,
    dst: usize,
    from: Encoding,
    to: Encoding,
}

/// A struct, another that casts to it by `matching`, and all elements, found without the plan.
fn random(rng: &mut Rng, matching: Match, depth: u32) -> (StructType, StructType, Vec<Single>) {
    let count = 1 + rng.below(5) as usize;
    let mut pairs: Vec<(Field, Field, Vec<Single>)> = Vec::new();
    let pick = |rng: &mut Rng| {
        let dtype = DType::ALL[rng.below(DType::ALL.len() as u64) as usize];
        let order = if rng.below(3) == 0 { ByteOrder::Big } else { ByteOrder::Little };
        Encoding::new(dtype).with_order(order)
    };
    let mut same = (pick(rng), pick(rng));
    for i in 0..count {
        let name = format!("f{i}");
        let (mut src, mut dst, inner) = if depth > 0 && rng.below(4) == 0 {
            let (from, to, inner) = random(rng, matching, depth - 1);
            (Field::new(&name, from), Field::new(&name, to), inner)
        } else {
            // Neighbours of the same types, often, which become one run.
            if rng.below(2) == 0 {
                same = (pick(rng), pick(rng));
            }
            let (from, to) = same;
            (Field::new(&name, from), Field::new(&name, to), vec![Single { src: 0, dst: 0, from, to }])
        };
        let shapes: [&[usize]; 8] = [&[], &[], &[], &[3], &[1], &[2, 3], &[2, 1, 2], &[70]];
        let shape = shapes[rng.below(8) as usize];
        // The source may lack leading axes and have 1 for any length.
        let lack = rng.below(2) as usize * rng.below(shape.len() as u64 + 1) as usize;
        let have: Vec<usize> =
            shape[lack..].iter().map(|&dim| if rng.below(4) == 0 { 1 } else { dim }).collect();
        let mut singles = Vec::new();
        for at in 0..shape.iter().product::<usize>() {
            let (mut rest, mut from, mut step) = (at, 0, 1);
            for axis in (0..shape.len()).rev() {
                let index = rest % shape[axis];
                rest /= shape[axis];
                if axis >= lack {
                    let dim = have[axis - lack];
                    from += if dim == 1 { 0 } else { index * step };
                    step *= dim;
                }
            }
            singles.extend(inner.iter().map(|of| Single {
                src: of.src.saturating_add(from * src.kind().size()),
                dst: at * dst.kind().size() + of.dst,
                ..*of
            }));
        }
        (src, dst) = (src.with_shape(have), dst.with_shape(shape));
        pairs.push((src, dst, singles));
    }
    // The places in both items.
    let place = |rng: &mut Rng, fields: Vec<&Field>, shuffle: bool| {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        if shuffle && rng.below(2) == 0 {
            order.reverse();
        }
        let gaps = rng.below(3) * 3;
        let (mut offsets, mut at) = (vec![0; fields.len()], 0);
        for i in order {
            at += rng.below(gaps + 1) as usize;
            offsets[i] = at;
            at += fields[i].size();
        }
        (offsets, at + rng.below(gaps + 1) as usize)
    };
    let (src_at, src_size) = place(rng, pairs.iter().map(|pair| &pair.0).collect(), true);
    let (dst_at, dst_size) = place(rng, pairs.iter().map(|pair| &pair.1).collect(), true);
    let (mut from, mut to, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (src, dst, singles)) in pairs.into_iter().enumerate() {
        // By name one of the partners may be missing.
        let missing = if matching == Match::Position { 9 } else { rng.below(6) };
        if missing == 0 {
            if matching == Match::NameOrZero {
                let zeros = dst_at[i]..dst_at[i] + dst.size();
                all.extend(zeros.map(|dst| Single { src: usize::MAX, dst, from: same.0, to: same.1 }));
            }
        } else {
            from.push((src_at[i], src));
        }
        if missing != 1 {
            to.push((dst_at[i], dst));
        }
        if missing > 1 {
            all.extend(singles.into_iter().map(|of| Single {
                src: of.src.saturating_add(src_at[i]),
                dst: of.dst + dst_at[i],
                ..of
            }));
        }
    }
    if matching != Match::Position && rng.below(2) == 0 {
        from.reverse();
    }
    (
        StructType::with_offsets(from, src_size).expect("a struct"),
        StructType::with_offsets(to, dst_size).expect("a struct"),
        all,
    )
}

/// Brings the bytes of an element, or of the parts of a complex one, into the other order.
fn turn(bytes: &mut [u8], of: Encoding) {
    if of.is_swapped() {
        bytes.chunks_exact_mut(of.dtype().alignment()).for_each(<[u8]>::reverse);
    }
}

/// Casts one element as it is cast alone.
fn one(of: &Single, src: &[u8], dst: &mut [u8], options: &CastOptions) {
    if of.src == usize::MAX {
        dst[of.dst] = 0;
        return;
    }
    let mut element = src[of.src..][..of.from.dtype().size()].to_vec();
    turn(&mut element, of.from);
    let mut result = vec![0; of.to.dtype().size()];
    CastPlan::new(of.from.native(), of.to.native(), options)
        .unwrap()
        .run(Bytes::new(&element, 1), BytesMut::new(&mut result, 1))
        .unwrap();
    turn(&mut result, of.to);
    dst[of.dst..][..result.len()].copy_from_slice(&result);
}

#[test]
fn random_structs_are_cast_element_by_element() {
    let rounds = if cfg!(miri) { 2 } else { 150 };
    for seed in 0..rounds {
        let rng = &mut Rng(seed);
        let matching = [Match::Position, Match::Name, Match::NameOrZero][rng.below(3) as usize];
        let (from, to, singles) = random(rng, matching, 2);
        let options = CastOptions::PROFILES[rng.below(6) as usize].1;
        let plan = StructPlan::new(&from, &to, matching, &options).unwrap();
        for n in [0, 1, 3, 17 + rng.below(40) as usize] {
            // One byte off, and guard bytes behind.
            let src: Vec<u8> = (0..1 + n * from.item_size() + 5).map(|_| rng.bits() as u8).collect();
            let before: Vec<u8> = (0..1 + n * to.item_size() + 5).map(|_| rng.bits() as u8).collect();
            let mut expected = before.clone();
            for i in 0..n {
                let item = &mut expected[1 + i * to.item_size()..];
                singles.iter().for_each(|of| one(of, &src[1 + i * from.item_size()..], item, &options));
            }
            let mut dst = before.clone();
            plan.run(&src[1..], &mut dst[1..], n).unwrap();
            assert_eq!(dst, expected, "seed {seed}, {n} items, {matching:?}, {from:?} to {to:?}");
            let mut dst = before;
            plan.checked(Level::Exact).run_counted(&src[1..], &mut dst[1..], n).unwrap();
            assert_eq!(dst, expected, "seed {seed}, {n} items, counted");
            let all_fit = plan.checked(Level::Range).run(&src[1..], &mut dst[1..], n).is_ok();
            assert_eq!(dst[1 + n * to.item_size()..], expected[1 + n * to.item_size()..]);
            assert!(!all_fit || dst == expected, "seed {seed}, {n} items, checked");
        }
    }
}
