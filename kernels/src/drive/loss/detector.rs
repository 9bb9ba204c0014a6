//! [`LossDetector`]: a cast together with the tests for its losses, resolved once. `run` runs it.

use crate::{
    dtype::{DType, Encoding, Flavor, FloatSpec, Spec},
    exact::{Rules, hub::parts_fit},
    route::{Kernel, Streaming},
    vector::loss::{
        Loss,
        exactness::Rounds,
        loops::{Loops, MayLoseFn},
        ranges::Ranges,
        shape::{Form, InRange, LossTests, MOST, Shape},
    },
};

/// A kernel and the tests of its pair: a cast that detects its losses.
#[derive(Clone, Copy)]
pub struct LossDetector {
    pub(super) kernel: Kernel,
    /// The cast of a source in the byte order of the host.
    pub(super) native: Kernel,
    pub(super) rules: Rules,
    pub(super) tests: LossTests,
    pub(super) shape: Shape,
    pub(super) loops: Loops,
    /// The loss of each range.
    pub(super) labels: [Loss; MOST],
    /// Casts results back, where that reveals rounding.
    pub(super) back: Option<Kernel>,
    /// Tests the results first, if they are narrower than the source and losses are visible in them.
    pub(super) results: Option<(MayLoseFn, LossTests)>,
    /// Converts elements of the source to byte storage in the order of the host, if they are packed or swapped.
    pub(super) unpack: Option<Kernel>,
    /// Whether nothing can be lost.
    pub(super) idle: bool,
    pub(super) guarded: bool,
}

impl LossDetector {
    /// A detector for a kernel, given the `rules` that the kernel was made with.
    ///
    /// `inexact` says that values rounded in range count as lost, too. `labelled` says that the kind of loss matters.
    pub fn new(kernel: Kernel, rules: &Rules, inexact: bool, labelled: bool) -> LossDetector {
        let (from, to) = (kernel.source(), kernel.target());
        let (s, d) = (from.dtype(), to.dtype());
        let mut all = Ranges::new(s, d, rules);
        let rounds = if inexact { Rounded::new(s, d) } else { Rounded::NEVER };
        if let (Rounds::Differs, Some(f)) = (rounds.how, s.float_spec()) {
            all.push_rounded_ends(f, d, rules);
        }
        // A value that becomes zero is also rounded, but cast back to a source without zero, it may equal the original.
        let powers = s.float_spec().is_some_and(|s| s.flavor == Flavor::Exponent);
        let shown = rounds.how != Rounds::Never && !(rounds.how == Rounds::Differs && powers);
        let wanted = |loss: Loss| match loss {
            Loss::Underflow => (labelled || inexact) && !shown,
            _ => true,
        };
        let ranges = all.merged(&wanted);
        let real = !matches!(d.spec(), Spec::Bool | Spec::Complex(_));
        let is_complex = |dtype: DType| matches!(dtype.spec(), Spec::Complex(_));
        let pairs = is_complex(s) && real;
        let mut labels = [Loss::Inexact; MOST];
        let mut asked = [InRange::default(); MOST];
        let exactly = if labelled { &all } else { &ranges };
        for ((range, label), asked) in exactly.get().iter().zip(&mut labels).zip(&mut asked) {
            *label = range.loss;
            *asked = InRange::new(range);
        }
        let may_lose = match (rounds.how, s.float_spec(), d.float_spec()) {
            // Underflows are included.
            (Rounds::Low, Some(from), Some(to)) if !pairs => {
                all.merged(&|loss| loss.is_out_of_range()).with_subnormals(from, to)
            }
            _ => ranges,
        };
        let (form, candidates) = may_lose.candidates(s, d, rounds.how);
        let width = s.alignment();
        let shape = Shape { width, pairs, form, exactness: rounds.how };
        let loops = kernel.token().loops()(shape);
        let results = match all.result_of_loss(s, d, rules, labelled) {
            // The imaginary parts of real numbers are zero.
            Some(code) if !inexact && to == Encoding::new(d) && is_complex(s) == is_complex(d) => {
                let shape = Shape {
                    width: d.alignment(),
                    pairs: false,
                    form: Form::Ranges(1),
                    exactness: Rounds::Never,
                };
                let mut candidates = [InRange::default(); MOST];
                candidates[0] = code;
                let tests = LossTests { ranges: candidates, candidates, magnitude: 0, exactness: [0; 4] };
                Some((kernel.token().loops()(shape), tests))
            }
            _ => None,
        };
        let magnitude = s.float_spec().map_or(0, FloatSpec::magnitude_mask);
        let byte_rules = |to: DType| Rules::common(to, false);
        let back = match rounds.how {
            Rounds::Differs => Kernel::new(kernel.tier(), to, Encoding::new(s), &byte_rules(s)),
            _ => None,
        };
        let unpack = match from == Encoding::new(s) {
            true => None,
            false => Kernel::new(kernel.tier(), from, Encoding::new(s), &byte_rules(s)),
        };
        // Elements of the other order are swapped once, for both the tests and the cast. The tier is available, because it has a kernel.
        let native = Kernel::new(kernel.tier(), from.native(), to, rules).unwrap_or(kernel);
        LossDetector {
            kernel,
            native,
            rules: *rules,
            tests: LossTests { ranges: asked, candidates, magnitude, exactness: rounds.numbers },
            shape,
            loops,
            labels,
            back,
            results: results.map(|(loops, tests)| (loops.may_lose, tests)),
            unpack,
            idle: ranges.get().is_empty() && !pairs && rounds.how == Rounds::Never,
            guarded: kernel.is_guarded()
                || loops.obeys_environment
                || results.is_some_and(|(loops, _)| loops.obeys_environment)
                || back.is_some_and(|back| back.is_guarded()),
        }
    }

