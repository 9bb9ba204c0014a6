//! The route of a cast: everything a call will do, resolved once.
//!
//! A route is at most four stages, in this order:
//!
//! 1. a packed source is unpacked to one element per byte, or a swapped source is converted to the byte order of the host;
//! 2. if the pair is cast in two steps, a first kernel casts to an intermediate dtype: one that changes no result ([`steps`]), or float32,
//!    rounded to odd, under rules for which only float32 has a kernel;
//! 3. the kernel casts;
//! 4. the results are packed, or swapped.
//!
//! Most routes are stage 3 alone. These are *direct*: one call of the kernel, from the source to the destination. All others run block
//! by block ([`drive`](crate::drive::blocks)), so that the data between two stages stays in the first-level cache.
//!
//! Rules are compared with the common ones after [`Rules::canonical`]. Under common rules the table of the tier selects the kernel.
//! Under other rules `rounded` of the `Backend` does or, for a source of at most a byte, a table of its results that is made with the plan.

use crate::{
    arch::{Tier, TierToken},
    dtype::{DType, Encoding},
    exact::{Rules, steps},
    format::{
        data::{Data, Direction},
        packed::Nibbles,
    },
    table::tabled::{self, Common, Tabled},
    vector::{
        kernel::{Entry, KernelFn, Made},
        machine::BLOCK_BYTES,
        pairs::same_bits,
        table::{Table, never},
    },
};

/// How a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One call of the kernel.
    Direct,
    /// One call of the kernel in a rounding direction that is not to nearest.
    Directed,
    /// The kernel copies the bytes of packed elements.
    Bytes,
    /// Half-bytes are looked up.
    Nibbles,
    /// All stages, block by block.
    Blocks,
}

/// The stage before or after the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// None: the kernel reads or writes the buffer.
    Plain,
    /// Elements are unpacked, or packed.
    Packed,
    /// The bytes of elements are swapped.
    Swapped,
}

/// Everything that a cast does, except whether it streams.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    /// The kernel, or the second of two.
    pub(crate) run: KernelFn,
    /// Its constants.
    pub(crate) data: &'static Data,
    /// The first of two kernels, from the source to `middle`.
    pub(crate) first: Option<KernelFn>,
    /// The table of results for half-bytes.
    pub(crate) nibbles: Option<&'static Nibbles>,
    pub(crate) from: Encoding,
    pub(crate) to: Encoding,
    /// The dtype that the kernel `run` reads: the source's dtype, or the intermediate dtype between two kernels.
    pub(crate) middle: DType,
    pub(crate) tier: TierToken,
    pub(crate) way: Way,
    pub(crate) before: Side,
    pub(crate) after: Side,
    /// Elements per block, a multiple of 8, so that blocks are whole bytes in every packed width; 0 if there are no blocks.
    pub(crate) block: u16,
    /// The rounding direction in which the kernel `run` runs.
    pub(crate) direction: Direction,
    /// Whether the rules differ from the common ones and no table of results handles the cast.
    pub(crate) other: bool,
    /// Whether the kernel is the scalar tier's, because the tier has none for these rules.
    pub(crate) borrowed: bool,
}

/// One thing that a route does to its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Unpacks elements to one per byte.
    Unpack,
    /// Swaps elements of the source to the byte order of the host.
    SwapSource,
    /// Casts from one dtype to another.
    Cast {
        /// The dtype that the kernel reads.
        from: DType,
        /// The dtype that it writes.
        to: DType,
        /// The kind of kernel.
        by: Family,
    },
    /// Swaps results to the byte order opposite to the host's.
    SwapResult,
    /// Packs results.
    Pack,
}

/// The kind of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Copies the elements: no bit changes.
    Copy,
    /// Reverses the bytes of every part of an element.
    Swap,
    /// Looks up half-bytes in a table of 16 results.
    HalfBytes,
    /// Looks up codes in a table of results.
    Lookup,
    /// Computes in vector registers.
    Vector,
    /// Computes one element at a time.
    Scalar,
}

/// Whether a kernel reads or writes a buffer itself.
fn side(buffer: Encoding, kernel_knows: bool) -> Side {
    if buffer.is_packed() && !kernel_knows { Side::Packed } else { Side::Plain }
}

impl Route {
    /// The route from `from` to `to` on `tier`; `None` if the tier cannot run here.
    pub(crate) fn new(tier: Tier, from: Encoding, to: Encoding, rules: &Rules) -> Option<Route> {
        let tier = TierToken::new(tier).filter(|_| tier.has_kernels())?;
        let kernels = tier.table();
        let (s, d) = (from.dtype(), to.dtype());
        if !s.is_built() || !d.is_built() {
            return None;
        }
        let rules = &rules.canonical(s, d);
        let native = match steps::through(s, d) {
            None => Route::without_middle(tier, kernels, from.native(), to.native(), rules),
            Some(middle) => Route::through(tier, kernels, from.native(), middle, to.native(), rules),
        };
        let route = native.in_byte_orders(from, to, s == d || same_bits(s, d, rules.saturate));
        Some(match route.way {
            Way::Blocks => route.in_blocks(),
            Way::Direct if route.direction != Direction::NearestEven => Route { way: Way::Directed, ..route },
            _ => route,
        })
    }

