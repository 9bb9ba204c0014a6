//! A tab-separated file as a grid: comments, a head, and rows that each start with their name.

/// The faults of a file, each of which says where it is.
pub type Faults = Vec<String>;

/// A head and named rows of as many cells.
pub struct Grid<'a> {
    file: &'a str,
    /// The first cell of the head.
    pub corner: &'a str,
    /// The other cells of the head.
    pub columns: Vec<&'a str>,
    /// The name and the cells of every row.
    pub rows: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Grid<'a> {
    /// Reads the text of `file`. Rows have as many cells as the head, none of them empty; names do not come twice.
    pub fn read(file: &'a str, text: &'a str) -> Result<Self, Faults> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#'))
            .map(|(i, line)| (i + 1, line.split('\t').collect::<Vec<_>>()));
        let Some((_, head)) = lines.next() else { return Err(vec![format!("{file}: no head")]) };
        let mut grid = Grid { file, corner: head[0], columns: head[1..].to_vec(), rows: Vec::new() };
        let mut faults = Vec::new();
        for (line, cells) in lines {
            if cells.len() != head.len() {
                let (have, need) = (cells.len(), head.len());
                faults.push(format!(
                    "{file}, line {line}, row {}: {have} cells, the head has {need}",
                    cells[0]
                ));
            } else if let Some(empty) = cells.iter().position(|cell| cell.is_empty()) {
                faults.push(format!("{}: the cell is empty", grid.at(cells[0], head[empty])));
            } else {
                grid.rows.push((cells[0], cells[1..].to_vec()));
            }
        }
        let names: Vec<&str> = grid.rows.iter().map(|(name, _)| *name).collect();
        for (what, names) in [("column", &grid.columns), ("row", &names)] {
            for (i, name) in names.iter().enumerate().filter(|(i, name)| names[..*i].contains(name)) {
                faults.push(format!("{file}: {what} {} is a second {name}", i + 1));
            }
        }
        if faults.is_empty() { Ok(grid) } else { Err(faults) }
    }

    /// Where a cell is.
    pub fn at(&self, row: &str, column: &str) -> String {
        format!("{}, row {row}, column {column}", self.file)
    }
}
