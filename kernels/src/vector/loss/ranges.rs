//! The ranges of source codes with each kind of loss, computed from the formats alone.
//!
//! The edge of a target (such as half a step above its largest value) is an exact number. Truncated to the source's format, it gives
//! the last code below the edge. So each end of a range is one encode, whatever the pair.

mod edges;

use super::{
    exactness::Rounds,
    law::{Loss, half_goes_up, of_part},
};
use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{Exact, PowerRange, Rounding, Rules},
    vector::loss::shape::{Form, InRange, MOST, Range},
};
use edges::{last_at_most, of_magnitudes, overflow_edge, underflow_edge, whole_at_most};

/// The ranges of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    list: [Range; MOST],
    len: usize,
}

impl Ranges {
    pub(crate) const fn none() -> Self {
        Self { list: [Range { mask: 0, first: 1, last: 0, loss: Loss::Inexact }; MOST], len: 0 }
    }

    pub(crate) fn get(&self) -> &[Range] {
        &self.list[..self.len]
    }

    /// Adds a range if it contains any code.
    #[inline(never)]
    fn push(&mut self, mask: u64, first: u64, last: u64, loss: Loss) {
        if first > last {
            return;
        }
        // An adjacent range with the same loss is extended instead.
        let next_to = |r: &&mut Range| r.mask == mask && r.loss == loss && r.last.wrapping_add(1) == first;
        if let Some(near) = self.list[..self.len].iter_mut().find(next_to) {
            near.last = last;
            return;
        }
        debug_assert!(self.len < MOST);
        if let Some(place) = self.list.get_mut(self.len) {
            *place = Range { mask, first, last, loss };
            self.len += 1;
        }
    }

    /// Adds the negative values of these magnitudes if there are any.
    fn push_negative(&mut self, sign: u64, magnitudes: (u64, u64), loss: Loss) {
        self.push_signed(sign | (sign - 1), sign, magnitudes, loss);
    }

    /// Adds the values of these magnitudes whose sign bit is `sign` if there are any.
    #[inline(never)]
    fn push_signed(&mut self, mask: u64, sign: u64, (first, last): (u64, u64), loss: Loss) {
        // An empty range of magnitudes would reach the sign bit.
        if first <= last {
            self.push(mask, sign | first, sign | last, loss);
        }
    }

    /// The codes of the losses selected by `asked`, in as few ranges as possible, for tests that do not need the kind of loss.
    pub(crate) fn merged(&self, asked: &dyn Fn(Loss) -> bool) -> Self {
        let mut sorted = *self;
        let mut len = 0;
        for range in self.get().iter().filter(|r| asked(r.loss)) {
            // There are few ranges, and the library's sort is larger than the loops that test them.
            let place =
                sorted.list[..len].partition_point(|r| (r.mask, r.first) <= (range.mask, range.first));
            sorted.list.copy_within(place..len, place + 1);
            sorted.list[place] = Range { loss: Loss::Saturated, ..*range };
            len += 1;
        }
        let mut out = Self::none();
        for r in &sorted.list[..len] {
            out.push(r.mask, r.first, r.last, r.loss);
        }
        out
    }