    /// The route through an intermediate dtype that changes no result, between buffers in the byte order of the host.
    fn through(
        tier: TierToken,
        kernels: &Table,
        from: Encoding,
        middle: DType,
        to: Encoding,
        rules: &Rules,
    ) -> Route {
        let last_rules = rules.canonical(middle, to.dtype());
        let last = Route::without_middle(tier, kernels, middle.into(), to, &last_rules);
        if last.first.is_some() {
            // Without an intermediate dtype, both dtypes would need a separate kernel that rounds to odd first, so this saves a step.
            let route = Route::without_middle(tier, kernels, from, to, rules);
            debug_assert!(route.first.is_some(), "{from} to {to} has no kernel of its own");
            return route;
        }
        let first = kernels.get(from.dtype(), middle, true).run;
        Route { first: Some(first), from, way: Way::Blocks, ..last }
    }

    /// The route between buffers in the byte order of the host without an intermediate dtype, except float32 under other rules than the common
    /// ones. `rules` are canonical.
    fn without_middle(
        tier: TierToken,
        kernels: &Table,
        from: Encoding,
        to: Encoding,
        rules: &Rules,
    ) -> Route {
        let (s, d) = (from.dtype(), to.dtype());
        let common = Route {
            run: never,
            data: Data::common(d, rules.saturate),
            first: None,
            nibbles: None,
            from,
            to,
            middle: s,
            tier,
            way: Way::Blocks,
            before: Side::Plain,
            after: Side::Plain,
            block: 0,
            direction: Direction::NearestEven,
            other: false,
            borrowed: false,
        };
        if from == to && from.is_packed() {
            // Copies the bits as they are, except those after the last element.
            return Route { run: kernels.copy(DType::UInt8), way: Way::Bytes, ..common };
        }
        let common_rules = Rules::common(d, rules.saturate);
        let other = !rules.is(&common_rules);
        if kernels.tabled.is_some() && s.size() == 1 && other {
            let find = |from, to| tabled::find(tier, from, to, rules);
            match find(s.into(), d.into()) {
                Tabled::Common => return common.under_common(kernels, &common_rules),
                Tabled::Kernel(made) => {
                    let stored =
                        if from.is_packed() || to.is_packed() { find(from, to) } else { &Tabled::Other };
                    return common.tabled(rules, made, stored);
                }
                Tabled::Nibbles(_) | Tabled::Other => {}
            }
        }
        if other { common.under(rules) } else { common.under_common(kernels, rules) }
    }

    /// The route under the common rules.
    fn under_common(self, kernels: &Table, rules: &Rules) -> Route {
        let (from, to) = (self.from, self.to);
        let find = |from, to| tabled::common(self.tier, kernels, from, to, rules);
        let of_bytes = || match find(from.dtype().into(), to.dtype().into()) {
            Common::Kernel(entry) => entry,
            Common::Nibbles(_) | Common::Staged => unreachable!("byte storage needs no unpacking"),
        };
        let (Entry { run, table }, is_direct, nibbles) = match find(from, to) {
            Common::Kernel(entry) => (entry, true, None),
            Common::Nibbles(table) => (of_bytes(), false, Some(table)),
            Common::Staged => (of_bytes(), false, None),
        };
        let data = match table.is_null() {
            true => self.data,
            false => Data::kept(from.dtype(), to.dtype(), rules, false, table),
        };
        Route { run, data, nibbles, ..self }.staged(is_direct)
    }

    /// The route under other rules than the common ones.
    fn under(self, rules: &Rules) -> Route {
        let (from, to, tier) = (self.from, self.to, self.tier);
        let (s, d) = (from.dtype(), to.dtype());
        let packed = from.is_packed() || to.is_packed();
        // The kernel is for byte storage, so packed sides become stages around it.
        let own = tier.rounded()(s.into(), d.into(), rules);
        // A tier without a kernel for some rules only costs speed: the scalar tier has one.
        let Some(rounded) = own.or_else(|| TierToken::SCALAR.rounded()(s.into(), d.into(), rules)) else {
            unreachable!("the scalar tier has a kernel for every rule")
        };
        let stored = own.filter(|_| packed).and_then(|_| tier.rounded()(from, to, rules));
        let used = stored.unwrap_or(rounded);
        let route = Route {
            run: used.run,
            data: Data::kept(s, d, rules, used.second.is_some(), core::ptr::null()),
            direction: used.direction,
            other: true,
            borrowed: own.is_none(),
            ..self
        }
        .staged(!packed || stored.is_some());
        match used.second {
            None => route,
            Some(second) => Route {
                first: Some(used.run),
                middle: DType::Float32,
                run: second,
                way: Way::Blocks,
                ..route
            },
        }
    }

