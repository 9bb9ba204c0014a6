//! Destinations that need not be initialised.
//!
//! They are filled with zeros first: codes of less than a byte are stored beside those that are there.

use super::{
    error::{ScaledError, byte_len, check_len},
    plan::ScaledPlan,
    report::Report,
};
use crate::Encoding;
use core::mem::MaybeUninit;
use lanecast_kernels::filled;

/// What [`ScaledPlan::quantize_dynamic_uninit`] has written.
#[derive(Debug, PartialEq)]
pub struct Written<'a> {
    /// The codes.
    pub data: &'a mut [u8],
    /// The scales.
    pub scales: &'a mut [u8],
    /// The report.
    pub report: Report,
}

impl ScaledPlan {
    /// [`quantize_dynamic`](Self::quantize_dynamic) into memory that need not be initialised; returns the bytes that were written.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[32])?;
    /// let (mut data, mut scales) = (Vec::with_capacity(32), Vec::with_capacity(1));
    /// let (data, scales) = (&mut data.spare_capacity_mut()[..32], &mut scales.spare_capacity_mut()[..1]);
    /// let written = plan.quantize_dynamic_uninit(&[0; 128], data, scales)?;
    /// assert_eq!(written.data, [0; 32]);
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic).
    pub fn quantize_dynamic_uninit<'a>(
        &self,
        src: &[u8],
        data: &'a mut [MaybeUninit<u8>],
        scales: &'a mut [MaybeUninit<u8>],
    ) -> Result<Written<'a>, ScaledError> {
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        let (data, scales) = (filled(data), filled(scales));
        let report = self.quantize_dynamic(src, data, scales)?;
        Ok(Written { data, scales, report })
    }

    /// [`quantize`](Self::quantize) into memory that need not be initialised; returns the bytes that were written.
    ///
    /// # Errors
    ///
    /// As [`quantize`](Self::quantize).
    pub fn quantize_uninit<'a>(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &'a mut [MaybeUninit<u8>],
    ) -> Result<(&'a mut [u8], Report), ScaledError> {
        check_len("data", self.data_len(), data.len())?;
        let data = filled(data);
        let report = self.quantize(src, scales, global, data)?;
        Ok((data, report))
    }

    /// [`dequantize`](Self::dequantize) into memory that need not be initialised; returns the bytes that were written.
    ///
    /// # Errors
    ///
    /// As [`dequantize`](Self::dequantize).
    pub fn dequantize_uninit<'a>(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: impl Into<Encoding>,
        dst: &'a mut [MaybeUninit<u8>],
    ) -> Result<&'a mut [u8], ScaledError> {
        let to = to.into();
        check_len("destination", byte_len(to, self.elements())?, dst.len())?;
        let dst = filled(dst);
        self.dequantize(data, scales, global, to, dst)?;
        Ok(dst)
    }
}
