//! Faults planted in the promotion tables: each of them is found, and the message says in which file, row and column.
#![cfg(feature = "promote")]

#[allow(dead_code, reason = "the build script uses the rest")]
#[path = "../build/tables.rs"]
mod tables;

use crate::grid;
use lanecast::DType;
use tables::STANDARDS;

fn dtypes() -> Vec<&'static str> {
    DType::ALL.iter().map(|dtype| dtype.name()).collect()
}

fn parse(file: &str, standard: &str, text: &str) -> Result<tables::Table, grid::Faults> {
    tables::parse(&dtypes(), file, standard, text)
}

fn can_cast(file: &str, text: &str) -> Result<String, grid::Faults> {
    tables::can_cast(&dtypes(), file, text)
}

fn path(name: &str) -> String {
    format!("src/promote/{name}.tsv")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{}/{}", env!("CARGO_MANIFEST_DIR"), path(name))).expect("a table")
}

/// A table as lines of cells.
type Lines = Vec<Vec<String>>;

fn lines(name: &str) -> Lines {
    text(name).lines().map(|line| line.split('\t').map(String::from).collect()).collect()
}

fn join(lines: &Lines) -> String {
    lines.iter().map(|cells| cells.join("\t") + "\n").collect()
}

/// The line that starts with this cell.
fn line(lines: &Lines, name: &str) -> usize {
    lines.iter().position(|cells| cells[0] == name).unwrap_or_else(|| panic!("no line {name}"))
}

/// A cell by the names of its row and column.
fn cell<'a>(lines: &'a mut Lines, table: &str, row: &str, column: &str) -> &'a mut String {
    let head = line(lines, table);
    let column = lines[head].iter().position(|name| name == column).expect("a column");
    let row = line(lines, row);
    &mut lines[row][column]
}

fn faults(name: &str, lines: &Lines) -> Vec<String> {
    parse(&path(name), name, &join(lines)).expect_err("a fault")
}

#[test]
fn the_tables_are_sound() {
    for standard in STANDARDS {
        parse(&path(standard), standard, &text(standard)).unwrap_or_else(|faults| panic!("{faults:?}"));
    }
    can_cast(&path("numpy_can_cast"), &text("numpy_can_cast")).unwrap_or_else(|faults| panic!("{faults:?}"));
}

#[test]
fn a_wrong_cell_is_named() {
    let planted = |name: &str, row: &str, column: &str, value: &str| {
        let mut lines = lines(name);
        *cell(&mut lines, name, row, column) = value.into();
        faults(name, &lines)
    };
    let at = "src/promote/torch.tsv, row int8, column uint8:";
    assert_eq!(
        planted("torch", "int8", "uint8", "int17")[0],
        format!("{at} int17 is not the name of a dtype")
    );
    assert_eq!(planted("torch", "int8", "uint8", ""), [format!("{at} the cell is empty")]);
    assert_eq!(
        planted("torch", "int8", "uint8", "int32"),
        [format!(
            "{at} int32, but src/promote/torch.tsv, row uint8, column int8: int16; a table is symmetric"
        )]
    );
    assert_eq!(
        planted("megengine", "int8", "int8", "int16"),
        ["src/promote/megengine.tsv, row int8, column int8: int16; a dtype with itself is itself"]
    );
    assert_eq!(
        planted("jax", "int*", "int*", "float64*"),
        ["src/promote/jax.tsv, row int*, column int*: float64*; a dtype with itself is itself"]
    );
    assert_eq!(
        planted("torch", "int8", "Python float", "float32*"),
        [
            "src/promote/torch.tsv, row int8, column Python float: float32* is weak, but the table has no weak types"
        ]
    );
    assert_eq!(
        planted("megengine", "int8", "Python float", "float64"),
        ["src/promote/megengine.tsv, row int8, column Python float: float64 is not a dtype of this table"]
    );
}

#[test]
fn a_wrong_shape_is_named() {
    let planted = |change: &dyn Fn(&mut Lines)| {
        let mut lines = lines("megengine");
        change(&mut lines);
        faults("megengine", &lines)
    };
    let row = |lines: &Lines| line(lines, "int16");
    let file = "src/promote/megengine.tsv";
    let missing_row = planted(&|lines| drop(lines.remove(row(lines))));
    assert_eq!(missing_row, [format!("{file}: row 3 is int32 but column 3 is int16")]);
    let missing_cell = planted(&|lines| drop(lines[5].pop()));
    assert!(missing_cell[0].starts_with(&format!("{file}, line 6, row ")), "{missing_cell:?}");
    let twice = planted(&|lines| lines.push(lines[row(lines)].clone()));
    assert_eq!(twice, [format!("{file}: row 9 is a second int16")]);
    let unknown = planted(&|lines| {
        let (head, row) = (line(lines, "megengine"), row(lines));
        lines[head][3] = "int17".into();
        lines[row][0] = "int17".into();
    });
    assert_eq!(unknown, [format!("{file}, column int17: not the name of a dtype")]);
    let other = parse(file, "torch", &text("megengine")).expect_err("another table");
    assert_eq!(other, [format!("{file}: the head starts with \"megengine\" instead of \"torch\"")]);
    assert_eq!(parse(file, "megengine", "# nothing\n").expect_err("no head"), [format!("{file}: no head")]);
}

/// Whatever one pair is changed to, the build stops and names it.
#[test]
fn no_pair_can_be_changed_alone() {
    for standard in STANDARDS {
        let sound = lines(standard);
        let head = line(&sound, standard);
        let names: Vec<String> =
            sound[head][1..].iter().filter(|n| !n.starts_with("Python")).cloned().collect();
        for (i, row) in names.iter().enumerate() {
            for (j, column) in names.iter().enumerate() {
                let mut planted = sound.clone();
                let cell = &mut planted[head + 1 + i][1 + j];
                *cell = if cell == "-" { "bool" } else { "-" }.into();
                let found = faults(standard, &planted).join("\n");
                assert!(found.contains(&format!("row {row}, column {column}:")), "{standard}: {found}");
            }
        }
    }
}

#[test]
fn faults_in_castings_are_named() {
    let name = "numpy_can_cast";
    let mut planted = lines(name);
    *cell(&mut planted, name, "int8", "uint8") = "perhaps".into();
    let found = can_cast(&path(name), &join(&planted)).expect_err("a fault");
    assert_eq!(found, ["src/promote/numpy_can_cast.tsv, row int8, column uint8: perhaps is no casting"]);
    let mut planted = lines(name);
    planted.pop();
    let found = can_cast(&path(name), &join(&planted)).expect_err("a fault");
    assert_eq!(found, ["src/promote/numpy_can_cast.tsv: the rows are not the columns"]);
}
