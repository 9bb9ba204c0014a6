//! A resolved cast. Plans enter the kernels here. A plan that detects losses enters through [`LossDetector`](crate::LossDetector), which runs
//! kernels of this type; a cast of views enters through the strided casts.
//!
//! What a call does is a [`Route`], which is resolved when the kernel is made. `drive` runs the route, and `environment` knows which kernels the
//! floating-point environment may affect.

use crate::{
    arch::{Tier, TierToken},
    dtype::Encoding,
    exact::Rules,
    format::data::{Data, Direction},
    route::{Route, Side, Stage, Streaming, Way},
    table::cost::{Costs, Term, Terms},
    vector::non_temporal::NonTemporal,
};
use core::fmt;

/// A cast between two encodings under fixed rules, resolved for one tier.
#[derive(Clone, Copy)]
pub struct Kernel {
    pub(crate) route: Route,
    /// Bytes read and written above which the cast uses non-temporal stores.
    stream_above: usize,
    /// Whether a call must check the host's floating-point environment.
    pub(crate) guarded: bool,
    /// Bits of an element of the source and of a result.
    bits: [u8; 2],
}

/// Bytes read and written above which a cast uses non-temporal stores, on a tier with these tools.
fn stream_above(tools: Option<&NonTemporal>, streaming: Streaming) -> usize {
    match (tools, streaming) {
        (None, _) | (_, Streaming::Never) => usize::MAX,
        (Some(tools), Streaming::Auto) => (tools.last_cache)(),
        (_, Streaming::Always) => 0,
    }
}

impl Kernel {
    /// The cast from `from` to `to` on `tier`; `None` if the tier cannot run here or this build leaves out a dtype.
    pub fn new(tier: Tier, from: Encoding, to: Encoding, rules: &Rules) -> Option<Kernel> {
        let route = Route::new(tier, from, to, rules)?;
        let rounds = route.other || route.direction != Direction::NearestEven;
        Some(Kernel {
            stream_above: stream_above(route.tier.non_temporal(), Streaming::Auto),
            // The first of two steps copies real parts or saturates integers, or the rules are not the common ones.
            guarded: rounds || route.tier.obeys_environment()(route.middle, to.dtype()),
            bits: [from, to].map(|encoding| encoding.bits_per_element() as u8),
            route,
        })
    }

    /// The same cast, using non-temporal stores when `streaming` says.
    pub fn with_streaming(self, streaming: Streaming) -> Kernel {
        Kernel { stream_above: stream_above(self.route.tier.non_temporal(), streaming), ..self }
    }

    /// Whether a cast that reads and writes `bytes` bytes in all uses non-temporal stores.
    #[inline]
    pub const fn streams(&self, bytes: usize) -> bool {
        bytes > self.stream_above
    }

    /// Bytes read and written above which it uses non-temporal stores; `None` if it never does.
    pub const fn streams_above(&self) -> Option<usize> {
        if self.stream_above == usize::MAX { None } else { Some(self.stream_above) }
    }

    /// Whether the host's floating-point environment could change the results, so that every call checks it.
    pub const fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// The rounding direction that a call sets, if it is not to nearest: `"down"`, `"up"` or `"toward zero"`.
    pub const fn direction(&self) -> Option<&'static str> {
        match self.route.direction {
            Direction::NearestEven => None,
            Direction::Down => Some("down"),
            Direction::Up => Some("up"),
            Direction::TowardZero => Some("toward zero"),
        }
    }

    /// What a call does to its elements, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> {
        self.route.stages()
    }

    /// Elements of a block, if the stages run block by block.
    pub fn block(&self) -> Option<usize> {
        (self.route.way == Way::Blocks).then(|| usize::from(self.route.block))
    }

    /// Whether the kernel is the scalar tier's, because the tier has none for these rules.
    pub const fn is_borrowed(&self) -> bool {
        self.route.borrowed
    }

    /// The constants of the kernel's target.
    pub(crate) fn data(&self) -> &'static Data {
        self.route.data
    }

    /// The encoding of the source.
    pub const fn source(&self) -> Encoding {
        self.route.from
    }
    /// Bits of an element of the source and of a result.
    #[inline]
    pub(crate) const fn bits(&self) -> [u8; 2] {
        self.bits
    }
    /// The encoding of the destination.
    pub const fn target(&self) -> Encoding {
        self.route.to
    }
    /// The tier whose kernel runs.
    pub const fn tier(&self) -> Tier {
        self.route.tier.tier()
    }
    /// The token of the tier, which proves that it can run here.
    #[inline]
    pub(crate) const fn token(&self) -> TierToken {
        self.route.tier
    }

    /// What the route adds to the kernel of the pair.
    #[doc(hidden)]
    pub fn cost_terms(&self) -> Terms {
        let sides = [self.route.before, self.route.after];
        let count = |side| sides.iter().filter(|of| **of == side).count() as u8;
        let mut terms = [0; Term::ALL.len()];
        terms[Term::Rules as usize] = self.route.other as u8;
        terms[Term::Unpack as usize] = (self.route.before == Side::Packed) as u8;
        terms[Term::Pack as usize] = (self.route.after == Side::Packed) as u8;
        terms[Term::Swap as usize] = count(Side::Swapped);
        terms
    }

    /// About how many picoseconds a long cast takes per element in the second-level cache: the [cost](crate::table::cost) of the pair and of its
    /// route.
    pub fn picoseconds_per_element(&self) -> u32 {
        self.picoseconds(&self.cost_terms())
    }

    /// The same between views whose elements are not contiguous.
    pub fn strided_picoseconds_per_element(&self) -> u32 {
        let mut terms = self.cost_terms();
        terms[Term::Strided as usize] = 1;
        self.picoseconds(&terms)
    }

    fn picoseconds(&self, terms: &Terms) -> u32 {
        let tier = if self.route.borrowed { Tier::Scalar } else { self.tier() };
        Costs::of(tier).picoseconds(self.source().dtype(), self.target().dtype(), terms)
    }

    /// The address of the machine code of the pair's kernel, or of the second kernel in a route of two, for tools that inspect it.
    #[doc(hidden)]
    pub fn address(&self) -> usize {
        self.route.run as usize
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Route { from, to, way, borrowed, .. } = &self.route;
        let tier = self.tier();
        let route = if *way == Way::Blocks { "staged" } else { "direct" };
        let borrowed = if *borrowed { ", by scalar kernels" } else { "" };
        write!(f, "Kernel({from} -> {to}, {tier}, {route}{borrowed})")
    }
}
