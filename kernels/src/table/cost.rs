//! The cost of a cast: a class for every pair on every tier.
//!
//! A class is a step on a logarithmic scale: class `k` is 10 * 2^(k/2) picoseconds per element, so each class takes 1.41 times as long as the
//! class before it. The class of a pair is the cost of its kernel in byte storage under common rules, in the byte order of the host, with both
//! buffers in the second-level cache. Each [`Term`] is a cost that a route adds to the kernel, with a class for each tier.
//! [`Kernel::picoseconds_per_element`](crate::Kernel::picoseconds_per_element) is the sum.
//!
//! The classes are measured: `lanecast-bench costs --bless` rewrites [`TEXT`], which is parsed at compile time. A malformed table does not
//! compile. A tier, dtype or term that the table lacks costs nothing, so that a new one compiles before it is measured; until then a test fails.

use crate::{
    arch::Tier,
    dtype::{COUNT, DType},
};

/// The table: for each tier a block of lines.
///
/// A block begins with `tier` and the name of the tier. Then there is a line for each source dtype, with its name and the classes for
/// all targets in the order of the lines, and a line for each [`Term`], with its name and its class. A class is a digit, `a` for 10
/// and so on; `-`, for terms only, means that nothing is measurable. Empty lines and lines that begin with `#` are comments.
pub const TEXT: &str = include_str!("cost/classes.txt");

/// The number of classes: the digits and the letters.
pub const CLASSES: u8 = 36;

/// The class for costs that are not measured, or not measurable.
pub const NOTHING: u8 = u8::MAX;

/// The picoseconds of each class.
const PICOSECONDS: [u32; CLASSES as usize] = {
    let mut all = [0; CLASSES as usize];
    let mut k = 0;
    while k < all.len() {
        // The square root of 2 in thousandths.
        let odd = if k % 2 == 1 { 1414 } else { 1000 };
        all[k] = ((odd * 10) << (k / 2)) / 1000;
        k += 1;
    }
    all
};

/// The picoseconds of a class; 0 for [`NOTHING`].
pub const fn picoseconds(class: u8) -> u32 {
    if class < CLASSES { PICOSECONDS[class as usize] } else { 0 }
}

/// A cost per element that a route adds to the kernel of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// Other rules than the common ones.
    Rules,
    /// A packed source that is unpacked before the kernel.
    Unpack,
    /// A packed destination that is packed after the kernel.
    Pack,
    /// A side in the other byte order, swapped before or after the kernel.
    Swap,
    /// A source or destination that is not contiguous.
    Strided,
}

impl Term {
    /// All terms.
    pub const ALL: [Term; 5] = [Term::Rules, Term::Unpack, Term::Pack, Term::Swap, Term::Strided];

    /// Its name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Term::Rules => "rules",
            Term::Unpack => "unpack",
            Term::Pack => "pack",
            Term::Swap => "swap",
            Term::Strided => "strided",
        }
    }
}

/// How often a route has each [`Term`].
pub type Terms = [u8; Term::ALL.len()];

/// The classes of a tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// `[from][to]`
    pub pairs: [[u8; COUNT]; COUNT],
    /// The classes of terms, in the order of [`Term::ALL`].
    pub terms: Terms,
}

impl Costs {
    const EMPTY: Costs = Costs { pairs: [[NOTHING; COUNT]; COUNT], terms: [NOTHING; Term::ALL.len()] };

    /// The classes of a tier in the checked-in table.
    pub const fn of(tier: Tier) -> &'static Costs {
        &COSTS[tier as usize]
    }

    /// Picoseconds per element of a pair whose route has these terms.
    pub fn picoseconds(&self, from: DType, to: DType, terms: &Terms) -> u32 {
        let added =
            terms.iter().zip(&self.terms).map(|(count, class)| u32::from(*count) * picoseconds(*class));
        picoseconds(self.pairs[from as usize][to as usize]) + added.sum::<u32>()
    }
}

/// The classes of all tiers, in the order of [`Tier::ALL`].
pub type Table = [Costs; Tier::ALL.len()];

static COSTS: Table = match parse(TEXT) {
    Ok(table) => table,
    Err(error) => panic!("{}", error.reason),
};

/// The error of a malformed table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with the line.
    pub reason: &'static str,
}

impl core::fmt::Display for TableError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {} of the cost classes: {}", self.line, self.reason)
    }
}

impl core::error::Error for TableError {}

/// Whether the bytes of `text` from `start` to `end` are `name`.
const fn is(text: &[u8], start: usize, end: usize, name: &str) -> bool {
    let name = name.as_bytes();
    let mut i = 0;
    while i < name.len() && start + i < end && text[start + i] == name[i] {
        i += 1;
    }
    i == name.len() && start + i == end
}

/// The class that a byte means.
const fn class(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'z' => Some(byte - b'a' + 10),
        b'-' => Some(NOTHING),
        _ => None,
    }
}

