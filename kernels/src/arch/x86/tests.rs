//! Runs every vector kernel under Miri, between buffers that end where their elements end: no byte before or after the buffers is touched, no
//! pointer leaves them, and nothing is read before it is written. The results equal the results of the scalar tier.
//!
//! The full comparison is in `tests/` of the root crate, on a CPU, which does not notice an out-of-bounds pointer that is never dereferenced.

use super::{avx2, avx512, fine, packing, swap};
use crate::arch::features::each_combination;
use crate::{
    arch::Tier,
    dtype::{DType, Encoding},
    exact::{self, Rounding, Rules, buffer::read, steps},
    format::{
        data::Data,
        lut,
        packed::{Packing, SCALAR},
    },
    route::Kernel,
    vector::{
        kernel::{Entry, KernelFn},
        moves::order,
        table::{Found, Table},
    },
};
use alloc::{boxed::Box, vec::Vec};
use std::println;

/// Every nth kernel runs, each with the next length: Miri is slow.
const STEP: usize = 11;
/// One element; fewer than a step of the smallest and of larger steps; blocks of all tiers and a tail.
const LENGTHS: [usize; 6] = [1, 3, 7, 19, 45, 75];

/// A sample of a dtype's values: small and large numbers, numbers between codes and out of range, and random codes.
fn elements(dtype: DType, n: usize) -> Box<[u8]> {
    const VALUES: [f64; 24] = [
        0.0,
        1.0,
        -1.0,
        1.5,
        -2.5,
        0.75,
        5.0,
        -7.0,
        100.3,
        -129.0,
        300.0,
        449.0,
        65504.0,
        -65520.0,
        1e5,
        3e9,
        -3e9,
        1e19,
        6e-5,
        3e-8,
        -1e-40,
        1e300,
        f64::INFINITY,
        -0.0,
    ];
    let mut random = n as u64 + 1;
    let codes = (0..n).map(|i| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if i % 3 == 0 {
            return u128::from(random) << 64 | u128::from(random >> 7);
        }
        let value = exact::decode(DType::Float64, VALUES[(i + n) % VALUES.len()].to_bits().into());
        exact::encode(dtype, value, &Rules::common(dtype, true))
    });
    codes.flat_map(|code| code.to_le_bytes().into_iter().take(dtype.size())).collect()
}

/// Random packed elements.
fn packed(bytes: usize) -> Box<[u8]> {
    (0..bytes).map(|i| (i * 167 + 91) as u8).collect()
}

fn source(from: Encoding, n: usize) -> Box<[u8]> {
    if from.is_packed() { packed(from.byte_len(n).expect("small")) } else { elements(from.dtype(), n) }
}

/// The bytes that a kernel writes for `n` elements.
fn run(kernel: KernelFn, src: &[u8], to: Encoding, n: usize, data: &Data) -> Box<[u8]> {
    let mut dst = Box::new_uninit_slice(to.byte_len(n).expect("small"));
    // SAFETY: `n` elements are on both sides, the CPU has all features, and the kernel writes all `n` elements.
    unsafe {
        kernel(src.as_ptr(), dst.as_mut_ptr().cast(), n, data);
        dst.assume_init()
    }
}

/// The bits of results, with every NaN replaced by one value, because Miri leaves the bits of NaN open.
fn results(bytes: &[u8], to: Encoding) -> Vec<u128> {
    let dtype = to.dtype();
    if to.is_packed() || !dtype.has_nan() {
        return bytes.iter().map(|byte| (*byte).into()).collect();
    }
    let code = |bytes| {
        let code = read(bytes, dtype);
        let (re, im) = exact::decode(dtype, code);
        if re.is_nan() || im.is_nan() { u128::MAX } else { code }
    };
    bytes.chunks_exact(dtype.size()).map(code).collect()
}

/// Runs a kernel and compares its results with the scalar tier's.
fn compare(kernel: Entry, from: Encoding, to: Encoding, saturate: bool, n: usize, what: &str) {
    let rules = Rules::common(to.dtype(), saturate);
    let scalar = Kernel::new(Tier::Scalar, from, to, &rules).expect("scalar");
    let src = source(from, n);
    let mut want = alloc::vec![0; to.byte_len(n).expect("small")];
    scalar.run(&src, &mut want, n).expect("large enough");
    let data = Data::kept(from.dtype(), to.dtype(), &rules, false, kernel.table);
    let got = run(kernel.run, &src, to, n, data);
    assert_eq!(
        results(&got, to),
        results(&want, to),
        "{n} elements, {from} -> {to}, saturate {saturate}, {what}"
    );
}

