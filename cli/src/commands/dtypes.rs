//! `lanecast dtypes`.

use lanecast::{DType, Flavor, FloatSpec, Kind, Spec};
use serde::Serialize;

use crate::{error::Result, output, report::json, text};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    code: u8,
    bits: u32,
    kind: &'static str,
    aliases: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Layout>,
}

/// The layout of a float, or of a component of a complex number.
#[derive(Serialize)]
struct Layout {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    signed: bool,
    infinity: bool,
    nan: bool,
}

impl Row {
    fn new(dtype: DType) -> Self {
        Self {
            name: dtype.name(),
            code: dtype.code(),
            bits: dtype.bits(),
            kind: match dtype.kind() {
                Kind::Bool => "bool",
                Kind::SignedInt => "signed integer",
                Kind::UnsignedInt => "unsigned integer",
                Kind::Float => "float",
                Kind::Complex => "complex",
            },
            aliases: dtype.aliases(),
            format: match dtype.spec() {
                Spec::Float(format) | Spec::Complex(format) => Some(Layout::new(format)),
                Spec::Bool | Spec::Int { .. } => None,
            },
        }
    }

    fn remarks(&self) -> String {
        let Some(format) = &self.format else { return String::new() };
        let sign = if format.signed { "1-" } else { "0-" };
        let mut remarks =
            format!("{sign}{}-{}, bias {}", format.exponent_bits, format.mantissa_bits, format.bias);
        if !format.infinity {
            remarks.push_str(", no infinity");
        }
        if !format.nan {
            remarks.push_str(", no NaN");
        }
        remarks
    }
}

impl Layout {
    fn new(format: FloatSpec) -> Self {
        Self {
            exponent_bits: format.exponent_bits,
            mantissa_bits: format.mantissa_bits,
            bias: format.bias,
            signed: format.signed(),
            infinity: format.flavor == Flavor::Ieee,
            nan: format.flavor != Flavor::Finite,
        }
    }
}

/// Runs the subcommand.
pub fn run(as_json: bool) -> Result<()> {
    let rows: Vec<Row> = DType::ALL.iter().map(|dtype| Row::new(*dtype)).collect();
    if as_json {
        return output::print(&json(&rows)?);
    }
    let mut table = vec![["name", "bits", "kind", "layout", "also"].map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![row.name.into(), row.bits.to_string(), row.kind.into(), row.remarks(), row.aliases.join(" ")]
    }));
    output::print_styled(&text::headed(&table))
}
