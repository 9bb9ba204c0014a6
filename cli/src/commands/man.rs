//! `lanecast man`: man pages, made from the text that `--help` prints.

use std::{fs, io, io::Write};

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;
use lanecast_files::Output;

use crate::{
    args::{Cli, Man},
    error::{Failure, Result},
    help, output, signals,
};

/// Runs the subcommand.
pub fn run(args: &Man) -> Result<()> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let cannot = |e: io::Error| Failure::io(format!("cannot make the page, {e}"));
    let Some(folder) = &args.out_dir else {
        return output::print(&page(&program).map_err(cannot)?);
    };
    signals::watch();
    fs::create_dir_all(folder)
        .map_err(|e| Failure::system("cannot create the folder", &e).at_path(folder))?;
    for command in all(&program) {
        let path = folder.join(format!("{}.1", name(command)));
        let mut output = Output::create(&path, args.force)?;
        let text = page(command).map_err(cannot)?;
        output.writer().write_all(text.as_bytes()).map_err(|e| Failure::writing(&e).at_path(&path))?;
        output.commit()?;
    }
    Ok(())
}

/// `command` and all its subcommands, at every level.
fn all(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
}

/// The name of the page of `command`, such as `lanecast-table-cast`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

/// The text that `clap_mangen` puts before every section.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The page of `command`. The text below the options is laid out already and is kept as it is.
fn page(command: &Command) -> io::Result<String> {
    let man = Page::new(command.clone());
    let usage = command.clone().render_usage().to_string();
    let mut out = Vec::new();
    man.render_name_section(&mut out)?;
    writeln!(out, ".SH SYNOPSIS\n{}", literal(usage.trim_start_matches("Usage: ")))?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let below = command.get_after_long_help().or(command.get_after_help());
    let below = below.map(ToString::to_string).unwrap_or_default();
    let (examples, notes) = below.split_once("\n\n").unwrap_or((&below, ""));
    let examples = examples.split_once('\n').map_or("", |(_, list)| list);
    let (notes, exit) = match notes.strip_prefix(help::EXIT) {
        Some(codes) => ("", codes.trim_start_matches('\n')),
        None => (notes, ""),
    };
    for (heading, text) in [("EXAMPLES", examples), ("NOTES", notes), ("EXIT STATUS", exit)] {
        if !text.is_empty() {
            writeln!(out, ".SH {heading}\n.nf\n{}\n.fi", literal(text))?;
        }
    }
    // A blank line within a paragraph, in the form that linters accept.
    let body = String::from_utf8_lossy(&out).replace(PREAMBLE, "").replace("\n.br\n\n.br\n", "\n.sp\n");
    let title = name(command).to_ascii_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    // There is no date, so that the page of a version is the same whenever it is made.
    Ok(format!("{PREAMBLE}.TH {title} 1 \"\" \"lanecast {version}\" \"User Commands\"\n{body}"))
}

/// `text` escaped as roff, so that it is shown literally.
fn literal(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line =
            line.replace('\\', "\\(rs").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
        // A dot at the beginning of a line is a request.
        if line.starts_with('.') { format!("\\&{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}
