//! The cross product: for each tier, overflow rule, source and target, a kernel.
//!
//! Rules that are not common (`exact::Rules`) do not multiply the pairs: they are numbers in the data of a kernel, or select one of a few bodies
//! of the kernel through `rounded` of a `Backend`.

use crate::{
    dtype::{COUNT, DType, Encoding},
    exact::Rules,
    format::{data::Data, *},
    vector::{
        kernel::{Entry, KernelFn, Made},
        pairs::{has_all_values, has_overflow_rule, is_copy, same_bits, same_truth},
    },
};

/// How buffers are cast under the common rules.
pub(crate) enum Found {
    /// A kernel casts.
    Kernel(Entry),
    /// [`Table::tabled`] makes the kernel, together with the table of results of the pair.
    Tabled,
    /// Buffers are unpacked or packed around the kernel of byte storage.
    Staged,
}

/// The kernels of sources of a byte or less, in tiers that look up their results: a few bodies serve many pairs and are selected by
/// a few comparisons. That is smaller than a table of pointers, which a loader would have to relocate.
pub(crate) struct Bytes {
    /// Finds the kernel under the common rules.
    pub(crate) find: fn(from: Encoding, to: Encoding, saturate: bool) -> Found,
    /// The kernel of a dtype to itself.
    pub(crate) copy: fn(dtype: DType) -> KernelFn,
}

/// See [`Table::instead`].
pub(crate) type Instead = fn(from: DType, to: DType, saturate: bool) -> Option<KernelFn>;

/// See [`Table::tabled`].
pub(crate) type TabledFn =
    fn(from: Encoding, to: Encoding, rules: &Rules, words: &[u16; 256]) -> Option<Made>;

/// The kernels of one tier.
pub(crate) struct Table {
    /// Finds the kernel from a source of a byte or less that produces given [words](crate::format::lut::words), if the tier has such kernels.
    /// Returns `None` if the buffers must be unpacked or packed around the kernel of byte storage.
    pub(crate) tabled: Option<TabledFn>,
    /// The kernels of sources of at most a byte, if they are not in `kernels`.
    pub(crate) bytes: Option<Bytes>,
    /// `[from][column]`; if there are `bytes`, only sources of more than a byte have a row.
    pub(crate) kernels: &'static [Row],
    /// Finds the kernel of a pair of byte storage if, for the features of this CPU, it differs from the one in `kernels`.
    pub(crate) instead: Option<Instead>,
    /// The kernels from the same sources to packed targets, in a tier with `bytes`.
    pub(crate) packed_to: Option<&'static [PackedTo; WIDE]>,
    /// The kernels with a packed side in other tiers, if there are any.
    pub(crate) packed: Option<&'static PackedTable>,
}

/// The number of dtypes of more than a byte, and of dtypes of less than a byte.
pub(crate) const WIDE: usize = places(false).1;
pub(crate) const SUB_BYTE: usize = places(true).1;

/// `[saturate][to]`
pub(crate) type PackedTo = [[Option<KernelFn>; SUB_BYTE]; 2];

/// The index of every dtype among the dtypes of less than a byte, or of more than a byte, and the number of these dtypes.
const fn places(less: bool) -> ([u8; COUNT], usize) {
    let (mut places, mut i, mut count) = ([0; COUNT], 0, 0);
    while i < COUNT {
        let dtype = DType::EVERY[i];
        places[i] = count as u8;
        count += (if less { dtype.is_sub_byte() } else { dtype.size() > 1 }) as usize;
        i += 1;
    }
    (places, count)
}
static WIDE_PLACES: [u8; COUNT] = places(false).0;

/// The kernels of a source: a column for every target, and another column for the kernel that does not saturate, if it differs.
pub(crate) type Row = [KernelFn; COLUMNS];
pub(crate) const COLUMNS: usize = columns().1;
static FIRST_COLUMNS: [u8; COUNT] = columns().0;

