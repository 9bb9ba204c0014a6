//! `docs/semantics.md` says what the program does: its tables are read, and every cell is compared with real casts.
//!
//! *Law.* A cell that is counted here cannot be wrong unnoticed: the last test changes every digit of every such cell,
//! one at a time, and each change has to be reported. The numbers of tables and cells stand in [`SECTIONS`], so that a
//! table which the reader no longer understands is a failure, not a silence.
//!
//! *Method.* Most cells are rendered from casts of what stands in their row, on every available tier, and compared as
//! text. Conditions such as `|x| >= 65520` are tried with the `float64`s on both sides of the bound, of both signs.
//! Where a column says which number a code is, the two are compared.
//!
//! *Not covered:* the tables of [`ELSEWHERE`]; in section 3 the targets of the options; in 4.2 the rules for NaNs of the
//! wide floats, from small floats, and for 4 and 6 bits (the table of codes there shows all three); in 5.3 the table in
//! words (the table of numbers shows what it says); in 6.5 what is rounded (the other tables); all running text.
#![cfg(feature = "text")]

#[path = "document/cells.rs"]
mod cells;
#[path = "document/checks.rs"]
mod checks;

use cells::*;
use checks::*;
use lanecast::CastOptions;
use std::collections::BTreeMap;

/// A section, the number of its cells that are checked, and for each table the first column to check and how.
const SECTIONS: &[(&str, usize, Checks)] = &[
    ("3", 10 * 2 + 6, &[(0, option_values), (1, profiles)]),
    (
        "4.1",
        3 * 3 + 17 * 3 + 9 * 3 + 8 * 5 + 14 * 7,
        &[(1, wide_bounds), (1, edges), (1, double_rounding), (1, edges), (1, edges)],
    ),
    ("4.2", 9 + 16 * 10, &[(1, nan_rules), (2, nan_codes)]),
    ("4.4", 7 * 5, &[(1, edges)]),
    ("5.1", 11 * 2, &[(3, int_to_int)]),
    ("5.2", 8 * 6 + 8 * 8, &[(1, int_to_float), (1, int_to_float)]),
    ("5.3", 12 * 6 + 9 * 5, &[(0, prose), (1, float_to_int), (1, int_round)]),
    ("6.1", 12 * 7, &[(0, eight_bits)]),
    ("6.2", 33 * 8, &[(1, edges)]),
    ("6.3", 14 + 16 * 7 + 12 * 7 + 7 * 7, &[(0, eight_bits), (1, edges), (1, edges)]),
    ("6.5", 15 + 19 * 4 + 19 * 5, &[(1, e8m0_range), (1, edges), (1, edges)]),
    ("6.6", 3 * 6 + 21 * 3 + 10 * 7, &[(1, tiny_bounds), (1, tiny_values), (1, edges)]),
    ("8.1", 20 * 9, &[(1, parsed)]),
    ("8.2", 26, &[(2, formatted)]),
    ("11", 26 * 2, &[(0, prose), (3, verdict)]),
];

/// Sections whose tables are not compared here, and how many they have: the formats and storages, the map of the rules,
/// other systems, ONNX (which `tests/onnx.rs` compares).
const ELSEWHERE: &[(&str, usize)] =
    &[("1", 2), ("2", 1), ("6.4", 1), ("8.3", 1), ("9", 2), ("9.1", 1), ("10", 1)];

/// What a cell should say: the cell itself if it is right.
type Check = fn(&Cell) -> Found;
/// The first column to check of each table, and how.
type Checks = &'static [(usize, Check)];

/// Calls `see` with the checked cells of a section, what checks them, and what they should say.
fn walk(section: &str, checks: Checks, mut see: impl FnMut(&Cell, Check, Found)) {
    for (table, (first, check)) in tables().iter().filter(|table| table.section == section).zip(checks) {
        for row in 0..table.rows.len() {
            for column in *first..table.head.len() {
                let cell = Cell { table, row, column };
                let right = check(&cell);
                if right != Err(PROSE.into()) {
                    see(&cell, *check, right);
                }
            }
        }
    }
}

#[test]
fn every_table_has_its_place() {
    let mut count = BTreeMap::new();
    tables().iter().for_each(|table| *count.entry(table.section).or_insert(0) += 1);
    let here = SECTIONS.iter().map(|(section, _, checks)| (*section, checks.len()));
    assert_eq!(count, here.chain(ELSEWHERE.iter().copied()).collect());
    // Section 3 has all options, their defaults first, and all profiles.
    let defaults: Vec<_> = OPTIONS.iter().map(|(name, values)| format!("{name}: {}", values[0])).collect();
    assert_eq!(format!("{RUST:?}"), format!("CastOptions {{ {} }}", defaults.join(", ")));
    assert_eq!([10, 6], [OPTIONS.len(), CastOptions::PROFILES.len()], "the rows of section 3");
}

#[test]
fn every_cell_is_what_casts_return() {
    let mut wrong = String::new();
    for (section, cells, checks) in SECTIONS {
        let mut checked = 0;
        walk(section, checks, |cell, _, right| {
            checked += 1;
            if right.as_deref() != Ok(cell.text()) {
                let (line, right) = (cell.table.line + cell.row, right.unwrap_or_else(|why| why));
                wrong += &format!("\nsemantics.md:{line}: {:?} should be {right}", cell.text());
            }
        });
        assert_eq!(checked, *cells, "section {section}: this many cells are checked");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_wrong_digit_is_found() {
    for (section, _, checks) in SECTIONS {
        walk(section, checks, |cell, check, _| {
            // What follows these words only explains.
            let end = [", tie", "nothing. "].into_iter().find_map(|words| cell.text().find(words));
            for (at, old) in cell.text()[..end.unwrap_or(cell.text().len())].char_indices() {
                let new = match old {
                    '0'..='8' | 'A'..='E' => char::from(old as u8 + 1),
                    '9' | 'F' => '0',
                    _ => continue,
                };
                let mut table = cell.table.clone();
                table.rows[cell.row][cell.column].replace_range(at..=at, &new.to_string());
                let changed = Cell { table: &table, ..*cell };
                let found = check(&changed).as_deref() != Ok(changed.text());
                assert!(found, "{section}: {:?} passes for {:?}", changed.text(), cell.text());
            }
        });
    }
}
