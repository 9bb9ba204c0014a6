//! From codes to values.

mod decoder;
mod values;
mod zero_points;

use super::{
    elements::{Values, scatter},
    error::ScaledError,
    kernels::Plain,
    parts::{Part, next},
    quantized::Parts,
    resolved::{Resolved, guarded},
    team::Team,
};
use crate::options::CastOptions;
use core::mem;
use lanecast_kernels::Encoding;

impl Resolved {
    /// The values of all codes, rounded once.
    pub(super) fn dequantize(
        &self,
        of: Parts<'_>,
        team: &Team<'_>,
        to: Encoding,
        dst: Values<'_>,
    ) -> Result<(), ScaledError> {
        let (parts, size) = (|| self.cut(team.part, true).parts(), to.dtype().size());
        match dst {
            Values::InOrder(values) if team.part >= self.elements() => {
                self.values_in_order(of, 0, to, values)
            }
            Values::InOrder(mut values) => team.run(
                parts().map(|part| {
                    let values = next(&mut values, part.elements.len() * size);
                    (part, values)
                }),
                |(part, values), _| self.values_of_part(&part, of, to, values),
                |()| {},
            ),
            Values::View(view) => {
                let mut view = view.reborrow();
                let (copy, mut copied) = (Plain::new(to, to, &CastOptions::RUST)?, Ok(()));
                team.run(
                    parts(),
                    |part, memory| {
                        memory.resize(part.elements.len() * size, 0);
                        self.values_of_part(&part, of, to, memory)?;
                        Ok((part.elements, mem::take(memory)))
                    },
                    |(range, values)| {
                        if copied.is_ok() {
                            copied = scatter(&copy, view.reborrow(), range, &values);
                        }
                    },
                )?;
                copied
            }
        }
    }

    /// The values of all codes in C order. The zero points belong to a tensor in which the first block is `first`.
    fn values_in_order(
        &self,
        of: Parts<'_>,
        first: usize,
        to: Encoding,
        values: &mut [u8],
    ) -> Result<(), ScaledError> {
        guarded(|| match self.scheme.has_zero_points() {
            true => self.decode_with_zero_points(of, first, to, values),
            false => self.decode(of, to, values),
        })
    }

    /// The values of a part, of the codes and scales of the whole.
    fn values_of_part(
        &self,
        part: &Part,
        of: Parts<'_>,
        to: Encoding,
        values: &mut [u8],
    ) -> Result<(), ScaledError> {
        let (size, bits) = (self.scale_size(), self.data.bits_per_element() as usize);
        let first = part.elements.start * bits / 8;
        let data = &of.data[first..first + self.codes_in(part.elements.len())];
        let scales = &of.scales[part.scales.start * size..part.scales.end * size];
        let of = Parts { data, scales, ..of };
        self.of_part(part).values_in_order(of, part.scales.start, to, values)
    }
}