    /// The kernel that casts.
    pub const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The same detector, with non-temporal stores as `streaming` says.
    #[must_use]
    pub fn with_streaming(self, streaming: Streaming) -> LossDetector {
        LossDetector { kernel: self.kernel.with_streaming(streaming), ..self }
    }

    /// Whether the pair cannot lose anything that is tested for.
    pub const fn is_idle(&self) -> bool {
        self.idle
    }
}

/// How rounding in range is detected, with its parameters.
#[derive(Clone, Copy)]
struct Rounded {
    how: Rounds,
    numbers: [u64; 4],
}

impl Rounded {
    const NEVER: Self = Self { how: Rounds::Never, numbers: [0; 4] };

    fn new(from: DType, to: DType) -> Self {
        match (from.spec(), to.spec()) {
            _ if from == to || parts_fit(from, to) => Self::NEVER,
            (Spec::Bool, _) | (_, Spec::Bool) | (Spec::Int { .. }, Spec::Int { .. }) => Self::NEVER,
            (Spec::Int { bits, signed }, Spec::Float(f) | Spec::Complex(f)) => {
                let digits = f.mantissa_bits + 1;
                if bits - signed as u32 <= digits {
                    Self::NEVER
                } else if from.is_sub_byte() {
                    Self::differs(from)
                } else {
                    let signed = if signed { u64::MAX } else { 0 };
                    Self { how: Rounds::Digits, numbers: [signed, digits as u64, 0, 0] }
                }
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Int { .. }) if s.bits() >= 32 => {
                Self::fraction(s, 0, 0)
            }
            (Spec::Float(s) | Spec::Complex(s), Spec::Float(f) | Spec::Complex(f))
                if s.bits() >= 32 && f.flavor != Flavor::Exponent =>
            {
                let low = (1 << (s.mantissa_bits - f.mantissa_bits)) - 1;
                let fraction = Self::fraction(s, low, f.min_exponent());
                // Few values of a wide target are subnormal.
                Self { how: if f.bits() >= 16 { Rounds::Low } else { fraction.how }, ..fraction }
            }
            _ => Self::differs(from),
        }
    }

    /// A source whose `low` bits must be zero, and whose values must be multiples of `2^unit`.
    fn fraction(s: FloatSpec, low: u64, unit: i32) -> Self {
        // The float whose last bit has the value of the unit.
        let step = ((unit + s.mantissa_bits as i32 + s.bias) as u64) << s.mantissa_bits;
        Self { how: Rounds::Fraction, numbers: [s.magnitude_mask(), s.exponent_field(), low, step] }
    }

    fn differs(from: DType) -> Self {
        let bits = u64::MAX >> (64 - 8 * from.alignment() as u32);
        let numbers = match from.spec() {
            Spec::Float(s) | Spec::Complex(s) => {
                let magnitude = s.magnitude_mask();
                let (mask, first) = match s.flavor {
                    Flavor::Fnuz => (magnitude | s.sign_mask(), s.sign_mask()),
                    _ => (magnitude, s.infinity().unwrap_or(s.max_finite()) + 1),
                };
                let last = if s.flavor == Flavor::Fnuz { first } else { magnitude };
                [magnitude, mask, first, (last + 1).saturating_sub(first)]
            }
            Spec::Bool => [bits, 0, 0, 0],
            Spec::Int { bits, .. } => [u64::MAX >> (64 - bits), 0, 0, 0],
        };
        Self { how: Rounds::Differs, numbers }
    }
}
