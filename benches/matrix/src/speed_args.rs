//! The arguments of the subcommands for stored results.

use clap::Args;
use lanecast_bench::{
    compare, count,
    dimensions::Dimension,
    json,
    results::Results,
    speed::{
        ab::{self, Effort},
        chart, dimensions, history,
        input::Input,
        page, processes,
        record::{Record, Stored, read_all},
        store,
    },
};
use std::{ffi::OsString, fs, path::PathBuf};

#[derive(Args)]
pub(crate) struct StoreArgs {
    /// Result files of one machine and commit: of `run` (several are several processes), the peers, `options`, `addresses`, `checked`,
    /// `threads`, `batch`, `scaled` and `strided`.
    #[arg(required_unless_present = "processes")]
    results: Vec<PathBuf>,
    /// Measures dimensions in this many processes, one after the other, and stores them with the files.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    processes: Option<u16>,
    /// The dimensions, separated by commas [default: all].
    #[arg(long, value_enum, value_delimiter = ',', requires = "processes")]
    dimension: Vec<Dimension>,
    /// Takes one round of a few casts of each dimension, to see that answers are right, and stores them in `target/results`.
    #[arg(long, requires = "processes")]
    short: bool,
    /// The folder of all records; the record goes into a folder of the machine [default: benches/results].
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PageArgs {
    /// The folder of all records.
    #[arg(long, default_value = "benches/results")]
    dir: PathBuf,
    /// The HTML file.
    #[arg(short, long, default_value = "docs/speed.html")]
    output: PathBuf,
}

#[derive(Args)]
pub(crate) struct ChartArgs {
    /// The folder of all records.
    #[arg(long, default_value = "benches/results")]
    dir: PathBuf,
    /// The SVG file.
    #[arg(short, long, default_value = "docs/images/peers.svg")]
    output: PathBuf,
}

#[derive(Args)]
pub(crate) struct AbArgs {
    /// The old program, or a folder with result files of several processes; with `--counts` a result file of `count`.
    old: PathBuf,
    /// The new one.
    new: PathBuf,
    /// Compares instructions, and prints a comment for a pull request. It fails only if there is nothing to compare.
    #[arg(long, conflicts_with_all = ["processes", "dir", "arguments"])]
    counts: bool,
    /// How often each program runs.
    #[arg(long, default_value_t = 7)]
    processes: usize,
    /// How large an effect has to be.
    #[arg(long, default_value = "5%", value_parser = compare::margin)]
    threshold: f64,
    /// Where the results of programs go, in `old` and `new`.
    #[arg(long, default_value = "target/ab")]
    dir: PathBuf,
    /// Lists at most this many cells of each verdict.
    #[arg(short, long, default_value_t = 40)]
    n: usize,
    /// Arguments for `run` of both programs: `-- --pair f32:* --size l2`.
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct HistoryArgs {
    /// The folder of all records.
    #[arg(long, default_value = "benches/results")]
    dir: PathBuf,
    /// Fails if a cast became slower.
    #[arg(long)]
    check: bool,
    /// How much slower a cast may become, as a share of its time.
    #[arg(long, default_value = "10%", value_parser = compare::margin)]
    margin: f64,
}

pub(crate) fn store(args: &StoreArgs) -> Result<(), String> {
    let mut inputs = args.results.iter().map(|path| Input::read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(count) = args.processes {
        let all = Dimension::ALL.to_vec();
        let effort = processes::Effort {
            processes: count.into(),
            dimensions: if args.dimension.is_empty() { all } else { args.dimension.clone() },
            short: args.short,
            directory: "target/dimensions".into(),
        };
        let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        inputs.extend(processes::measure(&program, &effort)?.into_iter().map(Input::Dimensions));
    }
    let (mut record, warnings) = store::record(inputs)?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let usual = if args.short { "target/results" } else { "benches/results" };
    let directory = args.dir.as_deref().unwrap_or(usual.as_ref());
    let path = directory.join(record.folder()).join(record.file());
    if path.exists() {
        let at = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| at(error.to_string()))?;
        dimensions::keep_others(&mut record, Record::parse(&text).map_err(at)?);
    }
    let text = record.to_json()?;
    write(&path, &text)?;
    println!("{}: {} KiB; {}", path.display(), text.len().div_ceil(1024), store::summary(&record));
    Ok(())
}

pub(crate) fn page(args: &PageArgs) -> Result<(), String> {
    draw(&args.output, &page::page(&read_all(&args.dir)?)?)
}

pub(crate) fn chart(args: &ChartArgs) -> Result<(), String> {
    draw(&args.output, &chart::chart(&read_all(&args.dir)?)?)
}

fn draw(path: &std::path::Path, text: &str) -> Result<(), String> {
    write(path, text)?;
    println!("{}: {} KiB", path.display(), text.len().div_ceil(1024));
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<(), String> {
    let at = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(at)?;
    }
    fs::write(path, text).map_err(at)
}

pub(crate) fn ab(args: AbArgs) -> Result<(), String> {
    if args.counts {
        let [old, new] = [json::read::<Results>(&args.old)?, json::read(&args.new)?];
        print!("{}", count::ab::markdown(&old.counts, &new.counts, args.threshold, args.n)?);
        return Ok(());
    }
    let [old, new] = match [args.old.is_dir(), args.new.is_dir()] {
        [true, true] => [ab::results_of(&args.old)?, ab::results_of(&args.new)?],
        [false, false] => {
            if args.processes < ab::LEAST {
                return Err(format!("--processes has to be at least {}", ab::LEAST));
            }
            let effort = Effort { processes: args.processes, directory: args.dir, arguments: args.arguments };
            ab::measure(&args.old, &args.new, &effort)?
        }
        _ => return Err("OLD and NEW have to be two programs or two folders of result files".into()),
    };
    let (text, slower) = ab::text(&ab::compare(&old, &new)?, args.threshold, args.n);
    print!("{text}");
    if slower == 0 { Ok(()) } else { Err(format!("{slower} cells are slower")) }
}

pub(crate) fn history(args: &HistoryArgs) -> Result<(), String> {
    let records: Vec<Stored> = read_all(&args.dir)?;
    let found = history::check(&records, args.margin);
    print!("{}", found.text);
    match found.slower.len() {
        0 => Ok(()),
        count if args.check => Err(format!("{count} casts became slower")),
        _ => Ok(()),
    }
}