/// The first column of every target, and the number of columns.
const fn columns() -> ([u8; COUNT], usize) {
    let (mut first, mut i, mut count) = ([0; COUNT], 0, 0);
    while i < COUNT {
        first[i] = count as u8;
        count += 1 + has_overflow_rule(DType::EVERY[i]) as usize;
        i += 1;
    }
    (first, count)
}
static SUB_BYTE_PLACES: [u8; COUNT] = places(true).0;

/// The kernels of a tier that read or write packed storage themselves. All other pairs are cast in byte storage, and unpacked or packed block by
/// block.
pub(crate) struct PackedTable {
    /// `[Sides][saturate][from][to]`
    pub(crate) kernels: [[[[Option<KernelFn>; COUNT]; COUNT]; 2]; 3],
}

/// The sides of a pair that are packed.
#[derive(Clone, Copy)]
pub(crate) enum Sides {
    From,
    To,
    Both,
}

impl Sides {
    const fn from(self) -> bool {
        matches!(self, Sides::From | Sides::Both)
    }

    const fn to(self) -> bool {
        matches!(self, Sides::To | Sides::Both)
    }
}

impl Table {
    /// The table of a tier that has only these kernels.
    pub(crate) const fn new(kernels: &'static [Row]) -> Table {
        Table { kernels, packed_to: None, packed: None, bytes: None, tabled: None, instead: None }
    }

    /// The kernel of a pair of byte storage whose source is in `kernels`.
    #[inline]
    pub(crate) fn get(&self, from: DType, to: DType, saturate: bool) -> Entry {
        let row = match &self.bytes {
            Some(_) => WIDE_PLACES[from as usize] as usize,
            None => from as usize,
        };
        let column = FIRST_COLUMNS[to as usize] as usize + (!saturate && has_overflow_rule(to)) as usize;
        let other = self.instead.and_then(|find| find(from, to, saturate));
        Entry::new(other.unwrap_or(self.kernels[row][column]))
    }

    /// The kernel that copies a dtype of a byte.
    pub(crate) fn copy(&self, dtype: DType) -> KernelFn {
        match &self.bytes {
            Some(bytes) => (bytes.copy)(dtype),
            None => self.get(dtype, dtype, false).run,
        }
    }

    /// How buffers are cast.
    pub(crate) fn find(&self, from: Encoding, to: Encoding, saturate: bool) -> Found {
        let (s, d) = (from.dtype(), to.dtype());
        let packed = from.is_packed() || to.is_packed();
        match &self.bytes {
            Some(_) if s.size() == 1 && !packed && is_copy(s, d, saturate) => {
                Found::Kernel(Entry::new(self.copy(if same_truth(s, d) { DType::Bool } else { s })))
            }
            Some(bytes) if s.size() == 1 => (bytes.find)(from, to, saturate),
            _ if !packed => Found::Kernel(self.get(s, d, saturate)),
            _ => self.get_packed(from, to, saturate).map_or(Found::Staged, Found::Kernel),
        }
    }

    /// The kernel of a pair with a packed side, if the pair has one. The source is in `kernels`.
    #[inline]
    pub(crate) fn get_packed(&self, from: Encoding, to: Encoding, saturate: bool) -> Option<Entry> {
        let (s, d) = (from.dtype() as usize, to.dtype() as usize);
        if self.bytes.is_some() {
            let row = &self.packed_to?[WIDE_PLACES[s] as usize];
            return row[saturate as usize][SUB_BYTE_PLACES[d] as usize].map(Entry::new);
        }
        let sides = match (from.is_packed(), to.is_packed()) {
            (false, false) => return None,
            (true, false) => Sides::From,
            (false, true) => Sides::To,
            (true, true) => Sides::Both,
        };
        self.packed?.kernels[sides as usize][saturate as usize][s][d].map(Entry::new)
    }
}

/// A placeholder for the kernel of a pair that no route uses: this build leaves it out, or it is cast in two steps. It panics, because callers
/// assume that a kernel that returns has initialised the destination.
///
/// # Safety
///
/// None: it neither reads nor writes.
#[cold]
pub(crate) unsafe fn never(_: *const u8, _: *mut u8, _: usize, _: &Data) {
    unreachable!("no route takes this pair");
}