/// A line for a source: the dtype, the place of its classes in the text, and its line number.
#[derive(Clone, Copy)]
struct Row {
    from: usize,
    start: usize,
    end: usize,
    line: usize,
}

/// The lines for the sources of a block. Classes can only be read once all lines are known, because these name the targets.
struct Rows {
    rows: [Row; COUNT],
    count: usize,
}

impl Rows {
    const EMPTY: Rows = Rows { rows: [Row { from: 0, start: 0, end: 0, line: 0 }; COUNT], count: 0 };

    const fn push(&mut self, row: Row) -> Result<(), &'static str> {
        let mut i = 0;
        while i < self.count {
            if self.rows[i].from == row.from {
                return Err("the dtype has two lines in its block");
            }
            i += 1;
        }
        self.rows[i] = row;
        self.count += 1;
        Ok(())
    }

    /// Writes the classes of the block to `costs`.
    const fn read(&self, text: &[u8], costs: &mut Costs) -> Result<(), TableError> {
        let mut i = 0;
        while i < self.count {
            let row = self.rows[i];
            if row.end - row.start != self.count {
                let reason = "the line has not as many classes as its block has lines of dtypes";
                return Err(TableError { line: row.line, reason });
            }
            let mut k = 0;
            while k < self.count {
                costs.pairs[row.from][self.rows[k].from] = match class(text[row.start + k]) {
                    Some(class) if class < CLASSES => class,
                    _ => {
                        return Err(TableError {
                            line: row.line,
                            reason: "a class is a digit or a small letter",
                        });
                    }
                };
                k += 1;
            }
            i += 1;
        }
        Ok(())
    }
}

