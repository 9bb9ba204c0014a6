//! Readers of the files in `tests/data`; their forms are described in its README.

use lanecast::{CastOptions, DType, E8M0Round, IntOverflow, Kind, Saturate};

/// The text of a data file.
macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("data/", $name))
    };
}

/// The rows of a table without comments, its head first.
pub fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

/// The rows of a table where an empty cell repeats the one above and `-` is an empty cell.
pub fn ditto_rows(text: &str) -> Vec<Vec<&str>> {
    let mut rows = rows(text);
    let mut above = rows[0].clone();
    for row in &mut rows {
        row.resize(above.len(), "");
        for (cell, above) in row.iter_mut().zip(&above).filter(|(cell, _)| cell.is_empty()) {
            *cell = above;
        }
        above.clone_from(row);
    }
    for cell in rows.iter_mut().flatten().filter(|cell| **cell == "-") {
        *cell = "";
    }
    rows
}

/// A table of codes as runs `[value:]count[+step]`.
pub fn runs(text: &str) -> Vec<u128> {
    let hex = |digits: &str| u128::from_str_radix(digits, 16).expect("a hexadecimal number");
    let (mut codes, mut next) = (Vec::new(), 0);
    for token in text.split(' ') {
        let (value, count) = token.rsplit_once(':').map_or((next, token), |(value, rest)| (hex(value), rest));
        let (count, step) = count.split_once('+').map_or((count, 0), |(count, step)| (count, hex(step)));
        codes.extend((0..hex(count)).map(|k| value + k * step));
        next = codes.last().expect("runs are not empty") + 1;
    }
    codes
}

/// A code in hexadecimal; the zeros at the end of wide floats are left out.
pub fn code(dtype: DType, digits: &str) -> u128 {
    let full = match dtype {
        DType::Float16 | DType::BFloat16 => 4,
        DType::Float32 => 8,
        DType::Float64 => 16,
        _ => digits.len(),
    };
    u128::from_str_radix(&format!("{digits:0<full$}"), 16).unwrap_or_else(|e| panic!("{digits:?}: {e}"))
}

/// The dtype of this short name.
pub fn dtype(name: &str) -> DType {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The dtype and the options in the name of a column: `e8m0_up_nosat`, `i4_wrap`, `bf16`.
pub fn target(column: &str) -> (DType, CastOptions) {
    let mut words = column.split('_');
    let to = dtype(words.next().unwrap_or_default());
    let float = to.kind() == Kind::Float;
    let options = words.fold(CastOptions::RUST, |options, word| match (word, float) {
        ("sat", true) => options.with_saturate(Saturate::On),
        ("nosat", true) => options.with_saturate(Saturate::Off),
        ("up", true) => options.with_e8m0_round(E8M0Round::Up),
        ("down", true) => options.with_e8m0_round(E8M0Round::Down),
        ("nearest", true) => options.with_e8m0_round(E8M0Round::Nearest),
        ("sat", false) => options.with_float_to_int(IntOverflow::Saturate),
        ("wrap", false) => options.with_float_to_int(IntOverflow::Wrap),
        _ => panic!("unknown option {word:?} in {column:?}"),
    });
    (to, options)
}

/// A table of `promotion.tsv`: what it is called, its columns, and its rows with as many cells.
pub struct Section<'a> {
    pub title: &'a str,
    pub columns: Vec<&'a str>,
    pub rows: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Section<'a> {
    /// Row, column, cell.
    pub fn cells(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.rows.iter().flat_map(|(row, cells)| {
            self.columns.iter().zip(cells).map(|(column, cell)| (*row, *column, *cell))
        })
    }
}

/// The tables of `promotion.tsv`: `@` and a title, the columns, then rows of runs `value[:count]`.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("@ ") {
            sections.push(Section { title, columns: Vec::new(), rows: Vec::new() });
            continue;
        }
        let section = sections.last_mut().expect("a title comes first");
        if section.columns.is_empty() {
            section.columns = line.split('\t').collect();
            continue;
        }
        let (row, runs) = line.split_once('\t').expect("a row and its cells");
        let cells: Vec<&str> = runs
            .split(' ')
            .flat_map(|run| {
                let (cell, count) = run.split_once(':').unwrap_or((run, "1"));
                std::iter::repeat_n(cell, count.parse().expect("a count"))
            })
            .collect();
        assert_eq!(cells.len(), section.columns.len(), "{}, row {row}", section.title);
        section.rows.push((row, cells));
    }
    sections
}