/// The kernels that a tier provides, as functions of types: traits have no `const fn`.
pub(crate) trait TierKernels: 'static {
    /// Whether [`Bytes`] has the kernels of sources of a byte, which then have no row.
    const BYTES_APART: bool = false;
    /// The kernels of a pair under an overflow rule.
    type Pair<S: Format, D: Format, const SATURATE: bool>: PairKernels;
}

/// The kernels of a pair in a tier. Each constant is evaluated only for pairs that may have it.
pub(crate) trait PairKernels {
    /// The kernel of a dtype to itself.
    const COPY: KernelFn;
    /// A faster kernel than [`CAST`](Self::CAST), if there is one.
    const DIRECT: Option<KernelFn>;
    /// The kernel of all other pairs.
    const CAST: KernelFn;
    /// The kernel from a dtype of a byte, in a tier with [`TierKernels::BYTES_APART`].
    const OF_BYTE: Option<Entry> = None;
    /// The kernels of packed storage: with a packed source, a packed target, and both.
    const FROM_PACKED: Option<KernelFn> = None;
    const TO_PACKED: Option<KernelFn> = None;
    const BOTH_PACKED: Option<KernelFn> = None;
}

// A constant that a function names is evaluated whenever the function is, so each constant has its own function.
const fn copy<T: TierKernels, S: Format>() -> KernelFn {
    <T::Pair<S, S, true> as PairKernels>::COPY
}
const fn direct<P: PairKernels>() -> Option<KernelFn> {
    P::DIRECT
}
const fn cast<P: PairKernels>() -> KernelFn {
    P::CAST
}
const fn of_byte<P: PairKernels>() -> Option<Entry> {
    P::OF_BYTE
}
const fn from_packed<P: PairKernels>() -> Option<KernelFn> {
    P::FROM_PACKED
}
const fn to_packed<P: PairKernels>() -> Option<KernelFn> {
    P::TO_PACKED
}
const fn both_packed<P: PairKernels>() -> Option<KernelFn> {
    P::BOTH_PACKED
}

/// The kernel of a pair of byte storage under the common rules.
const fn kernel<T: TierKernels, S: Format, D: Format>(saturate: bool) -> KernelFn {
    let (from, to) = (S::DTYPE, D::DTYPE);
    // If the target has all values of the source, both overflow rules share one kernel.
    let saturate = saturate && !has_all_values(from, to);
    if !is_one_step(from, to) {
        return never;
    }
    if from as u8 == to as u8 || same_bits(from, to, saturate) {
        return copy::<T, S>();
    }
    if same_truth(from, to) {
        return copy::<T, bool>();
    }
    let direct = if saturate { direct::<T::Pair<S, D, true>>() } else { direct::<T::Pair<S, D, false>>() };
    match direct {
        Some(kernel) => kernel,
        None if saturate || !has_overflow_rule(to) => cast::<T::Pair<S, D, true>>(),
        None => cast::<T::Pair<S, D::Wrapping, false>>(),
    }
}

/// Whether this build has the pair and casts it by one kernel.
const fn is_one_step(from: DType, to: DType) -> bool {
    crate::exact::steps::through(from, to).is_none() && from.is_built() && to.is_built()
}

/// The kernel of a pair of byte storage under the common rules, with its table.
pub(crate) const fn entry<T: TierKernels, S: Format, D: Format>(saturate: bool) -> Entry {
    if T::BYTES_APART && S::DTYPE.size() == 1 && S::DTYPE.is_built() && D::DTYPE.is_built() {
        let entry =
            if saturate { of_byte::<T::Pair<S, D, true>>() } else { of_byte::<T::Pair<S, D, false>>() };
        if let Some(entry) = entry {
            return entry;
        }
    }
    Entry::new(kernel::<T, S, D>(saturate))
}

