//! Sources of a byte or less, whose results are looked up in tables.
//!
//! Such a source has at most 256 codes, so a cast of it under any rules is a table of results, which `exact` computes, and a
//! kernel that looks them up. Under the common rules many pairs need no table, or share one that is a constant ([`Found`]).
//!
//! A table takes some microseconds to make, too long for every call. A plan is copied freely and has no room for a table, and the tables of all
//! pairs would be a tenth of the library. So each table is made when a plan first needs it, and kept ([`Kept`]): a few hundred bytes for each
//! combination of pair, storage and rules that a program uses. Running a cast makes and allocates nothing.

use crate::{
    arch::TierToken,
    dtype::{COUNT, DType, Encoding},
    exact::{Rules, decode, encode},
    format::{kept::Kept, lut, packed::Nibbles},
    vector::{
        kernel::{Entry, Made},
        table::{Found, Table},
    },
};

/// How a pair of encodings is cast under given rules.
pub(crate) enum Tabled {
    /// The rules change nothing here.
    Common,
    /// A kernel.
    Kernel(Made),
    /// The table for half-bytes.
    Nibbles(Nibbles),
    /// The storage has no kernel: elements are unpacked or packed around the kernel of byte storage.
    Other,
}

/// The key of a table.
type Key = (TierToken, Encoding, Encoding, Rules);

/// `[from][to]`
static KNOWN: [[Kept<Key, Tabled>; COUNT]; COUNT] = [const { [const { Kept::new() }; COUNT] }; COUNT];

/// How tables cast a pair of encodings under any rules. The source has at most a byte per element.
pub(crate) fn find(tier: TierToken, from: Encoding, to: Encoding, rules: &Rules) -> &'static Tabled {
    let known = &KNOWN[from.dtype() as usize][to.dtype() as usize];
    known.get((tier, from, to, *rules), || make(tier, from, to, rules))
}

#[cold]
fn make(tier: TierToken, from: Encoding, to: Encoding, rules: &Rules) -> Tabled {
    let (s, d) = (from.dtype(), to.dtype());
    let common = rules.is(&Rules::common(d, rules.saturate));
    if !common && changes_nothing(s, d, rules) {
        return Tabled::Common;
    }
    let halves = are_halves(from, to);
    let made = !common || matches!(tier.table().find(from, to, rules.saturate), Found::Tabled);
    // Casts from half-bytes to half-bytes need no unpacking.
    if made && !(halves && to.is_packed()) {
        let words = lut::words(s, d, rules);
        if let Some(made) = tier.table().tabled.and_then(|tabled| tabled(from, to, rules, &words)) {
            return Tabled::Kernel(made);
        }
    }
    if halves { Tabled::Nibbles(nibbles(s, d, rules)) } else { Tabled::Other }
}

/// Whether the source is packed in half-bytes, and each has a result of a byte or of half a byte.
fn are_halves(from: Encoding, to: Encoding) -> bool {
    let width = from.bits_per_element();
    from.is_packed() && width <= 4 && to.bits_per_element() == if to.is_packed() { width } else { 8 }
}

/// How a pair of encodings is cast under the common rules.
pub(crate) enum Common {
    /// A kernel casts.
    Kernel(Entry),
    /// Half-bytes are looked up.
    Nibbles(&'static Nibbles),
    /// Buffers are unpacked or packed around the kernel of byte storage.
    Staged,
}

/// How a pair of encodings is cast under the common `rules`, with the kernels of a tier.
pub(crate) fn common(
    tier: TierToken,
    kernels: &Table,
    from: Encoding,
    to: Encoding,
    rules: &Rules,
) -> Common {
    let halves = are_halves(from, to);
    match kernels.find(from, to, rules.saturate) {
        // Casts from half-bytes to half-bytes need no unpacking.
        Found::Kernel(entry) if !(halves && to.is_packed()) => Common::Kernel(entry),
        Found::Staged if !halves => Common::Staged,
        _ => match find(tier, from, to, rules) {
            Tabled::Kernel(Made { run, table, .. }) => Common::Kernel(Entry { run: *run, table: *table }),
            Tabled::Nibbles(table) => Common::Nibbles(table),
            Tabled::Common | Tabled::Other => Common::Staged,
        },
    }
}

/// Whether the results of all codes equal the results of the common rules.
fn changes_nothing(from: DType, to: DType, rules: &Rules) -> bool {
    let common = Rules::common(to, rules.saturate);
    (0..1_u128 << from.bits()).all(|code| {
        let value = decode(from, code);
        encode(to, value, rules) == encode(to, value, &common)
    })
}

/// The results for half-bytes: the result of one element or, if the target is packed in half-bytes as well, of all elements that fit in it.
fn nibbles(from: DType, to: DType, rules: &Rules) -> Nibbles {
    let mut table = [0; 16];
    for (nibble, entry) in table.iter_mut().enumerate() {
        let result = |code: u128| encode(to, decode(from, code), rules) as u8;
        let two = from.bits() == 2 && to.bits() == 2;
        *entry = result(nibble as u128) | if two { result(nibble as u128 >> 2) << 2 } else { 0 };
    }
    table
}
