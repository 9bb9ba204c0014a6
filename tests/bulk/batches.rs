//! Many casts that the threads share.

use super::*;

/// Thousands of tensors of mixed sizes and dtypes, some of them empty.
#[test]
fn batches() {
    use DType::*;
    let count = if cfg!(miri) { 20 } else { 3000 };
    let plans = [
        plan(Float32, BFloat16),
        slow(Float32, Float8E4M3FN),
        plan(Encoding::packed(Int4), Float16),
        plan(Int64, Encoding::packed(Float4E2M1FN)),
        plan(Bool, Bool),
    ];
    let mut rng = Rng(5);
    let tensors: Vec<(usize, usize)> = (0..count)
        .map(|k| {
            let n = match k % 50 {
                0 => rng.below(LARGE as u64 / 2),
                1..5 => 0,
                5..25 => rng.below(40),
                _ => rng.below(1500),
            };
            (n as usize, rng.below(plans.len() as u64) as usize)
        })
        .collect();
    let sources: Vec<Vec<u8>> = tensors
        .iter()
        .enumerate()
        .map(|(k, (n, p))| noise(k as u64, byte_len(plans[*p].source(), *n) + k % 3))
        .collect();
    let want: Vec<Vec<u8>> = tensors
        .iter()
        .zip(&sources)
        .enumerate()
        .map(|(k, ((n, p), src))| {
            let mut out = vec![0xA5; byte_len(plans[*p].target(), *n) + k % 2];
            plans[*p].run(Bytes::new(src, *n), BytesMut::new(&mut out, *n)).expect("the buffers fit");
            out
        })
        .collect();
    with_all(|threads| {
        let mut out: Vec<Vec<u8>> = want.iter().map(|bytes| vec![0xA5; bytes.len()]).collect();
        let items = tensors.iter().zip(&sources).zip(&mut out).map(|(((n, p), src), dst)| {
            BatchItem::new(&plans[*p], Bytes::new(src, *n), BytesMut::new(dst, *n)).expect("the buffers fit")
        });
        assert_eq!(cast_batch(items.collect(), threads), Ok(()));
        assert!(out == want, "{threads:?}");
    });
    assert_eq!(cast_batch(Vec::new(), &Threads::Rayon), Ok(()));
    let short = BatchItem::new(&plans[0], Bytes::new(&[0; 11], 3), BytesMut::new(&mut [0; 6], 3)).err();
    assert_eq!(short, Some(CastError::BufferTooSmall { which: Side::Source, need: 12, have: 11 }));
}

/// Operands of every kind, and what a checked plan refuses.
#[test]
fn batches_of_all_operands() {
    let (widen, check) =
        (plan(DType::Int8, DType::Int32), plan(DType::Float32, DType::Int8).checked(Level::Range));
    let n = LARGE;
    with_all(|threads| {
        let mut values = vec![1.0_f32; n];
        (values[n - 5], values[n / 2]) = (1e9, f32::NAN);
        let (mut small, mut column, mut buffer) = (vec![0_i8; n], vec![0_i32; 2 * n], vec![0xFF; 4 * n]);
        let bytes = vec![7_i8; n];
        let mut memory = Vec::<i32>::with_capacity(n);
        let mut uninit = Uninit::new(&mut memory.spare_capacity_mut()[..n]);
        let layout = Layout::new(DType::Int32, &[n], &[8]).expect("every other one");
        let mut raw: Vec<u8> = column.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let mut view = ViewMut::new(&mut raw, layout).expect("within");
        let items = vec![
            BatchItem::new(&widen, &bytes, &mut uninit).expect("one length"),
            BatchItem::new(&widen, &bytes, &mut view).expect("one length"),
            BatchItem::new(&widen, InPlace, BytesMut::new(&mut buffer, n)).expect("room"),
        ];
        assert_eq!(cast_batch(items, threads), Ok(()));
        assert!(uninit.written().iter().all(|x| *x == 7) && buffer == vec![0xFF; 4 * n], "{threads:?}");
        column = raw.chunks_exact(4).map(|x| i32::from_ne_bytes(x.try_into().expect("four"))).collect();
        assert!(column.chunks_exact(2).all(|pair| pair == [7, 0]));
        let items = vec![
            BatchItem::new(&widen, &bytes, &mut column[..n]).expect("one length"),
            BatchItem::new(&check, &values, &mut small).expect("one length"),
        ];
        let refused = cast_batch(items, threads).expect_err("NaN");
        let CastError::Rejected(found) = &refused.error else { panic!("{refused}") };
        assert_eq!((refused.index, found.index), (1, n / 2), "{threads:?}");
    });
}