    /// How a block is tested for these (merged) ranges, with the parameters of the test. A form is chosen only if loops exist for the width of the
    /// source and for `rounds`; otherwise the ranges themselves are tested.
    pub(crate) fn candidates(&self, from: DType, to: DType, rounds: Rounds) -> (Form, [InRange; MOST]) {
        let mut numbers = [InRange::default(); MOST];
        let bits = 8 * from.alignment() as u32;
        let lane = u64::MAX >> (64 - bits);
        let sign = lane - (lane >> 1);
        let number = |first| InRange { mask: lane, first, span: 0 };
        let raw = self.get().iter().all(|range| range.mask == lane);
        let is_int = |dtype: DType| matches!(dtype.spec(), Spec::Int { .. });
        let powers = matches!(to.spec(), Spec::Float(f) if f.flavor == Flavor::Exponent);
        let pairs = matches!(from.spec(), Spec::Complex(_)) && !matches!(to.spec(), Spec::Complex(_));
        let fraction = rounds == Rounds::Fraction;
        let ends = |low: &Range, high: &Range| {
            (low.mask, high.mask) == (lane, lane)
                && bits >= 16
                && low.last == sign - 1
                && high.first >= sign
                && high.last == lane
        };
        match self.get() {
            // Complex sources are rarely counted, so their three ranges are tested one by one.
            [one, low, high] if ends(low, high) && rounds == Rounds::Never && !pairs => {
                numbers[..3].copy_from_slice(&[number(low.first), number(high.first), InRange::new(one)]);
                return (Form::EndsAndOne, numbers);
            }
            [low, high]
                if ends(low, high) && (matches!(rounds, Rounds::Never | Rounds::Fraction) || bits == 16) =>
            {
                if bits == 64
                    && !pairs
                    && low.first - 1 <= high.first - sign
                    && low.first + 1 >= high.first - sign
                {
                    // Nearly symmetric.
                    numbers[0] =
                        InRange { mask: sign - 1, first: low.first.min(high.first - sign) - 1, span: 0 };
                    return (Form::Over, numbers);
                }
                (numbers[0], numbers[1]) = (number(low.first), number(high.first));
                return (Form::Ends, numbers);
            }
            // Everything below one code or above another, including the sign.
            [zero, rest @ .., negative]
                if raw
                    && powers
                    && !pairs
                    && zero.first == 0
                    && negative.first >= sign
                    && (rounds == Rounds::Never && bits >= 16 || rounds == Rounds::Differs && bits >= 32) =>
            {
                let high = rest.first().map_or(sign - 1, |range| range.first - 1);
                (numbers[0], numbers[1]) = (number(zero.last + 1), number(high));
                return (Form::Bounds, numbers);
            }
            [outside] if raw && is_int(from) && is_int(to) => {
                let first = outside.last.wrapping_add(1) & lane;
                numbers[0] = InRange { span: outside.first.wrapping_sub(first) & lane, ..number(first) };
                return (Form::Bits, numbers);
            }
            [over]
                if bits == 64
                    && !pairs
                    && over.mask == sign - 1
                    && over.first > 0
                    && (rounds == Rounds::Never || fraction) =>
            {
                numbers[0] = InRange { mask: over.mask, first: over.first - 1, span: 0 };
                return (Form::Over, numbers);
            }
            ranges => {
                for (number, range) in numbers.iter_mut().zip(ranges) {
                    *number = InRange::new(range);
                }
            }
        }
        (Form::Ranges(self.len), numbers)
    }

    /// The codes of a narrower float target that all values out of range become (and, if `zero`, all values that become zero), provided that few
    /// other values become them: values rounded to the largest value, zeros, infinities and NaNs.
    pub(crate) fn result_of_loss(
        &self,
        from: DType,
        to: DType,
        rules: &Rules,
        zero: bool,
    ) -> Option<InRange> {
        let (Some(s), Some(f)) = (from.float_spec(), to.float_spec()) else { return None };
        // If the rounding direction treats negative values differently, no code identifies all losses.
        let overflow = overflow_of(f, rules, false);
        let alike = self.get().iter().all(|range| range.loss == overflow || range.loss == Loss::Underflow);
        if !alike || f.flavor == Flavor::Exponent || s.bits() <= f.bits() {
            return None;
        }
        let (mask, first) = match (overflow, f.flavor) {
            (Loss::Saturated, _) => (f.magnitude_mask(), f.max_finite()),
            (Loss::MadeNan, Flavor::Fnuz) => (f.magnitude_mask() | f.sign_mask(), f.sign_mask()),
            _ => (f.magnitude_mask(), f.infinity().or(f.nan())?),
        };
        let whole = mask != f.magnitude_mask();
        if zero {
            // Zero comes after the last magnitude; the difference wraps at the width of a lane.
            let end = 8 * to.alignment() as u32;
            let lane = u64::MAX >> (64 - end);
            return (!whole).then_some(InRange { mask, first, span: (lane - first).wrapping_add(2) });
        }
        Some(InRange { mask, first, span: if whole { 1 } else { mask - first + 1 } })
    }

