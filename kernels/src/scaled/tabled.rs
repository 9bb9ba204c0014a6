//! Quantization of bfloat16 to 8-bit floats by a table.
//!
//! A bfloat16 has 7 mantissa bits. Within a binade of the source, they alone determine the code of the quotient, and doubling the source
//! adds one exponent to a normal code. A scale is therefore a table of 128 codes and the first exponent whose quotients are normal. The
//! loop looks up the mantissas and adds the exponents, one byte for each element. It leaves a block to the loop that divides if a
//! quotient may be subnormal, or if an element is infinite or NaN.

use super::{Factors, ScaledCast, Step};
use crate::dtype::{DType, Spec};

/// The constants of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallFloat {
    pub(crate) mantissa_bits: u32,
    /// The code of the largest magnitude.
    pub(crate) max: u8,
    /// So many exponents above the first normal one, every code is `max`.
    pub(crate) exponents: u8,
    bias: u32,
}

impl SmallFloat {
    fn of(to: DType) -> Option<Self> {
        let Spec::Float(float) = to.spec() else { return None };
        if !matches!(to, DType::Float8E4M3FN | DType::Float8E5M2) {
            return None;
        }
        let (mantissa_bits, bias) = (float.mantissa_bits, float.bias as u32);
        let max = float.max_finite() as u8;
        // The exponent above that of the largest magnitude.
        let exponents = (u32::from(max) >> mantissa_bits) as u8;
        Some(Self { mantissa_bits, max, exponents, bias })
    }
}

/// A loop that casts the elements `start..n` in blocks of 64. It stops before a block that it leaves to the loop that divides, and returns
/// the index where it stopped, or `n`. The slice has the first exponent field with normal quotients for each run.
///
/// # Safety
///
/// The CPU has the tier. `n` elements are readable and as many codes writable; `start` and `n` are multiples of 64, and so is `run`, unless
/// it is 32. There is an exponent field for each run, greater than the number of mantissa bits plus 2.
pub(crate) type TableFn =
    unsafe fn(*const u8, *mut u8, usize, usize, usize, &[u8; MANTISSAS], &[u8], SmallFloat) -> usize;

const MANTISSAS: usize = 128;
const BLOCK: usize = 64;
/// The most runs that one call casts by the same table.
const RUNS: usize = 128;
/// Elements of a run from which on a table of its own is worth making.
const LONG: usize = 512;

/// A loop of a tier and its target.
#[derive(Clone, Copy)]
pub(super) struct Tabled {
    run: TableFn,
    float: SmallFloat,
}

impl Tabled {
    pub(super) fn new(run: Option<TableFn>, from: DType, to: DType) -> Option<Self> {
        let (run, float) = run.zip(SmallFloat::of(to))?;
        (from == DType::BFloat16).then_some(Self { run, float })
    }

    /// The first exponent field whose quotients are normal, if elements with the field `one` have quotients in `1..4`.
    fn first_normal(&self, one: u32) -> Option<u8> {
        let first = u8::try_from((one + 1).checked_sub(self.float.bias)?).ok()?;
        (u32::from(first) > self.float.mantissa_bits + 2).then_some(first)
    }

    /// Fills in the exponent fields of the first runs whose factors are powers of two. Returns the number of these runs, in whole blocks.
    fn powers(&self, factors: &[f32], run: usize, firsts: &mut [u8; RUNS]) -> usize {
        let least = self.float.mantissa_bits + 3;
        let first_normal = |factor: f32| {
            let (bits, field) = (factor.to_bits(), factor.to_bits() >> 23);
            let first = 255_u32.wrapping_sub(field).wrapping_sub(self.float.bias);
            let fits = (bits & 0x807F_FFFF == 0) & (field > 0) & (first.wrapping_sub(least) < 256 - least);
            (first as u8, fits)
        };
        // Without an early exit, so that the compiler makes vector code of the loop.
        let mut all = true;
        for (factor, first) in factors.iter().zip(&mut *firsts) {
            let (found, fits) = first_normal(*factor);
            (*first, all) = (found, all & fits);
        }
        let runs = match all {
            true => factors.len().min(RUNS),
            false => factors.iter().take_while(|factor| first_normal(**factor).1).count().min(RUNS),
        };
        if run < BLOCK { runs & !1 } else { runs }
    }

