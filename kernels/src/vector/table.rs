//! The cross product: for each tier, overflow rule, source and target, a kernel.
//!
//! Rules that are not common (`exact::Rules`) do not multiply the pairs: they are numbers in the data of a kernel, or select one of a
//! few styles of its body through `rounded` of a `Backend`.

use crate::vector::kernel::{Entry, KernelFn};
use crate::vector::pairs::{has_overflow_rule, is_copy, same_truth};
use crate::{
    dtype::{COUNT, DType, Encoding},
    exact::Rules,
    format::data::Data,
    vector::kernel::Made,
};

/// How buffers are cast under the common rules.
pub(crate) enum Found {
    /// By a kernel.
    Kernel(Entry),
    /// By a kernel that [`Table::tabled`] makes with the table of results of the pair.
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
    /// Finds the kernel from a source of a byte or less that produces given [words](crate::format::lut::words), if the tier has such kernels. It
    /// returns `None` if the buffers have to be unpacked or packed around the kernel of byte storage.
    pub(crate) tabled: Option<TabledFn>,
    /// The kernels of sources of at most a byte, if they are not in `kernels`.
    pub(crate) bytes: Option<Bytes>,
    /// `[from][column]`; if there are `bytes`, only sources of more than a byte have a row.
    pub(crate) kernels: &'static [Row],
    /// Finds the kernel of a pair of byte storage for which the features of this CPU call for another one than `kernels` has.
    pub(crate) instead: Option<Instead>,
    /// The kernels from the same sources to packed targets, in a tier with `bytes`.
    pub(crate) packed_to: Option<&'static [PackedTo; WIDE]>,
    /// The kernels with a packed side in other tiers, if there are any.
    pub(crate) packed: Option<&'static PackedTable>,
}

/// How many dtypes take more than a byte, and how many less.
pub(crate) const WIDE: usize = places(false).1;
pub(crate) const SUB_BYTE: usize = places(true).1;

/// `[saturate][to]`
pub(crate) type PackedTo = [[Option<KernelFn>; SUB_BYTE]; 2];

/// The index of every dtype among those of less than a byte, or of more than a byte, and the number of these dtypes.
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

/// The kernels of a source: a column for every target, and another one for the kernel that does not saturate, if that is another one.
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

/// The kernels of a tier that read or write packed storage themselves. Pairs that have none are cast in byte storage and
/// unpacked or packed block by block.
pub(crate) struct PackedTable {
    /// `[which side is packed][saturate][from][to]`
    pub(crate) kernels: [[[[Option<KernelFn>; COUNT]; COUNT]; 2]; 3],
}

/// The sides that are packed, as bits: at least one of them.
pub(crate) const PACKED_FROM: u8 = 1;
pub(crate) const PACKED_TO: u8 = 2;

impl Table {
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

    /// The kernel of a pair with a packed side, if it has one, whose source is in `kernels`.
    #[inline]
    pub(crate) fn get_packed(&self, from: Encoding, to: Encoding, saturate: bool) -> Option<Entry> {
        let (s, d) = (from.dtype() as usize, to.dtype() as usize);
        if self.bytes.is_some() {
            let row = &self.packed_to?[WIDE_PLACES[s] as usize];
            return row[saturate as usize][SUB_BYTE_PLACES[d] as usize].map(Entry::new);
        }
        let sides =
            from.is_packed() as usize * PACKED_FROM as usize + to.is_packed() as usize * PACKED_TO as usize;
        self.packed?.kernels[sides.checked_sub(1)?][saturate as usize][s][d].map(Entry::new)
    }
}

/// A placeholder for the kernel of a pair that no route uses: this build leaves it out, or it is cast in two steps. It panics, because
/// callers take the destination for initialised when a kernel returns.
///
/// # Safety
///
/// None: it neither reads nor writes.
#[cold]
pub(crate) unsafe fn never(_: *const u8, _: *mut u8, _: usize, _: &Data) {
    unreachable!("no route takes this pair");
}