    /// These ranges, extended so that every number below the normal numbers of a target counts as a candidate.
    pub(crate) fn with_subnormals(&self, s: FloatSpec, f: FloatSpec) -> Self {
        let mut out = *self;
        let normal = Exact::finite(1, f.min_exponent() + f.mantissa_bits as i32);
        if let (Some(last), true) = (last_at_most(s, normal, false), f.min_exponent() > s.min_exponent()) {
            out.push(s.magnitude_mask(), 1, last, Loss::Saturated);
        }
        out
    }

    /// The losses of a cast from (a part of) `from` to (a part of) `to`, apart from rounding in range.
    pub(crate) fn new(from: DType, to: DType, rules: &Rules) -> Self {
        let mut out = Self::none();
        if from == to {
            return out;
        }
        match (from.spec(), to.spec()) {
            (_, Spec::Bool) => {}
            (Spec::Bool, Spec::Float(f)) if f.flavor == Flavor::Exponent => {
                out.push(0xFF, 0, 0, zero_of_powers(rules));
            }
            (Spec::Bool, _) => {}
            (Spec::Int { bits, signed }, Spec::Int { bits: to_bits, signed: to_signed }) => {
                out.int_to_int((bits, signed), (to_bits, to_signed), rules);
            }
            (Spec::Int { bits, signed }, Spec::Float(f) | Spec::Complex(f)) => {
                out.int_to_float(bits, signed, f, rules);
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Int { bits, signed }) => {
                out.float_to_int(s, bits, signed, rules);
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Float(f) | Spec::Complex(f)) => {
                if f.flavor == Flavor::Exponent {
                    out.float_to_exponent(s, f, rules);
                } else {
                    out.float_to_float(s, f, rules);
                }
            }
        }
        out
    }

    /// Adds the largest values of a format without infinity and NaN if they are rounded up, out of the format: casting the result back would clamp
    /// it to the same values.
    #[inline(never)]
    pub(crate) fn push_rounded_ends(&mut self, s: FloatSpec, to: DType, rules: &Rules) {
        if s.flavor == Flavor::Finite {
            for code in [s.max_finite(), s.sign_mask() | s.max_finite()] {
                if of_part(Exact::from_float(s, code), to, rules) == Some(Loss::Inexact) {
                    self.push(s.sign_mask() | s.magnitude_mask(), code, code, Loss::Inexact);
                }
            }
        }
    }

    fn int_to_int(&mut self, (bits, signed): (u32, bool), (to_bits, to_signed): (u32, bool), rules: &Rules) {
        let mask = u64::MAX >> (64 - bits);
        let high = mask >> signed as u32;
        let to_high = u64::MAX >> (64 - to_bits + to_signed as u32);
        // Codes above `high` are negative values, the lowest first.
        let first = if to_high < high { to_high + 1 } else { high + 1 };
        let last = match (signed, to_signed) {
            (false, _) => high,
            (true, false) => mask,
            (true, true) if to_bits >= bits => high,
            (true, true) => mask - (to_high + 1),
        };
        let (first, last) = if !signed && to_high >= high { (1, 0) } else { (first, last) };
        self.push(mask, first, last, outside_int(rules));
    }

    fn int_to_float(&mut self, bits: u32, signed: bool, f: FloatSpec, rules: &Rules) {
        let mask = u64::MAX >> (64 - bits);
        let high = mask >> signed as u32;
        if f.flavor == Flavor::Exponent {
            self.push(mask, 0, 0, zero_of_powers(rules));
            if signed {
                // The magnitude of every integer is in range as well.
                self.push(mask, high + 1, mask, zero_of_powers(rules));
            }
            return;
        }
        let last = |negative| {
            let (limit, inclusive) = overflow_edge(f, of_magnitudes(rules.rounding, negative));
            whole_at_most(limit, inclusive)
        };
        let (positive, negative) = (last(false), last(true));
        if positive < high {
            self.push(mask, positive + 1, high, overflow_of(f, rules, false));
        }
        // The negative codes follow. The largest magnitude comes first; it is larger by one.
        if signed && negative <= high {
            self.push(mask, high + 1, mask - negative, overflow_of(f, rules, true));
        }
    }