    /// The table of all powers of two.
    fn mantissas(&self) -> [u8; MANTISSAS] {
        const TABLES: [[u8; MANTISSAS]; 2] = [mantissas(2), mantissas(3)];
        TABLES[usize::from(self.float.mantissa_bits == 3)]
    }
}

/// The 128 mantissas rounded to those of a target, as codes from the first normal one on.
const fn mantissas(mantissa_bits: u32) -> [u8; MANTISSAS] {
    let dropped = 7 - mantissa_bits;
    let mut table = [0; MANTISSAS];
    let mut m = 0;
    while m < MANTISSAS {
        let rounded = m + (1 << dropped >> 1) - 1 + (m >> dropped & 1);
        table[m] = ((1 << mantissa_bits) + (rounded >> dropped)) as u8;
        m += 1;
    }
    table
}

impl ScaledCast {
    /// [`run`](ScaledCast::run) by tables where those are quick; its arguments were checked.
    pub(super) fn by_tables(
        &self,
        tabled: &Tabled,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        run: usize,
        factors: &Factors<'_>,
    ) {
        let mut start = 0;
        while start < n {
            let i = start / run;
            let mut firsts = [0; RUNS];
            let (runs, table) = match self.step {
                Step::Times if run >= BLOCK || run == BLOCK / 2 => {
                    (tabled.powers(&factors.factor[i..n.div_ceil(run)], run, &mut firsts), tabled.mantissas())
                }
                Step::Quotient { block: false } if run >= LONG => {
                    let bits = factors.scale[i].to_bits();
                    let one = (bits >> 23) + u32::from(bits & 0x7F_FFFF != 0);
                    match tabled.first_normal(one) {
                        Some(first) => {
                            firsts[0] = first;
                            (1, self.quotients(tabled, one, &factors.from(i)))
                        }
                        None => (0, [0; MANTISSAS]),
                    }
                }
                _ => (0, [0; MANTISSAS]),
            };
            let end = match runs {
                0 => (i + 1).saturating_mul(run).next_multiple_of(BLOCK).min(n),
                _ => (i + runs).saturating_mul(run).min(n),
            };
            // Consecutive blocks that were left to the other loop. After four of them, it casts the rest.
            let mut left = 0;
            while runs > 0 && start < end && left < 4 {
                let first = i * run;
                let (src_runs, dst_runs) = (&src[2 * first..2 * end], &mut dst[first..end]);
                // SAFETY: the tier can run here; the slices have the elements, and the runs their exponents.
                let done = unsafe {
                    let (src, dst) = (src_runs.as_ptr(), dst_runs.as_mut_ptr());
                    (tabled.run)(src, dst, start - first, end - first, run, &table, &firsts, tabled.float)
                };
                left = if first + done == start { left + 1 } else { 0 };
                start = first + done;
                if start < end {
                    self.directly(src, dst, start..start + BLOCK, run, factors);
                    start += BLOCK;
                }
            }
            self.directly(src, dst, start..end, run, factors);
            start = end;
        }
    }

    /// The codes of a binade whose quotients are in `1..4`, with the exponent lowered so that a quotient of 1 has the first normal code.
    fn quotients(&self, tabled: &Tabled, one: u32, factors: &Factors<'_>) -> [u8; MANTISSAS] {
        let elements: [[u8; 2]; MANTISSAS] =
            core::array::from_fn(|m| ((one << 7 | m as u32) as u16).to_ne_bytes());
        let mut table = [0; MANTISSAS];
        self.directly(elements.as_flattened(), &mut table, 0..MANTISSAS, MANTISSAS, factors);
        let exponents = ((tabled.float.bias - 1) << tabled.float.mantissa_bits) as u8;
        table.map(|code| code.wrapping_sub(exponents))
    }
}
