//! `lanecast table`.

use lanecast::{
    DType,
    promote::{Operand, Standard, is_lossless, promote_all},
};
use serde::Serialize;

use crate::{
    args::{TableCommand, TableFormat},
    error::Result,
    output,
    report::json,
    text,
};

/// A square table of dtypes.
#[derive(Serialize)]
struct Square {
    #[serde(skip)]
    corner: &'static str,
    table: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard: Option<&'static str>,
    /// The names of the rows and of the columns.
    dtypes: Vec<&'static str>,
    cells: Vec<Vec<String>>,
}

impl Square {
    fn new(dtypes: &[DType], cell: impl Fn(DType, DType) -> String) -> Self {
        Self {
            corner: "from",
            table: "cast",
            standard: None,
            dtypes: dtypes.iter().map(|dtype| dtype.name()).collect(),
            cells: dtypes.iter().map(|a| dtypes.iter().map(|b| cell(*a, *b)).collect()).collect(),
        }
    }

    fn promote(standard: Standard) -> Self {
        let dtypes: Vec<DType> = standard.dtypes().collect();
        let square =
            Self::new(&dtypes, |a, b| match promote_all(standard, &[Operand::Array(a), Operand::Array(b)]) {
                Ok(result) if result.weak => format!("{}*", result.dtype),
                Ok(result) => result.dtype.to_string(),
                Err(_) => "-".to_owned(),
            });
        Self { corner: "standard", table: "promote", standard: Some(standard.id()), ..square }
    }

    /// The head and the rows, each preceded by its name.
    fn lines(&self) -> Vec<Vec<String>> {
        let names = self.dtypes.iter().map(|name| (*name).to_owned());
        let head = std::iter::once(self.corner.to_owned()).chain(names.clone()).collect();
        let rows = names.zip(&self.cells).map(|(name, cells)| [&[name], &cells[..]].concat());
        std::iter::once(head).chain(rows).collect()
    }

    fn render(&self, format: TableFormat) -> Result<String> {
        let lines = self.lines();
        Ok(match format {
            TableFormat::Text => text::headed(&lines),
            // Names of dtypes need no quotes.
            TableFormat::Csv => lines.iter().map(|line| line.join(",") + "\n").collect(),
            TableFormat::Md => {
                let rule = format!("|{}\n", "---|".repeat(self.dtypes.len() + 1));
                let mut rows = lines.iter().map(|line| format!("| {} |\n", line.join(" | ")));
                let head = rows.next().unwrap_or_default();
                head + &rule + &rows.collect::<String>()
            }
            TableFormat::Json => json(self)?,
        })
    }
}

/// Runs the subcommand.
pub fn run(table: &TableCommand) -> Result<()> {
    let (square, format) = match *table {
        TableCommand::Promote { standard, format } => (Square::promote(standard), format),
        TableCommand::Cast { format } => {
            let cell = |from, to| u8::from(is_lossless(from, to)).to_string();
            (Square::new(DType::ALL, cell), format)
        }
    };
    output::print_styled(&square.render(format)?)
}
