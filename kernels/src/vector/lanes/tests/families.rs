//! Compares every kernel that the lanes offer, on [`Portable`], with the scalar tier: all pairs, storages and rules.
//!
//! The tables here belong to a tier where the lanes provide the kernel of every pair. Tiers with these kernels are tested from outside, so only
//! hosts of other tiers run this test.

use super::inputs;
use crate::{
    arch::Tier,
    drive::kernel::tests as kernels,
    dtype::{COUNT, DType, Encoding},
    exact::{Rules, steps},
    format::{
        Format,
        data::{Data, Direction},
        lut,
    },
    route::Kernel,
    vector::{
        kernel::{Entry, KernelFn},
        lanes::{
            rounded,
            select::{self, Tokens},
        },
        pairs::is_copy,
        portable::{Portable, call_in},
        table::{self, PackedTable, PairKernels, Row, Table, TierKernels},
    },
};
use alloc::{format, string::String, vec, vec::Vec};
use core::marker::PhantomData;

/// A tier whose kernels all obey the direction in which they run.
struct Obeying;
impl Tokens for Obeying {
    type Base = Portable<16, false>;
    type F16 = Portable<16, false>;
    type BF16 = Portable<16, true>;
}

/// A tier that rounds bfloat16 to nearest, and uses the kernels of the table for no other direction.
struct Nearest;
impl Tokens for Nearest {
    const COMMON_OBEYS: bool = false;
    type Base = Portable<16, false>;
    type F16 = Portable<16, false>;
    type BF16 = Portable<16, false>;
}

/// The lanes have no copies.
unsafe fn copy<S: Format>(_: *const u8, _: *mut u8, _: usize, _: &Data) {
    unreachable!("a copy of {}", S::DTYPE);
}

/// The lanes have a kernel for every pair.
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(_: *const u8, _: *mut u8, _: usize, _: &Data) {
    unreachable!("{} to {}", S::DTYPE, D::DTYPE);
}

const fn from_packed<S: Format, D: Format, const PACKED: bool>(saturate: bool) -> Option<KernelFn> {
    Some(match S::DTYPE.bits() {
        2 => select::pair::<Obeying, S, D, 2, PACKED>(saturate),
        4 => select::pair::<Obeying, S, D, 4, PACKED>(saturate),
        6 => select::pair::<Obeying, S, D, 6, PACKED>(saturate),
        _ => select::pair::<Obeying, S, D, 8, PACKED>(saturate),
    })
}

/// The kernels of the tier.
struct Kernels;

impl TierKernels for Kernels {
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE>;
}

/// The kernels of a pair.
struct Pair<S, D, const SATURATE: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool> PairKernels for Pair<S, D, SATURATE> {
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = Some(select::pair::<Obeying, S, D, 8, false>(SATURATE));
    const CAST: KernelFn = cast::<S, D, SATURATE>;
    const FROM_PACKED: Option<KernelFn> = from_packed::<S, D, false>(SATURATE);
    const TO_PACKED: Option<KernelFn> = Some(select::pair::<Obeying, S, D, 8, true>(SATURATE));
    const BOTH_PACKED: Option<KernelFn> = from_packed::<S, D, true>(SATURATE);
}

static ROWS: [Row; COUNT] = table::rows::<Kernels, COUNT>();
static PACKED: PackedTable = table::packed_table::<Kernels>();
static TABLE: Table = Table { packed: Some(&PACKED), ..Table::new(&ROWS) };

/// A kernel and its arguments.
struct Call<'a> {
    run: KernelFn,
    direction: Direction,
    data: &'a Data,
}

impl Call<'_> {
    /// The results of the first `n` elements.
    fn results(&self, src: &[u8], to: Encoding, n: usize) -> Vec<u8> {
        let len = to.byte_len(n).expect("small");
        // Neither buffer begins at an even address.
        let src = [&[0], src].concat();
        let mut dst = vec![0xAA; 1 + len + 3];
        // SAFETY: the source has the elements and the destination has room for the results; the token requires no CPU features.
        call_in(self.direction, || unsafe {
            (self.run)(src.as_ptr().add(1), dst.as_mut_ptr().add(1), n, self.data)
        });
        assert_eq!((dst[0], &dst[1 + len..]), (0xAA, &[0xAA; 3][..]), "nothing else is written");
        dst[1..1 + len].to_vec()
    }
}

#[derive(Default)]
struct Comparison {
    calls: usize,
    failures: Vec<String>,
}