    fn float_to_int(&mut self, s: FloatSpec, bits: u32, signed: bool, rules: &Rules) {
        use Rounding::{Ceil, Floor, NearestAway, NearestEven, ToOdd, TowardZero};
        let max = u64::MAX >> (64 - bits + signed as u32);
        let (sign, mask) = (s.sign_mask(), s.sign_mask() | s.magnitude_mask());
        let top = s.infinity().unwrap_or(s.max_finite());
        // The largest magnitude in range is below the next integer, or below half a step above the last one.
        let edge = |end: u64, directed: bool| match rules.rounding {
            _ if directed => last_at_most(s, Exact::finite(end, 0), true),
            // For larger ends, whose half step does not fit in a word, there is no float between the end and the next integer.
            NearestEven | NearestAway if end < 1 << 62 => {
                let inclusive = !half_goes_up(rules.rounding, end % 2 == 1);
                last_at_most(s, Exact::finite(2 * end + 1, -1), inclusive)
            }
            NearestEven | NearestAway | TowardZero | Floor | Ceil | ToOdd => {
                let next = end.checked_add(1).map_or(Exact::finite(1, 64), |next| Exact::finite(next, 0));
                last_at_most(s, next, false)
            }
        };
        let outside = outside_int(rules);
        for (mask, sign, negative) in signs(s, rules) {
            let zero = underflow_edge(0, of_magnitudes(rules.rounding, negative));
            // If the target has no sign, negative values that round away from zero are out of range, and the others become zero.
            if let Some(last) = zero.and_then(|(limit, inclusive)| last_at_most(s, limit, inclusive)) {
                self.push_signed(mask, sign, (least(s), last), Loss::Underflow);
            }
        }
        let positive = edge(max, rules.rounding == Ceil);
        self.push(mask, positive.map_or(0, |last| last + 1), top, outside);
        // NaNs come after infinity; NaNs of the other sign come last.
        let nan = (top + 1, s.magnitude_mask());
        self.push(mask, nan.0, nan.1, Loss::LostNan);
        if s.signed() {
            let end = if signed { max + 1 } else { 0 };
            let negative = edge(end, rules.rounding == Floor);
            let first = negative.map_or(0, |last| last + 1);
            self.push_negative(sign, (first, top), outside);
            self.push_negative(sign, nan, Loss::LostNan);
            if s.flavor == Flavor::Fnuz {
                self.push(mask, sign, sign, Loss::LostNan);
            }
        }
    }

    fn float_to_exponent(&mut self, s: FloatSpec, f: FloatSpec, rules: &Rules) {
        let (sign, mask) = (s.sign_mask(), s.sign_mask() | s.magnitude_mask());
        let top = s.infinity().unwrap_or(s.max_finite());
        let loss = outside_powers(rules);
        self.push(mask, 0, 0, zero_of_powers(rules));
        if let Some(last) = last_at_most(s, Exact::finite(1, f.min_exponent()), false) {
            let exact = rules.power_range == PowerRange::Exact;
            self.push(mask, 1, last, if exact { loss } else { Loss::Saturated });
        }
        let most = match (rules.power_range, rules.rounding) {
            (PowerRange::Exact, _) | (_, Rounding::Ceil) => {
                last_at_most(s, Exact::finite(1, f.max_exponent()), true)
            }
            (_, Rounding::NearestAway | Rounding::NearestEven) => {
                last_at_most(s, Exact::finite(3, f.max_exponent() - 1), false)
            }
            (_, Rounding::TowardZero | Rounding::Floor | Rounding::ToOdd) => {
                last_at_most(s, Exact::finite(1, f.max_exponent() + 1), false)
            }
        };
        let above = most.map_or(0, |last| last + 1);
        self.push(mask, above, top, loss);
        // Negative values; the code of negative zero may be a NaN.
        let first = (s.flavor == Flavor::Fnuz) as u64;
        if rules.power_range == PowerRange::Magnitude {
            self.push_negative(sign, (first, top.min(above - 1)), Loss::Saturated);
            self.push_negative(sign, (above, top), loss);
        } else {
            self.push_negative(sign, (first, top), loss);
        }
    }

