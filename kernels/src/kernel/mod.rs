//! One resolved cast. Plans enter the kernels here; a plan that looks for losses enters through [`Watch`](crate::Watch), which runs
//! these, and one of views through the strided casts.
//!
//! A cast goes one of two ways, decided once:
//!
//! * *direct*: both buffers are in byte storage, or the tier has a kernel that reads or writes packed elements itself; one call
//!   of the pair's kernel;
//! * *staged*: another packed buffer is unpacked or packed through a block on the stack around the kernel of byte storage.
//!
//! Rules are compared with the common ones after [`Rules::canonical`]. Under the common ones the table of the tier names the
//! kernel; under others [`Tier::rounded`], or for a source of a byte a table of its results, which is made with the plan. A wide
//! integer becomes a float of a short range by way of an integer of a byte, under any rules ([`narrowed`]).
//!
//! Elements in the other byte order are brought to that of the host around either, in `order`. This file resolves a cast; `run` runs
//! it; `environment` knows which kernels the floating-point environment may change.

mod environment;
mod run;
#[cfg(test)]
pub(crate) mod tests;

use crate::{
    arch::{self, Tier},
    cost::{Costs, Term, Terms},
    data::{Data, Direction},
    dtype::DType,
    exact::Rules,
    format::packed::{NIBBLES, Nibbles},
    narrowed::{self, First},
    storage::BufferType,
    stream::Streaming,
    table::{Entry, KernelFn, same_bits},
    tabled::{self, Made, Tabled},
};
use core::fmt;
pub(crate) use environment::obeys_environment;
pub(crate) use run::BLOCK;

/// A cast between two buffer types under fixed rules, resolved for one tier.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The kernel of byte storage, around which other buffers are staged.
    body: KernelFn,
    /// The kernel that does all of the cast.
    direct: Option<KernelFn>,
    /// The kernel that does all of it if both sides are in the byte order of the host.
    native: Option<KernelFn>,
    /// The pair's kernel moves the bits of the elements as they are.
    moves: bool,
    from: BufferType,
    to: BufferType,
    tier: Tier,
    /// The rules are not the common ones, and no table of results does the cast.
    other: bool,
    /// The kernels are those of the scalar tier, because the tier has none for these rules.
    borrowed: bool,
    /// Whether the host's floating-point environment has to be looked at.
    guarded: bool,
    /// The direction of rounding in which the kernel runs.
    direction: Direction,
    /// Bytes read and written above which the cast writes past the caches.
    stream_above: usize,
    /// The constants of the target under the rules.
    data: &'static Data,
    /// The results of packed elements, if a table of half bytes has them.
    nibbles: Option<&'static Nibbles>,
}

/// The table for a packed source of 2 or 4 bits and a target that has a byte, or as many bits.
fn nibbles(from: BufferType, to: BufferType, saturate: bool) -> Option<&'static Nibbles> {
    let width = from.bits_per_element();
    let fits = to.bits_per_element() == if to.is_packed() { width } else { 8 };
    let (s, d) = (from.dtype(), to.dtype());
    (from.is_packed() && width <= 4 && fits).then(|| &NIBBLES[saturate as usize][s as usize][d as usize])
}

/// Whether whole bytes are copied.
fn is_packed_copy(from: BufferType, to: BufferType) -> bool {
    from == to && from.is_packed()
}

/// Bytes read and written above which a cast of the tier writes past the caches.
fn stream_above(tier: Tier, streaming: Streaming) -> usize {
    match streaming {
        _ if tier.non_temporal().is_none() => usize::MAX,
        Streaming::Auto => arch::last_cache(),
        Streaming::Always => 0,
        Streaming::Never => usize::MAX,
    }
}