    /// The route by a table of all results: `made` for byte storage, `stored` for the elements as they are stored.
    fn tabled(self, rules: &Rules, made: &Made, stored: &'static Tabled) -> Route {
        let packed = self.from.is_packed() || self.to.is_packed();
        let (used, is_direct, nibbles) = match stored {
            Tabled::Kernel(made) => (made, true, None),
            Tabled::Nibbles(table) => (made, false, Some(table)),
            Tabled::Other | Tabled::Common => (made, !packed, None),
        };
        let data = Data::kept(self.from.dtype(), self.to.dtype(), rules, false, used.table);
        Route { run: used.run, data, direction: used.direction, nibbles, ..self }.staged(is_direct)
    }

    /// The route with the stages around the kernel. If `kernel_knows` the kernel handles the storage of both sides itself; otherwise it
    /// reads and writes byte storage.
    fn staged(self, kernel_knows: bool) -> Route {
        let way = match (kernel_knows, self.nibbles) {
            (true, _) => Way::Direct,
            (false, Some(_)) => Way::Nibbles,
            (false, None) => Way::Blocks,
        };
        match way {
            Way::Blocks => {
                let (before, after) = (side(self.from, kernel_knows), side(self.to, kernel_knows));
                Route { way, before, after, ..self }
            }
            Way::Nibbles => Route { way, ..self },
            _ => Route { way, nibbles: None, ..self },
        }
    }

    /// The route between sides in any byte order. `moves` says that the kernel copies the elements.
    fn in_byte_orders(self, from: Encoding, to: Encoding, moves: bool) -> Route {
        let route = Route { from, to, ..self };
        match (from.is_swapped(), to.is_swapped()) {
            (false, false) => route,
            // Both sides have the same bytes in a different order.
            (true, true) if moves => route,
            _ if moves => Route { run: self.tier.swap(to.dtype()), ..route },
            (source, result) => Route {
                way: Way::Blocks,
                before: if source { Side::Swapped } else { self.before },
                after: if result { Side::Swapped } else { self.after },
                ..route
            },
        }
    }

    /// The constants of the first of two kernels.
    pub(crate) fn first_data(&self) -> &'static Data {
        Data::common(self.middle, true)
    }

    /// The route with its block size: the data on the stack between two stages takes at most [`BLOCK_BYTES`], and each side of the cast at most
    /// four times as much. A route with a swap uses half of that: a swap takes so few instructions that its loads and stores can overlap the
    /// kernel's, and on AVX2 casts take up to an eighth less time (`docs/performance/notes.md`, "Both byte orders").
    fn in_blocks(self) -> Route {
        let (source, result) = (self.from.dtype().size(), self.to.dtype().size());
        let before = if self.before == Side::Plain { 1 } else { source };
        let first = if self.first.is_none() { 1 } else { self.middle.size() };
        let after = if self.after == Side::Plain { 1 } else { result };
        let widest = before.max(first).max(after).max(source.max(result).div_ceil(4));
        let swapped = [self.before, self.after].contains(&Side::Swapped);
        let bytes = if swapped { BLOCK_BYTES / 2 } else { BLOCK_BYTES };
        // Sizes are powers of two.
        Route { block: (bytes >> widest.ilog2()) as u16, ..self }
    }

    /// The stages of the route, in order.
    pub(crate) fn stages(&self) -> impl Iterator<Item = Stage> {
        let before = match self.before {
            Side::Plain => None,
            Side::Packed => Some(Stage::Unpack),
            Side::Swapped => Some(Stage::SwapSource),
        };
        let first = self.first.map(|_| Stage::Cast {
            from: self.from.dtype(),
            to: self.middle,
            by: if self.tier == TierToken::SCALAR { Family::Scalar } else { Family::Vector },
        });
        let cast = Stage::Cast { from: self.middle, to: self.to.dtype(), by: self.family() };
        let after = match self.after {
            Side::Plain => None,
            Side::Packed => Some(Stage::Pack),
            Side::Swapped => Some(Stage::SwapResult),
        };
        [before, first, Some(cast), after].into_iter().flatten()
    }

    /// The kind of the kernel, as far as the route determines it.
    fn family(&self) -> Family {
        let (s, d) = (self.middle, self.to.dtype());
        let one_direct = self.way == Way::Direct && self.first.is_none();
        if self.way == Way::Nibbles {
            Family::HalfBytes
        } else if one_direct && self.from.is_swapped() != self.to.is_swapped() {
            Family::Swap
        } else if s == d || same_bits(s, d, self.data.rules.saturate) {
            Family::Copy
        } else if !self.data.table.is_null() {
            Family::Lookup
        } else if self.borrowed || self.tier == TierToken::SCALAR {
            Family::Scalar
        } else {
            Family::Vector
        }
    }
}
