//! [`Explanation`]: what a plan will do, as a value.

use super::cast_plan::CastPlan;
use alloc::{format, string::String, vec::Vec};
use core::fmt;
use lanecast_kernels::{ByteOrder, DType, Encoding, Family, Kernel, Kind, Stage, Tier};

/// What a [`CastPlan`] will do and why; made by [`CastPlan::explain`].
///
/// A plan is a route of stages that run one after the other. Most routes have one stage, a single call of the kernel of the pair. The
/// others run block by block, so that the data passed between stages stays in the first-level cache.
///
/// `Display` prints it for people. The stages are not guaranteed: other versions and other CPUs take other routes to the same bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Explanation {
    /// The encoding of the source.
    pub from: Encoding,
    /// The encoding of the destination.
    pub to: Encoding,
    /// The tier of the plan.
    pub tier: Tier,
    /// The CPU features that its kernels may use: the features of the tier, then optional ones that this CPU has.
    pub features: Vec<&'static str>,
    /// The stages, in order.
    pub stages: Vec<ExplainedStage>,
    /// Elements per block, if the stages run block by block; otherwise every stage takes all elements at once.
    pub block: Option<usize>,
    /// Whether the host's floating-point environment could change the results. If so, every call checks the control register, and
    /// sets and restores it if it does not have its default value.
    pub guarded: bool,
    /// The direction of rounding that every call sets in the control register, if one does.
    pub direction: Option<&'static str>,
    /// Bytes of source and destination together above which the plan writes with non-temporal stores, if it ever does.
    pub streams_above: Option<usize>,
    /// The cost per element of a long cast while both buffers are in the second-level cache, by the measured class of the pair and of
    /// its stages.
    pub picoseconds_per_element: u32,
}

/// One stage of an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExplainedStage {
    /// What it does: `"unpack"`, `"swap"`, `"cast"` or `"pack"`.
    pub name: &'static str,
    /// The kind of kernel: `"copy"`, `"byte swap"`, `"half-byte lookup"`, `"lookup"`, `"vector"` or `"scalar"`; `None` for a stage that
    /// does not cast.
    pub kernel: Option<&'static str>,
    /// What it reads.
    pub from: Encoding,
    /// What it writes.
    pub to: Encoding,
    /// Why it is needed.
    pub why: String,
}

impl CastPlan {
    /// What the plan will do and why.
    ///
    /// ```
    /// use lanecast::{Encoding, CastOptions, CastPlan, DType, Tier};
    /// let packed = Encoding::packed(DType::Int4);
    /// let plan = CastPlan::with_tier(DType::Int64, packed, &CastOptions::RUST, Tier::Scalar)?;
    /// let explanation = plan.explain();
    /// let names: Vec<_> = explanation.stages.iter().map(|stage| stage.name).collect();
    /// assert_eq!(names, ["cast", "pack"]);
    /// println!("{explanation}");
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    pub fn explain(&self) -> Explanation {
        let kernel = self.kernel();
        let tier = kernel.tier();
        Explanation {
            from: kernel.source(),
            to: kernel.target(),
            tier,
            features: [tier.required_features(), tier.features()].concat(),
            stages: stages(kernel),
            block: kernel.block(),
            guarded: kernel.is_guarded(),
            direction: kernel.direction(),
            streams_above: kernel.streams_above(),
            picoseconds_per_element: kernel.picoseconds_per_element(),
        }
    }
}

fn stages(kernel: &Kernel) -> Vec<ExplainedStage> {
    let (from, to) = (kernel.source(), kernel.target());
    let (source, result) = (from.dtype(), to.dtype());
    let stages: Vec<Stage> = kernel.stages().collect();
    let explained = stages.iter().enumerate().map(|(i, stage)| {
        let (name, reads, writes) = match *stage {
            Stage::Unpack => ("unpack", from, source.into()),
            Stage::SwapSource => ("swap", from, source.into()),
            Stage::SwapResult => ("swap", result.into(), to),
            Stage::Pack => ("pack", result.into(), to),
            Stage::Cast { from: read, to: written, .. } => {
                let is_last = i + 1 == stages.len();
                ("cast", if i == 0 { from } else { read.into() }, if is_last { to } else { written.into() })
            }
            _ => ("other", from, to),
        };
        let (family, why) = match *stage {
            Stage::Unpack => {
                (None, format!("The kernel of the pair reads one element per byte; {source} is packed."))
            }
            Stage::Pack => {
                (None, format!("The kernel of the pair writes one element per byte; {result} is packed."))
            }
            Stage::SwapSource => {
                (None, format!("Kernels read the byte order of the host, not {}.", order(from)))
            }
            Stage::SwapResult => {
                (None, format!("Kernels write the byte order of the host, not {}.", order(to)))
            }
            Stage::Cast { from: read, to: written, by } => {
                let is_first = matches!(stages.get(i + 1), Some(Stage::Cast { .. }));
                let why = if is_first {
                    first_step(read, result, written)
                } else {
                    reason(kernel, read, written, by)
                };
                (Some(family_name(by)), why)
            }
            _ => (None, String::new()),
        };
        ExplainedStage { name, kernel: family, from: reads, to: writes, why }
    });
    explained.collect()
}