/// Runs every nth kernel of the tables.
fn kernels_of(tables: &[(&str, &Table)]) {
    let storages = |dtype: DType| {
        let packed = dtype.is_sub_byte().then(|| Encoding::packed(dtype));
        core::iter::once(Encoding::new(dtype)).chain(packed)
    };
    let (mut turn, mut count) = (0, 0);
    for from in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
        for to in DType::ALL.iter().flat_map(|dtype| storages(*dtype)) {
            for saturate in [false, true] {
                for &(what, table) in tables {
                    // Routes map half bytes without a kernel of a table.
                    let width = from.bits_per_element();
                    let results = if to.is_packed() { width } else { 8 };
                    if from.is_packed() && width <= 4 && to.bits_per_element() == results {
                        continue;
                    }
                    let found = table.find(from, to, saturate);
                    if matches!(found, Found::Staged) {
                        continue;
                    }
                    // These pairs run the kernels of two other pairs, which are tested as such.
                    if steps::through(from.dtype(), to.dtype()).is_some() {
                        continue;
                    }
                    turn += 1;
                    if turn % STEP != 0 {
                        continue;
                    }
                    let kernel = match found {
                        Found::Kernel(kernel) => kernel,
                        Found::Tabled | Found::Staged => {
                            let rules = Rules::common(to.dtype(), saturate);
                            let words = lut::words(from.dtype(), to.dtype(), &rules);
                            let make = table.tabled.expect("such a tier makes tables");
                            let made = make(from, to, &rules, &words).expect("a kernel");
                            let kernel = Entry { run: made.run, table: made.table };
                            // Constants refer to the table for the rest of the process.
                            core::mem::forget(made);
                            kernel
                        }
                    };
                    compare(kernel, from, to, saturate, LENGTHS[count % LENGTHS.len()], what);
                    count += 1;
                }
            }
        }
    }
    println!("{count} casts");
}

#[test]
fn kernels_of_avx2() {
    kernels_of(&[("avx2", &avx2::TABLE)]);
}

#[test]
fn kernels_of_avx512() {
    let names = each_combination!(|VBMI, BF16| fine::names([VBMI, BF16]));
    let names = names.iter().map(|names| names.last().copied().unwrap_or("avx512"));
    let tables: Vec<_> = names.zip(&avx512::TABLES).collect();
    kernels_of(&tables);
}

/// Tests kernels under other rules. Miri rounds only to nearest, so results of other directions are not compared.
#[test]
fn kernels_under_other_rules() {
    let mut turn = 0;
    for rounding in [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::ToOdd] {
        for (from, to) in DType::ALL.iter().flat_map(|from| DType::ALL.iter().map(move |to| (*from, *to))) {
            // As above: these pairs run the kernels of two other pairs.
            if steps::through(from, to).is_some() {
                continue;
            }
            let rules =
                Rules { rounding, fnuz_inf_nan: true, finite_nan_max: true, ..Rules::common(to, true) };
            // The kernels of AVX-512 round by conversions that Miri does not know.
            let Some(rounded) = avx2::rounded(from.into(), to.into(), &rules) else { continue };
            turn += 1;
            if turn % STEP == 0 {
                let n = LENGTHS[turn / STEP % LENGTHS.len()];
                let data = Data::kept(from, to, &rules, rounded.second.is_some(), core::ptr::null());
                let src = source(from.into(), n);
                match rounded.second {
                    None => run(rounded.run, &src, to.into(), n, data),
                    Some(second) => {
                        let hub = DType::Float32;
                        let hubs = run(rounded.run, &src, hub.into(), n, Data::common(hub, true));
                        run(second, &hubs, to.into(), n, data)
                    }
                };
            }
        }
    }
}

#[test]
fn packed_storage_and_byte_orders() {
    let data = Data::common(DType::Int8, true);
    for n in LENGTHS {
        for (width, bits) in [2, 4, 6].into_iter().enumerate() {
            let bytes = (n * bits).div_ceil(8);
            let (src, table) = (packed(bytes), core::array::from_fn(|i| i as u8 * 15 & 0xF));
            let tried = |tools: &Packing| {
                let mut codes = alloc::vec![0; n].into_boxed_slice();
                let mut again = alloc::vec![0; bytes].into_boxed_slice();
                let mut mapped = alloc::vec![0; if bits == 6 { bytes } else { n }].into_boxed_slice();
                // SAFETY: the buffers have the bytes of `n` elements, or of `mapped.len()` elements where halves of bytes are looked up.
                unsafe {
                    tools.unpack[width](src.as_ptr(), codes.as_mut_ptr(), n);
                    tools.pack[width](codes.as_ptr(), again.as_mut_ptr(), n);
                    tools.map[width](src.as_ptr(), mapped.as_mut_ptr(), mapped.len(), &table);
                }
                (codes, again, mapped)
            };
            assert_eq!(tried(&packing::PACKING), tried(&SCALAR), "{n} elements of {bits} bits");
        }
        for dtype in [DType::Int16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128] {
            let (place, src) = (order::PLACES[dtype as usize] as usize, elements(dtype, n));
            let [want, avx2, avx512] = [&order::SCALAR, &swap::AVX2, &swap::AVX512]
                .map(|swaps| run(swaps[place], &src, dtype.into(), n, data));
            assert!(avx2 == want && avx512 == want, "{n} elements of {dtype}");
        }
    }
}
