//! The tables that `build.rs` generates, and the meaning of their cells.

use lanecast_kernels::{DType, Kind};

/// A standard's tables: pairs, indexed by the codes of the dtypes followed by the weak types, and Python numbers.
struct Table {
    pairs: [[u8; SIDE]; SIDE],
    numbers: [[u8; 4]; COUNT],
}

#[rustfmt::skip]
mod made {
    use super::Table;
    include!(concat!(env!("OUT_DIR"), "/promotion.rs"));
}

pub(super) use made::{IDS, NUMPY_CAN_CAST};

const COUNT: usize = DType::EVERY.len();
/// The weak types of JAX follow the dtypes, in this order.
pub(super) const WEAK_INT: usize = COUNT;
pub(super) const WEAK_FLOAT: usize = COUNT + 1;
pub(super) const WEAK_COMPLEX: usize = COUNT + 2;
const SIDE: usize = COUNT + 3;

/// The content of a cell.
pub(super) enum Answer {
    Strong(DType),
    Weak(DType),
    /// A dtype that lanecast does not have.
    Foreign(&'static str),
    Refused,
    /// The row or the column is not in the table.
    Absent,
}

const fn answer(cell: u8) -> Answer {
    match cell {
        made::ABSENT => Answer::Absent,
        made::REFUSED => Answer::Refused,
        made::FIRST_FOREIGN.. => Answer::Foreign(made::FOREIGN[(cell - made::FIRST_FOREIGN) as usize]),
        _ => {
            let dtype = DType::EVERY[(cell & !made::WEAK_RESULT) as usize];
            if cell & made::WEAK_RESULT != 0 { Answer::Weak(dtype) } else { Answer::Strong(dtype) }
        }
    }
}

/// The cell of two dtypes or weak types, by the number of a standard.
pub(super) const fn pair(standard: usize, a: usize, b: usize) -> Answer {
    answer(made::TABLES[standard].pairs[a][b])
}

/// The cell of an array and a kind of number; absent in standards that have weak types or no numbers.
pub(super) const fn number(standard: usize, array: DType, number: usize) -> Answer {
    answer(made::TABLES[standard].numbers[array.code() as usize][number])
}

/// The index of the weak type of a dtype's kind. There is no weak bool.
pub(super) const fn weak(dtype: DType) -> usize {
    match dtype.kind() {
        Kind::Bool => dtype.code() as usize,
        Kind::SignedInt | Kind::UnsignedInt => WEAK_INT,
        Kind::Float => WEAK_FLOAT,
        Kind::Complex => WEAK_COMPLEX,
    }
}

// The build script has a list of its own: the rows of `src/names.tsv`.
const _: () = {
    assert!(made::NAMES.len() == COUNT, "the rows of src/names.tsv are not the dtypes");
    let mut i = 0;
    while i < COUNT {
        assert!(same(made::NAMES[i], DType::EVERY[i].name()), "the rows of src/names.tsv are not the dtypes");
        i += 1;
    }
};

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