impl Kernel {
    /// The cast from `from` to `to` on `tier`; `None` if the tier cannot run here or this build leaves out a dtype.
    pub fn new(tier: Tier, from: BufferType, to: BufferType, rules: &Rules) -> Option<Kernel> {
        let kernels = tier.table().filter(|_| tier == Tier::Scalar || tier.is_available())?;
        let (s, d) = (from.dtype(), to.dtype());
        if !s.is_built() || !d.is_built() {
            return None;
        }
        let rules = &rules.canonical(s, d);
        let mut other = !rules.is(&Rules::common(d, rules.saturate));
        if let Some(narrow) = narrowed::through(s, d) {
            return Kernel::narrowed(tier, from, narrow, to, rules);
        }
        if kernels.tabled.is_some() && s.size() == 1 && other {
            let find = |from, to| tabled::find(tier, from, to, rules);
            match find(s.into(), d.into()) {
                Tabled::Common => other = false,
                Tabled::Kernel(made) => {
                    let native = if from == s.into() && to == d.into() {
                        &Tabled::Other
                    } else {
                        find(from.native(), to.native())
                    };
                    return Some(Kernel::tabled(tier, from, to, rules, made, native));
                }
                Tabled::Nibbles(_) | Tabled::Other => {}
            }
        }
        // Around a kernel of byte storage packed sides are staged.
        let answers = |from: BufferType, to: BufferType| tier.rounded(from, to, rules);
        let own = if other { answers(s.into(), d.into()) } else { None };
        // Rules that a tier does not know cost speed, never an answer.
        let borrowed = other && own.is_none();
        let rounded = if borrowed { Tier::Scalar.rounded(s.into(), d.into(), rules) } else { own };
        let rounded_native = match own {
            Some(_) if from.is_packed() || to.is_packed() => answers(from.native(), to.native()),
            _ if from.is_packed() || to.is_packed() => None,
            _ => rounded,
        };
        let nibbles = if other { None } else { nibbles(from, to, rules.saturate) };
        let staged = kernels.get(s, d, rules.saturate);
        let native = match (from.is_packed(), to.is_packed()) {
            _ if rounded.is_some() => rounded_native.map(|rounded| Entry::new(rounded.run)),
            (false, false) => Some(staged),
            // Half bytes to half bytes need not be taken apart.
            (_, true) if nibbles.is_some() => None,
            _ => kernels.get_packed(from, to, rules.saturate),
        };
        let table = native.unwrap_or(staged).table;
        let data = match rounded {
            None if table.is_null() => Data::common(d, rules.saturate),
            _ => Data::kept(s, d, rules, rounded.and_then(|rounded| rounded.second), table),
        };
        let kernel = Kernel {
            direct: None,
            native: native.map(|entry| entry.run),
            moves: s == d || same_bits(s, d, rules.saturate),
            body: match rounded {
                Some(rounded) => rounded.run,
                None if is_packed_copy(from, to) => kernels.get(DType::UInt8, DType::UInt8, false).run,
                None => staged.run,
            },
            from,
            to,
            tier,
            other,
            guarded: other || obeys_environment(tier, s, d),
            borrowed,
            direction: rounded.map_or(Direction::NearestEven, |rounded| rounded.direction),
            stream_above: stream_above(tier, Streaming::Auto),
            nibbles,
            data,
        };
        Some(kernel.routed())
    }

    /// The cast by a table of all results: `made` in byte storage, `native` of the elements as they are stored, if that is
    /// something else.
    fn tabled(
        tier: Tier,
        from: BufferType,
        to: BufferType,
        rules: &Rules,
        made: &Made,
        native: &'static Tabled,
    ) -> Kernel {
        let packed = from.is_packed() || to.is_packed();
        let (used, is_direct, nibbles) = match native {
            Tabled::Kernel(made) => (made, true, None),
            Tabled::Nibbles(table) => (made, false, Some(table)),
            Tabled::Other | Tabled::Common => (made, !packed, None),
        };
        let (s, d) = (from.dtype(), to.dtype());
        Kernel {
            body: made.run,
            other: false,
            borrowed: false,
            direct: None,
            native: is_direct.then_some(used.run),
            moves: false,
            from,
            to,
            tier,
            guarded: used.direction != Direction::NearestEven || obeys_environment(tier, s, d),
            direction: used.direction,
            stream_above: stream_above(tier, Streaming::Auto),
            data: Data::kept(s, d, rules, None, used.table),
            nibbles,
        }
        .routed()
    }