fn order(buffer: Encoding) -> &'static str {
    match buffer.order() {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    }
}

const fn family_name(family: Family) -> &'static str {
    match family {
        Family::Copy => "copy",
        Family::Swap => "byte swap",
        Family::HalfBytes => "half-byte lookup",
        Family::Lookup => "lookup",
        Family::Vector => "vector",
        Family::Scalar => "scalar",
        _ => "other",
    }
}

/// Why a pair is cast through an intermediate dtype.
fn first_step(from: DType, to: DType, middle: DType) -> String {
    if from.kind() == Kind::Complex && from.bits() == 2 * middle.bits() {
        format!("Only the real part counts. This step copies it, and casts from {middle} do the rest.")
    } else if middle.kind() == Kind::Float {
        format!(
            "Under these options only casts from {middle} have a kernel of their own. This step rounds to odd, so that the next one is \
             the only rounding that shows."
        )
    } else {
        format!(
            "Beyond an end of the range of {middle} every value has the result of that end in {to}. So saturating to {middle} first changes no \
             result, and casts from {middle} do the rest."
        )
    }
}

/// Why a kernel is of its kind.
fn reason(kernel: &Kernel, from: DType, to: DType, family: Family) -> String {
    match family {
        Family::Copy if kernel.source() == kernel.target() => "The elements stay as they are.".into(),
        Family::Copy if from == to => "Only the storage changes.".into(),
        Family::Copy => format!("{from} and {to} have the same bits here."),
        Family::Swap => "Only the byte order changes.".into(),
        Family::HalfBytes => {
            format!("Half a byte of packed {from} has 16 values, so a table of 16 results is the cast.")
        }
        Family::Lookup => format!("{from} has at most 256 codes, so a table of their results is the cast."),
        Family::Vector if kernel.direction().is_some() => {
            "The instructions round in the direction that the options ask for, which the call sets.".into()
        }
        Family::Vector => "The tier has a vector kernel for the pair.".into(),
        Family::Scalar if kernel.is_borrowed() => "The tier has no kernel for these options.".into(),
        Family::Scalar => "The tier has no vectors.".into(),
        _ => String::new(),
    }
}

impl fmt::Display for ExplainedStage {
    /// `cast float32 to float8_e4m3fn (vector)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}", self.name, self.from, self.to)?;
        self.kernel.map_or(Ok(()), |kernel| write!(f, ", {kernel} kernel"))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} to {}", self.from, self.to)?;
        write!(f, "tier       {}", self.tier)?;
        for (i, feature) in self.features.iter().enumerate() {
            write!(f, "{}{feature}", if i == 0 { ": " } else { ", " })?;
        }
        let block = match self.block {
            Some(block) => format!("blocks of {block} elements"),
            None => "one pass over all elements".into(),
        };
        writeln!(f, "\nroute      {block}")?;
        for (i, stage) in self.stages.iter().enumerate() {
            writeln!(f, "  {}. {stage}\n     {}", i + 1, stage.why)?;
        }
        let guard = match (self.guarded, self.direction) {
            (false, _) => "cannot change the results; not checked".into(),
            (true, None) => "checked on every call".into(),
            (true, Some(direction)) => format!("set on every call to round {direction}"),
        };
        writeln!(f, "FP control {guard}")?;
        match self.streams_above {
            Some(bytes) => writeln!(f, "streaming  above {bytes} bytes of source and destination")?,
            None => writeln!(f, "streaming  never")?,
        }
        write!(f, "cost       {} ps per element in the second cache", self.picoseconds_per_element)
    }
}
