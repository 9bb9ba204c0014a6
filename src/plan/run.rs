//! The runs of a plan: one for every kind of answer, whatever the operands are.

use super::cast_plan::CastPlan;
use super::job::Job;
use super::outcome::{Outcome, Tally};
use super::ptr;
use crate::error::{CastError, refused};
use crate::loss::CastReport;
use alloc::vec::Vec;
use lanecast_kernels::{Element, Layout, Operands, Source, Target, append};

impl CastPlan {
    /// Casts every element of `src` into the element of `dst` at the same index; a [checked](Self::checked) plan refuses values that the
    /// target cannot hold.
    ///
    /// ```
    /// use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, half::bf16};
    /// let plan = CastPlan::new(DType::Float32, DType::BFloat16, &CastOptions::RUST)?;
    /// let mut out = [bf16::ZERO; 2];
    /// plan.run(&[1.0_f32, -0.5], &mut out)?;
    /// assert_eq!(out, [bf16::ONE, bf16::from_f32(-0.5)]);
    ///
    /// // The same from bytes at any alignment to bytes, of which two elements take four.
    /// let (bytes, mut small) = ([0; 9], [1; 5]);
    /// plan.run(Bytes::new(&bytes[1..], 2), BytesMut::new(&mut small, 2))?;
    /// assert_eq!(small, [0, 0, 0, 0, 1]);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// * [`CastError::LengthMismatch`] or, of two views, [`CastError::View`]: the operands have different numbers of elements;
    /// * [`CastError::WrongElement`] or, of a view, [`CastError::View`]: an operand has another dtype, storage or byte order than the plan;
    /// * [`CastError::BufferTooSmall`], [`CastError::TooLarge`]: there are fewer bytes than the elements take;
    /// * [`CastError::Overlap`]: two views share bytes, and some element shares bytes with the result of another one;
    /// * [`CastError::NoBytes`]: the target of a cast [in place](crate::InPlace) is not initialised [`BytesMut`](crate::BytesMut);
    /// * [`CastError::Rejected`]: the first element that does not fit, in C order. Elements of `dst` before it have either been cast or are
    ///   unchanged, those from it on are unspecified; a buffer that is cast in place is unchanged.
    ///
    /// For all but the last, nothing is written.
    #[inline]
    pub fn run<'s, 'd>(
        &self,
        src: impl Into<Source<'s>>,
        dst: impl Into<Target<'d>>,
    ) -> Result<(), CastError> {
        let (src, mut dst) = (src.into(), dst.into());
        if self.is_plain() && self.kernel().run_direct(&src, &mut dst) {
            return Ok(());
        }
        self.results(src, dst)
    }

    /// A run that is not one call of the kernel, or has something wrong with it.
    #[inline(never)]
    fn results(&self, src: Source<'_>, dst: Target<'_>) -> Result<(), CastError> {
        #[cfg(feature = "rayon")]
        let mut dst = dst;
        #[cfg(feature = "rayon")]
        if self.is_short(&src) && self.kernel().run_direct(&src, &mut dst) {
            return Ok(());
        }
        self.outcome(src, dst, Outcome::Results, &mut []).map(|_| ())
    }