    /// The cast by way of `narrow`, an integer of a byte.
    fn narrowed(
        tier: Tier,
        from: BufferType,
        narrow: DType,
        to: BufferType,
        rules: &Rules,
    ) -> Option<Kernel> {
        let second = Kernel::new(tier, narrow.into(), to, rules)?;
        let first = Kernel::new(tier, from.dtype().into(), narrow.into(), &Rules::common(narrow, true))?;
        let (run, bits) = match second.native {
            Some(run) => (run, to.bits_per_element()),
            None => (second.body, 8),
        };
        let first = First { run: first.body, data: first.data, size: from.dtype().size() };
        let kernel = Kernel {
            body: narrowed::run,
            direct: None,
            native: second.native.map(|_| narrowed::run as KernelFn),
            from,
            data: second.data.behind(first, run, bits),
            ..second
        };
        Some(kernel.routed())
    }

    /// The same with the kernel that does all of the cast in the byte orders of both sides.
    fn routed(self) -> Kernel {
        let direct = match (self.from.is_swapped(), self.to.is_swapped()) {
            (false, false) => self.native,
            // The bytes of both sides are the same, or the same in the other order.
            (true, true) if self.moves => self.native,
            _ if self.moves => Some(self.tier.swap(self.to.dtype())),
            _ => None,
        };
        Kernel { direct, ..self }
    }

    /// The same cast of a source in the byte order of the host.
    pub(crate) fn with_native_source(self) -> Kernel {
        Kernel { from: self.from.native(), ..self }.routed()
    }

    /// The same cast, writing past the caches when `streaming` says.
    pub fn with_streaming(self, streaming: Streaming) -> Kernel {
        Kernel { stream_above: stream_above(self.tier, streaming), ..self }
    }

    /// Whether a cast that reads and writes so many bytes in all writes past the caches.
    #[inline]
    pub const fn streams(&self, bytes: usize) -> bool {
        bytes > self.stream_above
    }

    /// Whether the host's floating-point environment has to be looked at.
    pub(crate) const fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// The constants of the target under the rules.
    pub(crate) const fn data(&self) -> &'static Data {
        self.data
    }

    /// What the source holds.
    pub const fn from(&self) -> BufferType {
        self.from
    }
    /// What the destination holds.
    pub const fn to(&self) -> BufferType {
        self.to
    }
    /// The tier whose kernel runs.
    pub const fn tier(&self) -> Tier {
        self.tier
    }

    /// What the route adds to the kernel of the pair.
    #[doc(hidden)]
    pub fn cost_terms(&self) -> Terms {
        let swapped = self.direct.is_none();
        let staged = self.native.is_none() && self.nibbles.is_none() && !is_packed_copy(self.from, self.to);
        let mut terms = [0; Term::ALL.len()];
        terms[Term::Rules as usize] = self.other as u8;
        terms[Term::Unpack as usize] = (staged && self.from.is_packed()) as u8;
        terms[Term::Pack as usize] = (staged && self.to.is_packed()) as u8;
        terms[Term::Swap as usize] =
            (swapped && self.from.is_swapped()) as u8 + (swapped && self.to.is_swapped()) as u8;
        terms
    }

    /// About how many picoseconds a long cast takes per element in the second cache: the [cost](crate::cost) of the pair and of its
    /// route.
    pub fn picoseconds_per_element(&self) -> u32 {
        self.picoseconds(&self.cost_terms())
    }

    /// The same between views in which the elements do not follow each other.
    pub fn strided_picoseconds_per_element(&self) -> u32 {
        let mut terms = self.cost_terms();
        terms[Term::Strided as usize] = 1;
        self.picoseconds(&terms)
    }

    fn picoseconds(&self, terms: &Terms) -> u32 {
        let tier = if self.borrowed { Tier::Scalar } else { self.tier };
        Costs::of(tier).picoseconds(self.from.dtype(), self.to.dtype(), terms)
    }

    /// Where the machine code of the pair's kernel stands, for tools that look at it; of two kernels by way of an integer of a byte,
    /// that of the second.
    #[doc(hidden)]
    pub fn address(&self) -> usize {
        match (self.data.first, self.data.second) {
            (Some(_), Some((second, _))) => second as usize,
            _ => self.direct.unwrap_or(self.body) as usize,
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let route = if self.direct.is_some() { "direct" } else { "staged" };
        let borrowed = if self.borrowed { ", by scalar kernels" } else { "" };
        write!(f, "Kernel({} -> {}, {}, {route}{borrowed})", self.from, self.to, self.tier)
    }
}
