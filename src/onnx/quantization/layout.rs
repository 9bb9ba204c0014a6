//! Which scale an element has.

use crate::onnx::error::OnnxError;
use alloc::vec::Vec;
use core::ops::Range;

/// The granularity of the scales, which the shapes of the input and of the scale decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) elements: usize,
    pub(super) scales: usize,
    granularity: Granularity,
}

/// Elements are in C order: `len` is the length of the axis, and `inner` the product of the axes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granularity {
    One,
    Axis { len: usize, inner: usize },
    Blocks { len: usize, inner: usize, block: usize },
}

/// Consecutive elements whose scales are the same one, or consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) len: usize,
    /// The index of the first element's scale.
    pub(super) scale: usize,
    /// Whether every element has its own scale.
    pub(super) each: bool,
}

impl Layout {
    /// The layout of scales of shape `scale` for an input of shape `x`. Versions below 13 have no `axis`.
    pub(super) fn new(
        version: u32,
        x: &[usize],
        scale: &[usize],
        axis: i64,
        block: usize,
    ) -> Result<Self, OnnxError> {
        let (elements, scales) = (elements(x)?, elements(scale)?);
        let layout = |granularity| Ok(Self { elements, scales, granularity });
        let refuse = |want, rule| Err(OnnxError::Shape { which: "scale", have: scale.into(), want, rule });
        // A shape of ones is as good as a scalar: ONNX's own tests write it so.
        if scale.is_empty() || block == 0 && scale.iter().all(|len| *len == 1) {
            return layout(Granularity::One);
        }
        if version < 13 {
            return refuse(Vec::new(), "before opset 13 the tensor has one scale, a scalar");
        }
        let index = if axis < 0 { axis.checked_add_unsigned(x.len() as u64) } else { Some(axis) };
        let index = index.and_then(|index| usize::try_from(index).ok()).filter(|index| *index < x.len());
        let at = index.ok_or(OnnxError::Axis { axis, axes: x.len() })?;
        let len = x[at];
        // Where an axis is empty, the product of the others may overflow, and no element has a scale.
        let inner = if elements == 0 { 0 } else { x[at + 1..].iter().product() };
        if block == 0 {
            return match scale == [len] {
                true => layout(Granularity::Axis { len, inner }),
                false => refuse(
                    Vec::from([len]),
                    "one scale for each index of the axis, or a scalar; scales of blocks need the attribute block_size",
                ),
            };
        }
        let mut want = Vec::from(x);
        want[at] = len.div_ceil(block);
        match scale == want {
            true => layout(Granularity::Blocks { len, inner, block }),
            false => {
                refuse(want, "one scale for each block of block_size elements along the axis, or a scalar")
            }
        }
    }

    /// Whether all elements have the same scale.
    pub(super) fn is_one(&self) -> bool {
        self.granularity == Granularity::One
    }

    /// The length of most runs.
    pub(super) fn run_len(&self) -> usize {
        match self.granularity {
            Granularity::One => self.elements,
            Granularity::Axis { len, inner: 1 } | Granularity::Blocks { len, inner: 1, block: 1 } => len,
            Granularity::Blocks { len, inner: 1, block } => block.min(len),
            Granularity::Axis { inner, .. } | Granularity::Blocks { inner, .. } => inner,
        }
    }

    /// The length of all runs, if each has another scale and they are in the order of the scales.
    pub(super) fn regular(&self) -> Option<usize> {
        match self.granularity {
            Granularity::One => Some(self.elements),
            Granularity::Axis { len, inner } => (inner > 1 && self.elements == len * inner).then_some(inner),
            Granularity::Blocks { len, inner, block } => {
                (inner == 1 && block > 1 && len.is_multiple_of(block)).then_some(block)
            }
        }
    }

    /// The runs of a range of elements, in order.
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = Run> + '_ {
        let (len, inner) = match self.granularity {
            Granularity::One => (1, self.elements),
            Granularity::Axis { len, inner } | Granularity::Blocks { len, inner, .. } => (len, inner),
        };
        // The place of the next element: before the axis, on it, behind it.
        let row = range.start.checked_div(inner).unwrap_or(0);
        let mut at = (row.checked_div(len).unwrap_or(0), row.checked_rem(len).unwrap_or(0));
        let mut behind = range.start.checked_rem(inner).unwrap_or(0);
        let mut left = range.len();
        core::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let (along, run) = match self.granularity {
                Granularity::One => (false, Run { len: left, scale: 0, each: false }),
                Granularity::Axis { .. } if inner == 1 => {
                    (true, Run { len: len - at.1, scale: at.1, each: true })
                }
                Granularity::Axis { .. } => (false, Run { len: inner - behind, scale: at.1, each: false }),
                Granularity::Blocks { block, .. } => {
                    let index = at.1 / block;
                    let first = at.0 * len.div_ceil(block) + index;
                    match inner {
                        1 if block == 1 => (true, Run { len: len - at.1, scale: first, each: true }),
                        1 => {
                            let end = (index + 1).saturating_mul(block).min(len);
                            (true, Run { len: end - at.1, scale: first, each: false })
                        }
                        _ => {
                            let scale = first * inner + behind;
                            (false, Run { len: inner - behind, scale, each: true })
                        }
                    }
                }
            };
            let run = Run { len: run.len.min(left), ..run };
            left -= run.len;
            if along {
                at.1 += run.len;
            } else {
                behind += run.len;
                if behind == inner {
                    (at.1, behind) = (at.1 + 1, 0);
                }
            }
            if at.1 == len {
                at = (at.0 + 1, 0);
            }
            Some(run)
        })
    }
}

