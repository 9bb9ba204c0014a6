//! `lanecast check`.

use lanecast_checkpoint::{Checked, Severity, check};

use crate::{
    args::Check,
    error::{Failure, Result},
    output,
    report::json,
    terminal, text,
};

/// Runs the subcommand. It fails without a message if there are findings, which are its output.
pub fn run(args: &Check) -> Result<()> {
    let checked = check(&args.input, args.loader)?;
    if args.json {
        output::print(&json(&checked)?)?;
    } else {
        let mut out: String = checked.findings.iter().map(|finding| format!("{finding}\n")).collect();
        if !terminal::quiet() {
            out.push_str(&summary(&checked));
        }
        output::print(&out)?;
    }
    if checked.findings.is_empty() { Ok(()) } else { Err(Failure::findings()) }
}

/// The last line for people.
fn summary(checked: &Checked) -> String {
    let errors = checked.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let found = match (errors, checked.findings.len() - errors) {
        (0, 0) => "no findings".to_owned(),
        (errors, warnings) => {
            format!("{}, {}", text::count(errors as u64, "error"), text::count(warnings as u64, "warning"))
        }
    };
    let loader = checked.loader.as_ref().map(|loader| format!(", for {loader}")).unwrap_or_default();
    format!(
        "{found}: {}, {} with codes, layout {}{loader}\n",
        text::count(checked.tensors as u64, "tensor"),
        text::count(checked.weights as u64, "weight"),
        checked.layout,
    )
}