/// Parses a table in the format of [`TEXT`].
///
/// # Errors
///
/// The first malformed line.
pub const fn parse(text: &str) -> Result<Table, TableError> {
    let text = text.as_bytes();
    let mut table = [Costs::EMPTY; Tier::ALL.len()];
    let mut seen = [false; Tier::ALL.len()];
    // The tier of the current block, and its lines so far.
    let mut block: Option<usize> = None;
    let mut rows = Rows::EMPTY;
    let (mut at, mut line) = (0, 0);
    while at < text.len() {
        line += 1;
        let start = at;
        while at < text.len() && text[at] != b'\n' {
            at += 1;
        }
        let end = at;
        at += 1;
        if start == end || text[start] == b'#' {
            continue;
        }
        // A name, spaces and one more word.
        let mut name = start;
        while name < end && text[name] != b' ' {
            name += 1;
        }
        let mut word = name;
        while word < end && text[word] == b' ' {
            word += 1;
        }
        if is(text, start, name, "tier") {
            if let Some(tier) = block
                && let Err(error) = rows.read(text, &mut table[tier])
            {
                return Err(error);
            }
            let mut tier = 0;
            while tier < Tier::ALL.len() && !is(text, word, end, Tier::ALL[tier].name()) {
                tier += 1;
            }
            if tier == Tier::ALL.len() {
                return Err(TableError { line, reason: "there is no tier of this name" });
            }
            if seen[tier] {
                return Err(TableError { line, reason: "the tier has two blocks" });
            }
            seen[tier] = true;
            block = Some(tier);
            rows = Rows::EMPTY;
            continue;
        }
        let Some(tier) = block else {
            return Err(TableError { line, reason: "the first line names a tier" });
        };
        let mut term = 0;
        while term < Term::ALL.len() && !is(text, start, name, Term::ALL[term].name()) {
            term += 1;
        }
        if term < Term::ALL.len() {
            table[tier].terms[term] = match class(text[if word < end { word } else { start }]) {
                Some(class) if end - word == 1 => class,
                _ => return Err(TableError { line, reason: "a term has one class, or a dash" }),
            };
            continue;
        }
        // Most tables have all dtypes in order.
        let mut tried = 0;
        let mut from = rows.count % COUNT;
        while tried < COUNT && !is(text, start, name, DType::EVERY[from].name()) {
            from = (from + 1) % COUNT;
            tried += 1;
        }
        if tried == COUNT {
            return Err(TableError { line, reason: "there is no dtype and no term of this name" });
        }
        if let Err(reason) = rows.push(Row { from, start: word, end, line }) {
            return Err(TableError { line, reason });
        }
    }
    if let Some(tier) = block
        && let Err(error) = rows.read(text, &mut table[tier])
    {
        return Err(error);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, &'static str) {
        let error = parse(text).expect_err(text);
        (error.line, error.reason)
    }

    #[test]
    fn scale() {
        assert_eq!([0, 1, 2, 3, 10].map(picoseconds), [10, 14, 20, 28, 320]);
        assert_eq!(picoseconds(NOTHING), 0);
        assert!((1..CLASSES).all(|k| picoseconds(k - 1) < picoseconds(k)));
    }

    /// Fails for a new dtype or tier: `lanecast-bench costs --bless` measures it.
    #[test]
    fn nothing_is_missing() {
        for tier in Tier::ALL {
            let costs = Costs::of(*tier);
            for (row, from) in costs.pairs.iter().zip(DType::EVERY) {
                for (class, to) in row.iter().zip(DType::EVERY) {
                    assert!(*class < CLASSES, "{from} to {to} on {tier} has no cost class");
                }
            }
        }
        for line in Term::ALL.iter().map(|term| term.name()) {
            let lines = TEXT.lines().filter(|text| text.split(' ').next() == Some(line));
            assert_eq!(lines.count(), Tier::ALL.len(), "{line}");
        }
    }

    /// Checks relations that every sound measurement satisfies.
    #[test]
    fn order() {
        use DType::{Complex64, Complex128, Float8E4M3FN, Float32, Float64, Int8, UInt8};
        for tier in Tier::ALL {
            let class = |from: DType, to: DType| Costs::of(*tier).pairs[from as usize][to as usize];
            // Copies take longer for longer elements, and no pair is faster than a copy of bytes, as far as noise allows the comparison.
            let copies = [UInt8, Float32, Float64, Complex128].map(|dtype| class(dtype, dtype));
            assert!(copies.is_sorted() && copies[0] < copies[3], "{tier}: {copies:?}");
            let least = Costs::of(*tier).pairs.iter().flatten().min();
            assert!(least.is_some_and(|least| copies[0] <= least + 2), "{tier}");
            assert!(class(Float32, Float32) <= class(Float32, Float8E4M3FN), "{tier}");
            assert!(class(Int8, UInt8) <= class(Complex64, Complex128), "{tier}");
        }
        // A vector tier exists because it is faster.
        let sum = |tier| {
            let pairs = Costs::of(tier).pairs;
            pairs.iter().flatten().map(|class| u64::from(picoseconds(*class))).sum::<u64>()
        };
        assert!([Tier::Avx2, Tier::Avx512, Tier::Neon].iter().all(|tier| 2 * sum(*tier) < sum(Tier::Scalar)));
    }

    #[test]
    fn tables() {
        let text =
            "# A comment.\ntier avx2\nint8   05\nuint8  1z\n\nswap   3\npack   -\n\ntier neon\nuint8 7\n";
        let table = parse(text).expect(text);
        let (i, u) = (DType::Int8, DType::UInt8);
        let pairs = |tier: Tier| {
            let pairs = table[tier as usize].pairs;
            [(i, i), (i, u), (u, i), (u, u)].map(|(from, to)| pairs[from as usize][to as usize])
        };
        assert_eq!(pairs(Tier::Avx2), [0, 5, 1, 35]);
        assert_eq!(pairs(Tier::Neon), [NOTHING, NOTHING, NOTHING, 7]);
        let avx2 = &table[Tier::Avx2 as usize];
        assert_eq!(avx2.terms, [NOTHING, NOTHING, NOTHING, 3, NOTHING]);
        assert_eq!(table[0], Costs::EMPTY);
        assert_eq!(avx2.picoseconds(i, u, &[0; 5]), 56);
        assert_eq!(avx2.picoseconds(i, u, &[1, 0, 1, 2, 0]), 56 + 2 * 28);
        assert_eq!(avx2.picoseconds(DType::Bool, u, &[0; 5]), 0);
        assert_eq!(parse(""), Ok([Costs::EMPTY; Tier::ALL.len()]));
    }

    #[test]
    fn faults() {
        let of = |text: &str| fault(text).0;
        assert_eq!(fault("int8 0"), (1, "the first line names a tier"));
        assert_eq!(fault("tier mmx\n"), (1, "there is no tier of this name"));
        assert_eq!(fault("tier avx2\n\ntier avx2"), (3, "the tier has two blocks"));
        assert_eq!(fault("tier avx2\nint9 0\n"), (2, "there is no dtype and no term of this name"));
        assert_eq!(fault("tier avx2\nint 0\n"), (2, "there is no dtype and no term of this name"));
        assert_eq!(fault("tier avx2\nint8 00\nint8 00\n"), (3, "the dtype has two lines in its block"));
        for row in ["0", "000", "", "0 0", "00 "] {
            let text = std::format!("tier avx2\nint8 00\nuint8 {row}\n");
            assert!(fault(&text).1.starts_with("the line has not as many classes"), "{text}");
        }
        assert_eq!((of("tier avx2\nint8 A\n"), of("tier avx2\nint8 -\n")), (2, 2));
        for term in ["swap", "swap 00", "swap A", "swap 1 2"] {
            let text = std::format!("tier avx2\n{term}\n");
            assert_eq!(fault(&text), (2, "a term has one class, or a dash"));
        }
    }
}