/// Makes `entry::<S, D, FINE>(saturate)`, the kernel of a pair, and `table::<FINE>()`, the table of a tier. The file of the tier calls
/// this on the list of dtypes and provides three functions: `copy::<S>`, the kernel of a dtype to itself; `direct::<S, D,
/// FINE>(saturate)`, the kernels of pairs that have a better one; and `cast::<S, D, SATURATE>`, the kernel of all others. A tier whose
/// sources of a byte are `APART` ([`Bytes`]) has no rows for them. `FINE` is a bit set, defined by the tier, of the optional CPU
/// features that `direct` may use.
macro_rules! define_table {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn kernel<S: Format, D: Format, const FINE: u8>(saturate: bool) -> KernelFn {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            // Two names of one kernel.
            let saturate = saturate && !$crate::vector::pairs::has_all_values(from, to);
            let two_steps = $crate::exact::steps::through(from, to).is_some();
            if two_steps || !from.is_built() || !to.is_built() {
                $crate::vector::table::never
            } else if from as u8 == to as u8 || same_bits(from, to, saturate) {
                copy::<S>
            } else if same_truth(from, to) {
                copy::<bool>
            } else if let Some(kernel) = direct::<S, D, FINE>(saturate) {
                kernel
            } else if saturate || !has_overflow_rule(to) {
                cast::<S, D, true>
            } else {
                cast::<S, D::Wrapping, false>
            }
        }
        /// The kernel of a pair of byte storage under the common rules.
        pub(crate) const fn entry<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Entry {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            if APART && from.size() == 1 && from.is_built() && to.is_built() { of_byte::<S, D, FINE>(saturate) } else { Entry::new(kernel::<S, D, FINE>(saturate)) }
        }
        const fn row<S: Format, const FINE: u8>() -> $crate::vector::table::Row {
            let mut row: $crate::vector::table::Row = [$crate::vector::table::never; $crate::vector::table::COLUMNS];
            let mut i = 0;
            $(
                row[i] = kernel::<S, $format, FINE>(true);
                i += 1;
                if has_overflow_rule(<$format as Element>::DTYPE) {
                    row[i] = kernel::<S, $format, FINE>(false);
                    i += 1;
                }
            )*
            assert!(i == row.len());
            row
        }
        const ROWS: usize = if APART { $crate::vector::table::WIDE } else { COUNT };
        const fn rows<const FINE: u8>() -> [$crate::vector::table::Row; ROWS] {
            let mut rows: [$crate::vector::table::Row; ROWS] = [[$crate::vector::table::never; $crate::vector::table::COLUMNS]; ROWS];
            let mut i = 0;
            $(if !APART || <$format as Element>::DTYPE.size() > 1 {
                rows[i] = row::<$format, FINE>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        }
        const fn table<const FINE: u8>() -> Table {
            Table { kernels: const { &rows::<FINE>() }, packed_to: None, packed: None, bytes: None, tabled: None, instead: None }
        }
    };
}
pub(crate) use define_table;

/// Makes `packed_table::<FINE>()` from the tier's `packed::<S, D, FINE, SIDES>(saturate)`, the kernels of pairs whose `SIDES` are
/// packed.
#[allow(unused_macros, reason = "tiers with `Bytes` have none")]
macro_rules! define_packed_table {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn packed_kernel<S: Format, D: Format, const FINE: u8, const SIDES: u8>(
            saturate: bool,
        ) -> Option<KernelFn> {
            let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
            let packable = (SIDES & PACKED_FROM == 0 || from.is_sub_byte()) && (SIDES & PACKED_TO == 0 || to.is_sub_byte());
            let packable = packable && from.is_built() && to.is_built() && $crate::exact::steps::through(from, to).is_none();
            if packable && (from as u8 != to as u8 || SIDES != PACKED_FROM | PACKED_TO) {
                packed::<S, D, FINE, SIDES>(saturate || !has_overflow_rule(to))
            } else {
                None
            }
        }
        const fn packed_row<S: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> [Option<KernelFn>; COUNT] {
            [$(packed_kernel::<S, $format, FINE, SIDES>(saturate)),*]
        }
        const fn packed_rows<const FINE: u8, const SIDES: u8>() -> [[[Option<KernelFn>; COUNT]; COUNT]; 2] {
            [[$(packed_row::<$format, FINE, SIDES>(false)),*], [$(packed_row::<$format, FINE, SIDES>(true)),*]]
        }
        const fn packed_table<const FINE: u8>() -> PackedTable {
            PackedTable {
                kernels: [
                    packed_rows::<FINE, PACKED_FROM>(),
                    packed_rows::<FINE, PACKED_TO>(),
                    packed_rows::<FINE, { PACKED_FROM | PACKED_TO }>(),
                ],
            }
        }
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use define_packed_table;

/// Makes `packed_to::<FINE>()` from the tier's `packed::<S, D, FINE>(saturate)`, the kernels from elements of more than a byte to
/// packed ones.
macro_rules! define_packed_to {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        const fn packed_row<S: Format, const FINE: u8>() -> PackedTo {
            let mut row = [[None; $crate::vector::table::SUB_BYTE]; 2];
            let mut i = 0;
            $(if <$format as Element>::DTYPE.is_sub_byte() {
                let to = <$format as Element>::DTYPE;
                if to.is_built() && $crate::exact::steps::through(S::DTYPE, to).is_none() {
                    let limited = !has_overflow_rule(to);
                    row[0][i] = packed::<S, $format, FINE>(limited);
                    row[1][i] = packed::<S, $format, FINE>(true);
                }
                i += 1;
            })*
            assert!(i == row[0].len());
            row
        }
        const fn packed_to<const FINE: u8>() -> [PackedTo; $crate::vector::table::WIDE] {
            let mut rows = [[[None; $crate::vector::table::SUB_BYTE]; 2]; $crate::vector::table::WIDE];
            let mut i = 0;
            $(if <$format as Element>::DTYPE.size() > 1 {
                rows[i] = packed_row::<$format, FINE>();
                i += 1;
            })*
            assert!(i == rows.len());
            rows
        }
    };
}
pub(crate) use define_packed_to;

#[cfg(test)]
mod tests {
    use super::*;

    /// In release builds, too: nothing is written.
    #[test]
    #[should_panic(expected = "no route takes this pair")]
    fn never_returns() {
        // SAFETY: it neither reads nor writes.
        unsafe { never(core::ptr::null(), core::ptr::null_mut(), 1, Data::common(DType::Float32, true)) }
    }
}
