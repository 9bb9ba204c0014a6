//! Scaled casts under emulation: those that `lanecast-bench scaled` times, both ways.
//!
//! Tensors have rows of as many elements as there, and a small call has one row of fewer. So the elements of a long one stand for whole
//! blocks; those of tiles are taken row by row, and what a tile costs beside its rows is part of a small call only.

use super::{Count, LENGTHS, counted, mark::between_marks, memory::from_one_piece};
use crate::{
    cells::Mode,
    pool::Pool,
    run::Selection,
    scaled::{COLUMNS, Cell, SCHEMES},
};
use lanecast::{
    Bytes, BytesMut, DType, Tier,
    scaled::{Quantized, Scheme},
    tier,
};
use std::hint::black_box;

/// The class of scaled casts in results.
pub const CLASS: &str = "scaled";

/// A scaled cast.
#[derive(Clone, Copy, Debug)]
pub struct ScaledCast {
    /// The name of the scheme.
    pub name: &'static str,
    scheme: &'static Scheme,
    /// The dtype of the elements.
    dtype: DType,
    /// Whether it makes codes of elements, and not elements of codes.
    quantizes: bool,
}

/// The casts of every scheme, in the order of [`columns`].
pub fn every() -> impl Iterator<Item = ScaledCast> {
    let casts = |(name, scheme): &'static (&'static str, Scheme)| {
        directions().map(|(quantizes, dtype)| ScaledCast { name, scheme, dtype, quantizes })
    };
    SCHEMES.iter().flat_map(casts)
}

/// The names of the casts of a scheme.
pub fn columns() -> impl Iterator<Item = String> {
    directions().map(|(quantizes, dtype)| format!("{} {dtype}", if quantizes { "from" } else { "to" }))
}

fn directions() -> impl Iterator<Item = (bool, DType)> {
    let dtypes = [DType::Float32, DType::BFloat16];
    [true, false].into_iter().flat_map(move |quantizes| dtypes.map(|dtype| (quantizes, dtype)))
}

impl ScaledCast {
    /// A count without figures.
    pub fn empty(&self, tier: &str) -> Count {
        let (scheme, dtype) = (self.name.to_owned(), self.dtype.to_string());
        let (from, to) = if self.quantizes { (dtype, scheme) } else { (scheme, dtype) };
        Count {
            from,
            to,
            mode: Mode::Only,
            tier: tier.into(),
            class: CLASS.into(),
            instructions_per_element: 0.0,
            instructions_of_call: 0,
        }
    }

    /// Casts a tensor of so many elements between marks.
    fn count(&self, tier: Tier, n: usize, pool: &mut Pool) -> Result<(), String> {
        let shape = [n.div_ceil(COLUMNS), n.min(COLUMNS)];
        let cell = Cell { tier, scheme: self.scheme, from: self.dtype, shape };
        let source = cell.source()?;
        let want = cell.answers(Tier::Scalar, &source)?;
        let mut decoded = vec![0; source.len()];
        let scalar = cell.plan(Tier::Scalar, self.scheme.quotient)?;
        let done = scalar.dequantize(&want, BytesMut::new(&mut decoded, n));
        done.map_err(|error| error.to_string())?;
        let plan = cell.plan(tier, self.scheme.quotient)?;
        let [values, codes, scales] = pool.buffers([source.len(), want.data.len(), want.scales.len()]);
        // Once before it counts: what the first cast finds out and keeps, the next ones have.
        for counted in [false, true] {
            let expected = if self.quantizes {
                values.copy_from_slice(&source);
                codes.fill(0xEE);
                scales.fill(0xEE);
                &source
            } else {
                values.fill(0xEE);
                codes.copy_from_slice(&want.data);
                scales.copy_from_slice(&want.scales);
                &decoded
            };
            let mut done = Ok(());
            let mut q = Quantized { global: want.global, ..Quantized::new(&mut *codes, &mut *scales) };
            let mut call = || {
                let plan = black_box(&plan);
                done = match self.quantizes {
                    true => plan.quantize(Bytes::new(values, n), &mut q).map(drop),
                    false => plan.dequantize(&q, BytesMut::new(values, n)),
                };
            };
            match counted {
                true => from_one_piece(|| between_marks(&mut call)),
                false => call(),
            }
            let global = q.global;
            done.map_err(|error| error.to_string())?;
            if global != want.global
                || *values != **expected
                || *codes != *want.data
                || *scales != *want.scales
            {
                return Err(format!("at {n} elements it differs from the scalar tier"));
            }
        }
        Ok(())
    }
}

/// Runs the selected scaled casts on tiers that can run here.
///
/// # Errors
///
/// If an answer differs from the scalar tier's.
pub(super) fn run(selection: &Selection, tiers: &[Tier], pool: &mut Pool) -> Result<Vec<Count>, String> {
    let mut counts = Vec::new();
    for cast in every().filter(|cast| selection.has_scheme(cast.name)) {
        for &tier in tiers {
            let count = cast.empty(tier.name());
            for n in counted(LENGTHS) {
                cast.count(tier, n, pool).map_err(|error| format!("{count}: {error}"))?;
            }
            counts.push(count);
        }
    }
    tier::force(None).map_err(|error| error.to_string())?;
    Ok(counts)
}
