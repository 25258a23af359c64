//! `memscape ranks`: compares the snapshots of many ranks, as text, JSON, Markdown or HTML.

use super::common_args::one_of;
use super::diff::{DEFAULT_ROWS, Diff, diff};
use super::file_survey::default_memory_bytes;
use super::output::{print, print_stderr, printable};
use super::output_file::OutputFile;
use super::ranks_json::as_json;
use super::ranks_survey::{Surveys, parse_memory, survey};
use super::report_html::render;
use super::report_text::format_report;
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, pluralize};
use clap::Args;
use compare::ranks::{Order, Pattern, Rank, report};
use protocol::Report;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `memscape ranks`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Folders, snapshots and archives of snapshots
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the report as a page to this file, "-" for standard output; the page has a map of all ranks and tables,
    /// and no scripts
    #[arg(short, long = "output", value_name = "OUT.html", conflicts_with_all = ["json", "markdown", "explain"])]
    out: Option<OutputFile>,
    /// Pattern of the file names, such as {host}_{rank}.pickle; fields are {rank}, {step}, {host}, {pp} and {tp}, and *
    /// matches anything
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    names: Option<Pattern>,
    /// Order of the rows of the page's map
    #[arg(long, default_value = "rank", value_parser = one_of(Order::ALL, Order::name), requires = "out")]
    order: Order,
    /// Compare this rank with the median rank of its group, as memscape diff does
    #[arg(long, value_name = "RANK")]
    explain: Option<u32>,
    /// Memory that may be used to read files at the same time; if omitted, half of the free memory
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    memory: Option<u64>,
    /// Maximum number of ranks to print, outliers first
    #[arg(long, value_name = "N", default_value_t = 64)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Runs `memscape ranks` and returns its output.
///
/// # Errors
/// Returns an error message if nothing can be read, the rank does not exist, or a path does not exist. In the last
/// case, the result for the other paths is printed first.
pub(crate) fn ranks(arguments: &Arguments) -> Result<String, String> {
    let memory = arguments.memory.unwrap_or_else(default_memory_bytes);
    let surveys = survey(&arguments.paths, arguments.names.as_ref(), memory)?;
    let text = run(&surveys, arguments, memory)?;
    if surveys.absent.is_empty() {
        return Ok(text);
    }
    print(&text)?;
    Err(surveys.absent.join("; "))
}

fn run(surveys: &Surveys, arguments: &Arguments, memory: u64) -> Result<String, String> {
    if let Some(rank) = arguments.explain {
        return explain(surveys, rank, arguments);
    }
    let ranks = &surveys.ranks;
    if arguments.json {
        return Ok(as_json(ranks, memory));
    }
    let report = report(ranks, arguments.top, arguments.order);
    let paths = match &*arguments.paths {
        [path] => path.display().to_string(),
        paths => pluralize(paths.len() as u64, "path"),
    };
    match &arguments.out {
        Some(out) => write_page(&report, &format!("Ranks: {paths}"), ranks.ranks.len(), out),
        None => Ok(format_report(&report, &paths, arguments.markdown)),
    }
}

/// Writes the report as HTML. If the output is standard output, returns the page instead.
fn write_page(report: &Report, title: &str, ranks: usize, out: &OutputFile) -> Result<String, String> {
    let page = render(report, title);
    if out.is_standard_output() {
        return Ok(page);
    }
    let path = out.path().display();
    let wrong = |error: std::io::Error| format!("{path}: {error}");
    let mut file = out.create().map_err(wrong)?;
    file.write_all(page.as_bytes()).and_then(|()| file.finish()).map_err(wrong)?;
    print_stderr(&format!("{path}: {} of {}", Bytes(page.len() as u64), pluralize(ranks as u64, "rank")));
    Ok(String::new())
}

/// Compares the rank with this number with the median rank of its group.
fn explain(surveys: &Surveys, number: u32, arguments: &Arguments) -> Result<String, String> {
    let ranks = &surveys.ranks;
    let index = ranks.ranks.iter().position(|rank| rank.rank == Some(number)).ok_or(format!("no rank {number}"))?;
    let rank = ranks.ranks.get(index).ok_or("no such rank")?;
    if let Some(error) = &rank.error {
        return Err(format!("rank {number}: {error}"));
    }
    let median = ranks.median_of(index).and_then(|median| ranks.ranks.get(median));
    let median = median.ok_or(format!("rank {number} is the only one that can be read"))?;
    let source = |rank: &Rank| {
        let device = rank.survey.as_ref().map_or(0, |survey| survey.device);
        let path = surveys.path(rank).map(|path| (path.to_owned(), Some(device)));
        path.ok_or(format!("{}: unpack the archive to compare a snapshot of it", rank.file))
    };
    let ((a, device_a), (b, device_b)) = (source(median)?, source(rank)?);
    let (json, markdown, top) = (arguments.json, arguments.markdown, DEFAULT_ROWS);
    let text = diff(&Diff { a, b, device_a, device_b, json, markdown, top, ..Diff::default() })?;
    if arguments.json {
        return Ok(text);
    }
    let group = rank.group.and_then(|group| ranks.groups.get(group as usize)).map_or(0, |group| group.ranks.len());
    let whose = if group > 1 { "its group's median" } else { "the median of the largest group" };
    Ok(wrap_to_terminal(&format!("{} against {}, {whose}\n\n{text}", title(rank), title(median))))
}

fn title(rank: &Rank) -> String {
    printable(&rank.title())
}