impl Comparison {
    fn compare(&mut self, call: &Call<'_>, src: &[u8], from: Encoding, to: Encoding, rules: &Rules) {
        // Whole blocks followed by a part, and a part alone.
        let all = src.len() * 8 / from.bits_per_element() as usize;
        for n in [all.min(if cfg!(miri) { 35 } else { all }), 5] {
            let src = &src[..from.byte_len(n).expect("small")];
            let scalar = Kernel::new(Tier::Scalar, from, to, rules).expect("scalar");
            let want = kernels::run(&scalar, src, n);
            let found = call.results(src, to, n);
            self.calls += 1;
            if want == found {
                continue;
            }
            let at = want.iter().zip(&found).position(|(a, b)| a != b).expect("as long");
            let element = at * 8 / to.bits_per_element() as usize;
            self.failures.push(format!(
                "{from} to {to} in {:?} under {rules:?}, element {element} of {n}: {:X?} becomes {:X?}, not {:X?}",
                call.direction,
                &src[from.span(element, 1)],
                &found[to.span(element, 1)],
                &want[to.span(element, 1)],
            ));
        }
    }

    /// Compares all kernels in the tables for a pair of encodings under canonical rules.
    fn pair(&mut self, src: &[u8], from: Encoding, to: Encoding, rules: &Rules) {
        let (s, d) = (from.dtype(), to.dtype());
        let packed = from.is_packed() || to.is_packed();
        let nearest = Direction::NearestEven;
        if *rules == Rules::common(d, rules.saturate) {
            let entry = match packed {
                false => Some(TABLE.get(s, d, rules.saturate)),
                true => TABLE.get_packed(from, to, rules.saturate),
            };
            if let Some(Entry { run, .. }) = entry {
                let data = Data::common(d, rules.saturate);
                self.compare(&Call { run, direction: nearest, data }, src, from, to, rules);
            }
            return;
        }
        if s.size() == 1 {
            let made = rounded::tabled::<Obeying>(from, to, rules, &lut::words(s, d, rules));
            if let Some(made) = made {
                let data = &Data { table: made.table, ..Data::new(d, rules) };
                let call = Call { run: made.run, direction: made.direction, data };
                self.compare(&call, src, from, to, rules);
            }
        }
        let kernels = [
            rounded::rounded::<Obeying>(from, to, rules, &TABLE),
            rounded::rounded::<Nearest>(from, to, rules, &TABLE),
        ];
        for rounded in kernels.into_iter().flatten() {
            assert!(rounded.second.is_none());
            let call = Call { run: rounded.run, direction: rounded.direction, data: &Data::new(d, rules) };
            self.compare(&call, src, from, to, rules);
        }
    }
}

/// All rules of the target that differ for the pair.
fn all_rules(from: DType, to: DType) -> Vec<Rules> {
    let mut rules = vec![];
    let all = kernels::all_rules(to).into_iter().chain([false, true].map(|x| Rules::common(to, x)));
    for canonical in all.map(|rules| rules.canonical(from, to)) {
        if !rules.contains(&canonical) {
            rules.push(canonical);
        }
    }
    rules
}

/// Whether Miri, which is slow, runs this pair.
fn is_run(from: DType, to: DType) -> bool {
    !cfg!(miri) || (7 * from as usize + to as usize).is_multiple_of(37)
}

#[test]
fn every_kernel_is_the_scalar_one() {
    let mut comparison = Comparison::default();
    let mut turn = 0;
    for &s in DType::ALL {
        for &d in DType::ALL.iter().filter(|d| is_run(s, **d) && steps::through(s, **d).is_none()) {
            let rules = all_rules(s, d);
            for from in encodings(s) {
                let src = inputs::elements(from);
                for rules in rules.iter().filter(|rules| !is_copy(s, d, rules.saturate)) {
                    for to in encodings(d) {
                        turn += 1;
                        if !cfg!(miri) || turn % 13 == 0 {
                            comparison.pair(&src, from, to, rules);
                        }
                    }
                }
            }
        }
    }
    let Comparison { calls, failures } = comparison;
    let shown = &failures[..failures.len().min(40)];
    assert!(failures.is_empty(), "{} of {calls} calls differ:\n{}", failures.len(), shown.join("\n"));
    std::println!("{calls} calls");
}

fn encodings(dtype: DType) -> Vec<Encoding> {
    let mut encodings = vec![Encoding::new(dtype), Encoding::packed(dtype)];
    encodings.dedup();
    encodings
}