/// The kernel of a pair with packed sides.
const fn packed_kernel<T: TierKernels, S: Format, D: Format>(
    sides: Sides,
    saturate: bool,
) -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    let packable = (!sides.from() || from.is_sub_byte()) && (!sides.to() || to.is_sub_byte());
    if !packable || !is_one_step(from, to) || from as u8 == to as u8 && matches!(sides, Sides::Both) {
        return None;
    }
    match (sides, saturate || !has_overflow_rule(to)) {
        (Sides::From, false) => from_packed::<T::Pair<S, D, false>>(),
        (Sides::From, true) => from_packed::<T::Pair<S, D, true>>(),
        (Sides::To, false) => to_packed::<T::Pair<S, D, false>>(),
        (Sides::To, true) => to_packed::<T::Pair<S, D, true>>(),
        (Sides::Both, false) => both_packed::<T::Pair<S, D, false>>(),
        (Sides::Both, true) => both_packed::<T::Pair<S, D, true>>(),
    }
}

/// Defines the tables of a tier's kernels over the list of dtypes.
macro_rules! define_tables {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn row<T: TierKernels, S: Format>() -> Row {
            let mut row: Row = [never; COLUMNS];
            let mut i = 0;
            $(
                row[i] = kernel::<T, S, $format>(true);
                i += 1;
                if has_overflow_rule(DType::$variant) {
                    row[i] = kernel::<T, S, $format>(false);
                    i += 1;
                }
            )*
            assert!(i == row.len());
            row
        }

        /// The kernels of `ROWS` sources: all dtypes, or the dtypes of more than a byte.
        pub(crate) const fn rows<T: TierKernels, const ROWS: usize>() -> [Row; ROWS] {
            assert!(ROWS == if T::BYTES_APART { WIDE } else { COUNT });
            let mut rows: [Row; ROWS] = [[never; COLUMNS]; ROWS];
            let mut i = 0;
            $(if !T::BYTES_APART || DType::$variant.size() > 1 {
                rows[i] = row::<T, $format>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        }

        const fn packed_row<T: TierKernels, S: Format>(sides: Sides, saturate: bool) -> [Option<KernelFn>; COUNT] {
            [$(packed_kernel::<T, S, $format>(sides, saturate)),*]
        }

        #[allow(dead_code, reason = "tiers with `Bytes` have none")]
        const fn packed_rows<T: TierKernels>(sides: Sides) -> [[[Option<KernelFn>; COUNT]; COUNT]; 2] {
            [[$(packed_row::<T, $format>(sides, false)),*], [$(packed_row::<T, $format>(sides, true)),*]]
        }

        /// The kernels from elements of more than a byte to packed ones.
        #[allow(dead_code, reason = "for tiers with `Bytes`")]
        pub(crate) const fn packed_to<T: TierKernels>() -> [PackedTo; WIDE] {
            const fn of<T: TierKernels, S: Format>() -> PackedTo {
                let all = [packed_row::<T, S>(Sides::To, false), packed_row::<T, S>(Sides::To, true)];
                let mut row = [[None; SUB_BYTE]; 2];
                let mut i = 0;
                $(if DType::$variant.is_sub_byte() {
                    let to = DType::$variant as usize;
                    (row[0][i], row[1][i]) = (all[0][to], all[1][to]);
                    i += 1;
                })*
                assert!(i == row[0].len());
                row
            }
            let mut rows = [[[None; SUB_BYTE]; 2]; WIDE];
            let mut i = 0;
            $(if DType::$variant.size() > 1 {
                rows[i] = of::<T, $format>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        }
    };
}
crate::dtype::for_each_dtype!(define_tables);

/// The kernels with a packed side of a tier without [`Bytes`].
#[allow(dead_code, reason = "tiers with `Bytes` have none")]
pub(crate) const fn packed_table<T: TierKernels>() -> PackedTable {
    PackedTable {
        kernels: [packed_rows::<T>(Sides::From), packed_rows::<T>(Sides::To), packed_rows::<T>(Sides::Both)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It must panic in release builds, too, because it writes nothing.
    #[test]
    #[should_panic(expected = "no route takes this pair")]
    fn never_returns() {
        // SAFETY: it neither reads nor writes.
        unsafe { never(core::ptr::null(), core::ptr::null_mut(), 1, Data::common(DType::Float32, true)) }
    }
}