    /// [`run`](Self::run) that marks the elements that fit: bit `i % 8` (counted from the lowest) of byte `i / 8` of `validity` becomes 1 if
    /// element `i` fits and 0 if it does not, as in Arrow. Elements count in C order. One that does not fit is cast as by the plain cast.
    ///
    /// The level is that of [`checked`](Self::checked), otherwise [`Level::Range`](crate::Level::Range). The bitmap is overwritten; to keep
    /// elements that were missing before, combine both bitmaps with a bitwise and. The unused bits of the last byte become 0; bytes after
    /// it are not written. Returns how many elements do not fit.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, Level};
    /// let plan = CastPlan::of::<f32, i8>(&CastOptions::RUST).checked(Level::Range);
    /// let (mut out, mut validity) = ([0_i8; 4], [0]);
    /// let marked = plan.run_masked(&[1.0_f32, f32::NAN, -300.0, 5.5], &mut out, &mut validity)?;
    /// assert_eq!((marked, out, validity), (2, [1, 0, -128, 5], [0b1001]));
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::ValidityTooSmall`], or as [`run`](Self::run); then no element is written.
    pub fn run_masked<'s, 'd>(
        &self,
        src: impl Into<Source<'s>>,
        dst: impl Into<Target<'d>>,
        validity: &mut [u8],
    ) -> Result<usize, CastError> {
        Ok(self.outcome(src.into(), dst.into(), Outcome::Mask, validity)?.marked)
    }

    /// [`run`](Self::run) that counts what is lost. The level is that of [`checked`](Self::checked), otherwise
    /// [`Level::Range`](crate::Level::Range); values that become zero are counted at every level.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, F8E4M3FN};
    /// let plan = CastPlan::of::<f32, F8E4M3FN>(&CastOptions::RUST);
    /// let report = plan.run_counted(&[1.0_f32, 465.0, -1e9, 1e-9], &mut [F8E4M3FN::default(); 4])?;
    /// assert_eq!(report.to_string(), "4 elements, saturated 2, underflowed_to_zero 1");
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), of a plan that is not checked; then nothing is written.
    pub fn run_counted<'s, 'd>(
        &self,
        src: impl Into<Source<'s>>,
        dst: impl Into<Target<'d>>,
    ) -> Result<CastReport, CastError> {
        Ok(self.outcome(src.into(), dst.into(), Outcome::Counts, &mut [])?.report)
    }

    /// What [`run_counted`](Self::run_counted) would report, without a target: the results of a block stay on the stack.
    ///
    /// ```
    /// use lanecast::strided::View;
    /// use lanecast::{CastOptions, CastPlan};
    /// let plan = CastPlan::of::<i16, u8>(&CastOptions::RUST);
    /// let src = [1_i16, 2, 300, -4];
    /// assert_eq!(plan.count(&src)?.wrapped, 2);
    /// assert_eq!(plan.count(&View::from_slice(&src, &[2, 2])?.transposed())?.wrapped, 2);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run_counted`](Self::run_counted).
    pub fn count<'a>(&self, src: impl Into<Source<'a>>) -> Result<CastReport, CastError> {
        let src = src.into();
        let view = src.view(self.source()).map_err(refused)?;
        let job = Job::new(self, Outcome::Counts);
        #[cfg(feature = "rayon")]
        if let Some(found) = super::parallel::look(&job, &view) {
            return Ok(found?.report);
        }
        Ok(job.look(0, &view, &mut [])?.report)
    }

    /// [`run`](Self::run) into a new vector; the results of a view are in C order.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, half::f16};
    /// let plan = CastPlan::of::<f64, f16>(&CastOptions::RUST);
    /// assert_eq!(plan.run_to_vec::<f16>(&[1.0, -0.5])?, [f16::ONE, f16::from_f32(-0.5)]);
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[inline]
    pub fn run_to_vec<'a, D: Element>(&self, src: impl Into<Source<'a>>) -> Result<Vec<D>, CastError> {
        let mut out = Vec::new();
        self.run_extend(src, &mut out)?;
        Ok(out)
    }

    /// Appends the results of [`run`](Self::run) to a vector, for instance one that was cleared to be used again.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); then the vector is unchanged.
    #[inline]
    pub fn run_extend<'a, D: Element>(
        &self,
        src: impl Into<Source<'a>>,
        out: &mut Vec<D>,
    ) -> Result<(), CastError> {
        let src = src.into();
        let Some(n) = src.elements() else { return Err(CastError::NoBytes) };
        append(out, n, |dst| self.run(src, dst))
    }

    /// Casts between two layouts of one buffer: from one range of bytes to another, from one column of a table to the next, between the
    /// parts of complex numbers, or every element in its own place.
    ///
    /// ```
    /// use lanecast::strided::Layout;
    /// use lanecast::{CastOptions, CastPlan, DType};
    /// let mut pairs = [7, 0, 0, 0, 0xFF, 0, 0, 0];
    /// let plan = CastPlan::new(DType::Int8, DType::Int16, &CastOptions::RUST)?;
    /// let first = Layout::new(DType::Int8, &[2], &[4])?;
    /// plan.run_within(&mut pairs, &first, &Layout::new(DType::Int16, &[2], &[4])?.with_offset(2))?;
    /// # if cfg!(target_endian = "little") {
    /// assert_eq!(pairs, [7, 0, 7, 0, 0xFF, 0, 0xFF, 0xFF]);
    /// # }
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run) of views, and [`CastError::View`] if elements lie outside the buffer, or elements of the target share bytes.
    pub fn run_within(&self, buffer: &mut [u8], src: &Layout, dst: &Layout) -> Result<(), CastError> {
        ptr::within(buffer, src, dst, |src, dst| self.run(src, dst))
    }

    /// Casts operands of every kind, with every outcome.
    pub(super) fn outcome(
        &self,
        src: Source<'_>,
        dst: Target<'_>,
        outcome: Outcome,
        validity: &mut [u8],
    ) -> Result<Tally, CastError> {
        let (mut operands, written) = self.kernel().operands(src, dst).map_err(refused)?;
        let n = match &mut operands {
            Operands::Flat(flat) => flat.n,
            Operands::Views(src, dst) => {
                // What is wrong with the views is found before the mask is written.
                if outcome == Outcome::Mask {
                    self.kernel().check_strided(src, dst)?;
                }
                src.layout().elements()
            }
            Operands::InPlace(bytes) => bytes.elements(),
        };
        let mask = if outcome == Outcome::Mask { all_valid(validity, n)? } else { &mut [] };
        let job = Job::new(self, outcome);
        #[cfg(feature = "rayon")]
        let found = super::parallel::run(&job, operands, mask)?;
        #[cfg(not(feature = "rayon"))]
        let found = job.alone(operands, mask)?;
        ptr::all_written(written);
        Ok(found)
    }
}

/// The bytes of `validity` for `n` elements, with all elements marked as valid.
fn all_valid(validity: &mut [u8], n: usize) -> Result<&mut [u8], CastError> {
    let (need, have) = (n.div_ceil(8), validity.len());
    let bits = validity.get_mut(..need).ok_or(CastError::ValidityTooSmall { need, have })?;
    bits.fill(0xFF);
    if let (Some(last), 1..) = (bits.last_mut(), n % 8) {
        *last = 0xFF >> (8 - n % 8);
    }
    Ok(bits)
}