/// The elements of a shape.
fn elements(shape: &[usize]) -> Result<usize, OnnxError> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape.iter().try_fold(1_usize, |n, len| n.checked_mul(*len));
    product.ok_or_else(|| OnnxError::TooLarge(shape.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scale of every element by the definition: its index along the axis is divided by the block.
    fn scales_of(x: &[usize], scale: &[usize], axis: usize, block: usize) -> Vec<usize> {
        let n: usize = x.iter().product();
        (0..n)
            .map(|element| {
                let (mut rest, mut index): (usize, _) = (element, Vec::from(x));
                for (place, len) in index.iter_mut().zip(x).rev() {
                    (*place, rest) = (rest % len, rest / len);
                }
                match scale.len() {
                    0 => 0,
                    _ if block == 0 => index[axis],
                    _ => {
                        index[axis] /= block;
                        index.iter().zip(scale).fold(0, |flat, (i, len)| flat * len + i)
                    }
                }
            })
            .collect()
    }

    #[test]
    fn every_element_has_its_scale() {
        let (mut tested, mut regular) = (0, 0);
        for x in [&[7][..], &[1], &[3, 4, 5], &[2, 9, 1], &[5, 1, 3], &[2, 600], &[600, 2], &[1, 1, 1]] {
            let x: &[usize] = x;
            for axis in 0..x.len() {
                for block in [0, 1, 2, 3, 4, 600, usize::MAX] {
                    let scale = match block {
                        0 => Vec::from([x[axis]]),
                        _ => (0..x.len())
                            .map(|i| if i == axis { x[i].div_ceil(block) } else { x[i] })
                            .collect(),
                    };
                    let negative = axis as i64 - x.len() as i64;
                    let layout = Layout::new(21, x, &scale, axis as i64, block).expect("fits");
                    assert_eq!(Layout::new(21, x, &scale, negative, block), Ok(layout));
                    let want = scales_of(x, &scale, axis, block);
                    if let Some(len) = layout.regular() {
                        assert!(
                            want.iter().enumerate().all(|(i, scale)| i / len == *scale),
                            "{x:?} {axis} {block}"
                        );
                        regular += 1;
                    }
                    assert_eq!((layout.elements, layout.scales), (want.len(), scale.iter().product()));
                    for range in [0..want.len(), 1..want.len(), want.len() / 2..want.len() - 1] {
                        let got: Vec<usize> = layout
                            .runs(range.clone())
                            .flat_map(|run| {
                                (0..run.len).map(move |i| run.scale + if run.each { i } else { 0 })
                            })
                            .collect();
                        assert_eq!(got, want[range], "{x:?} axis {axis} block {block}");
                    }
                    tested += 1;
                }
            }
        }
        assert_eq!((tested, regular), (7 * 18, 18));
    }

    #[test]
    fn shapes_that_do_not_fit() {
        let new = |version, x: &[usize], scale: &[usize], axis, block| {
            Layout::new(version, x, scale, axis, block).map(|layout| layout.is_one())
        };
        assert_eq!(new(10, &[2, 3], &[], 1, 0), Ok(true));
        assert_eq!(new(10, &[2, 3], &[1], 1, 0), Ok(true));
        assert_eq!(new(21, &[2, 3], &[], 9, 4), Ok(true));
        assert!(
            matches!(new(10, &[2, 3], &[3], 1, 0), Err(OnnxError::Shape { want, .. }) if want.is_empty())
        );
        assert!(matches!(new(13, &[2, 3], &[2], 1, 0), Err(OnnxError::Shape { want, .. }) if want == [3]));
        assert!(
            matches!(new(21, &[2, 3], &[2, 1], 1, 2), Err(OnnxError::Shape { want, .. }) if want == [2, 2])
        );
        for (axis, axes) in [(2, 2), (-3, 2), (i64::MAX, 2), (i64::MIN, 2), (0, 0)] {
            let x = &[2, 3][..axes];
            assert_eq!(new(21, x, &[2], axis, 0), Err(OnnxError::Axis { axis, axes }));
        }
        let large = [usize::MAX, 2];
        assert_eq!(new(21, &large, &[], 1, 0), Err(OnnxError::TooLarge(large.into())));
        let none = Layout::new(21, &[usize::MAX, 0, usize::MAX], &[0], 1, 0).expect("no elements");
        assert_eq!((none.elements, none.runs(0..0).count()), (0, 0));
    }
}