    fn float_to_float(&mut self, s: FloatSpec, f: FloatSpec, rules: &Rules) {
        let (sign, magnitude) = (s.sign_mask(), s.magnitude_mask());
        let infinity = s.infinity().zip(infinity_of(f, rules));
        for (mask, sign, negative) in signs(s, rules) {
            let rounding = of_magnitudes(rules.rounding, negative);
            let overflow = overflow_of(f, rules, negative);
            let last = match infinity {
                Some((infinity, loss)) if loss == overflow => infinity,
                _ => s.max_finite(),
            };
            let (limit, inclusive) = overflow_edge(f, rounding);
            let first = last_at_most(s, limit, inclusive).map_or(0, |last| last + 1);
            self.push_signed(mask, sign, (first, last), overflow);
            let underflow = underflow_edge(f.min_exponent(), rounding);
            if let Some(last) = underflow.and_then(|(limit, inclusive)| last_at_most(s, limit, inclusive)) {
                self.push_signed(mask, sign, (least(s), last), Loss::Underflow);
            }
        }
        // Only small targets lose infinities, and their overflow has the same loss for both signs.
        if let Some((infinity, loss)) = infinity.filter(|(_, loss)| *loss != overflow_of(f, rules, false)) {
            self.push(magnitude, infinity, infinity, loss);
        }
        if f.nan().is_none() {
            match s.flavor {
                Flavor::Fnuz => self.push(magnitude | sign, sign, sign, Loss::LostNan),
                _ => {
                    let top = s.infinity().unwrap_or(s.max_finite());
                    self.push(magnitude, top + 1, magnitude, Loss::LostNan);
                }
            }
        }
    }
}

/// The masks of a float source whose magnitudes have separate ranges, each with the sign bit and whether it is set: one mask without the sign,
/// unless the rounding treats the signs differently.
fn signs(s: FloatSpec, rules: &Rules) -> impl Iterator<Item = (u64, u64, bool)> {
    let (sign, magnitude) = (s.sign_mask(), s.magnitude_mask());
    let apart = s.signed() && matches!(rules.rounding, Rounding::Floor | Rounding::Ceil);
    let positive = if apart { sign | magnitude } else { magnitude };
    [(positive, 0, false), (sign | magnitude, sign, true)].into_iter().take(1 + apart as usize)
}

/// The code of the smallest magnitude other than zero.
fn least(s: FloatSpec) -> u64 {
    // A format of exponents alone has no zero.
    (s.flavor != Flavor::Exponent) as u64
}

fn outside_int(rules: &Rules) -> Loss {
    if rules.saturate { Loss::Saturated } else { Loss::Wrapped }
}

/// The loss of values out of the range of powers of two.
fn outside_powers(rules: &Rules) -> Loss {
    if rules.saturate { Loss::Saturated } else { Loss::MadeNan }
}

/// The loss of zero in a target of powers of two.
fn zero_of_powers(rules: &Rules) -> Loss {
    if rules.power_range == PowerRange::Magnitude { Loss::Saturated } else { outside_powers(rules) }
}

/// The loss of a finite value of this sign that exceeds the largest value.
fn overflow_of(f: FloatSpec, rules: &Rules, negative: bool) -> Loss {
    match f.flavor {
        Flavor::Finite => Loss::Saturated,
        _ if f.bits() >= 16 => match of_magnitudes(rules.rounding, negative) {
            Rounding::TowardZero | Rounding::ToOdd => Loss::Saturated,
            _ => Loss::Infinite,
        },
        _ if rules.saturate => Loss::Saturated,
        Flavor::Ieee => Loss::Infinite,
        _ => Loss::MadeNan,
    }
}

/// The loss of an infinity.
fn infinity_of(f: FloatSpec, rules: &Rules) -> Option<Loss> {
    match f.flavor {
        _ if f.bits() >= 16 => None,
        Flavor::Fnuz if rules.fnuz_inf_nan => Some(Loss::MadeNan),
        Flavor::Finite => Some(Loss::Saturated),
        _ if rules.saturate => Some(Loss::Saturated),
        Flavor::Ieee => None,
        _ => Some(Loss::MadeNan),
    }
}
