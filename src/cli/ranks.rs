//! `memscape ranks`: compares the snapshots of many ranks, as text, JSON, Markdown or HTML.

use super::diff::{Diff, diff};
use super::file_survey::default_memory_bytes;
use super::output::{print, print_stderr, printable};
use super::output_file::OutputFile;
use super::ranks_json::as_json;
use super::ranks_survey::{Surveys, parse_memory, survey};
use super::report_html::render;
use super::table::{self, Table};
use super::terminal::wrap_to_terminal;
use base::units::pluralize;
use base::units::{Bytes, group_digits};
use clap::{Args, ValueEnum};
use compare::ranks::{Order, Pattern, Rank, Ranks, report};
use compare::signed;
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
    #[arg(long, value_enum, default_value_t = OrderArg::Rank, requires = "out")]
    order: OrderArg,
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

/// Order of the rows of the map, as a command line value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    Rank,
    Pp,
    Tp,
    Peak,
}

impl From<OrderArg> for Order {
    fn from(by: OrderArg) -> Order {
        match by {
            OrderArg::Rank => Order::Rank,
            OrderArg::Pp => Order::Pp,
            OrderArg::Tp => Order::Tp,
            OrderArg::Peak => Order::Peak,
        }
    }
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
    let of = &surveys.ranks;
    if let Some(out) = &arguments.out {
        return write_report(of, arguments, out);
    }
    Ok(match (arguments.json, arguments.markdown) {
        (true, _) => as_json(of, memory),
        (_, true) => as_markdown(of, arguments.top),
        _ => as_text(of, arguments.top),
    })
}

/// Writes the report as HTML. If the output is standard output, returns the report instead.
fn write_report(ranks: &Ranks, arguments: &Arguments, out: &OutputFile) -> Result<String, String> {
    let title = match &*arguments.paths {
        [path] => format!("Ranks: {}", path.display()),
        paths => format!("Ranks: {}", pluralize(paths.len() as u64, "path")),
    };
    let page = render(&report(ranks, arguments.top, arguments.order.into()), &title);
    if out.is_standard_output() {
        return Ok(page);
    }
    let wrong = |error: std::io::Error| format!("{}: {error}", out.path().display());
    let mut file = out.create().map_err(wrong)?;
    file.write_all(page.as_bytes()).and_then(|()| file.finish()).map_err(wrong)?;
    print_stderr(&format!(
        "{}: {} of {}",
        out.path().display(),
        Bytes(page.len() as u64),
        pluralize(ranks.ranks.len() as u64, "rank")
    ));
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
        let path = surveys.path(rank).map(|path| (path.to_owned(), device));
        path.ok_or(format!("{}: unpack the archive to compare a snapshot of it", rank.file))
    };
    let text = diff(&Diff::for_devices(source(median)?, source(rank)?, arguments.json, arguments.markdown))?;
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

/// Returns the ranks to print, in their original order. If there are too many, ranks that failed, ran out of memory or
/// are outliers take precedence.
fn shown_ranks(ranks: &Ranks, top: usize) -> Vec<&Rank> {
    let stands_out = |index: usize| ranks.outliers.iter().any(|outlier| outlier.at as usize == index);
    let is_first =
        |rank: &Rank| rank.error.is_some() || rank.survey.as_ref().is_some_and(|survey| survey.out_of_memory.is_some());
    let (first, others): (Vec<usize>, Vec<usize>) =
        (0..ranks.ranks.len()).partition(|&index| stands_out(index) || ranks.ranks.get(index).is_some_and(is_first));
    let mut places: Vec<usize> = first.into_iter().chain(others).take(top).collect();
    places.sort_unstable();
    places.into_iter().filter_map(|index| ranks.ranks.get(index)).collect()
}

const HEADINGS: [&str; 7] = ["rank", "peak", "Δ median", "reserved", "end", "OOM", "group"];

/// Returns the table cells of a rank, or `None` if its file could not be read.
fn cells(ranks: &Ranks, rank: &Rank) -> Option<[String; 7]> {
    let survey = rank.survey.as_ref()?;
    let median = ranks.peak.map_or(0, |peak| peak.median);
    let peak = rank.peak().unwrap_or(0);
    let oom = survey.out_of_memory.map_or("–".to_owned(), |oom| format!("event {}", group_digits(oom.event.into())));
    Some([
        rank.rank.map_or("–".to_owned(), |rank| rank.to_string()),
        Bytes(peak).to_string(),
        signed(i128::from(peak) - i128::from(median)),
        Bytes(u64::try_from(survey.peak_reserved).unwrap_or(0)).to_string(),
        Bytes(survey.end_requested).to_string(),
        oom,
        rank.group.map_or("–".to_owned(), |group| (group + 1).to_string()),
    ])
}

fn file(rank: &Rank) -> &str {
    if rank.file.is_empty() { "–" } else { &rank.file }
}

fn as_text(ranks: &Ranks, top: usize) -> String {
    let mut text = String::new();
    ranks.verdict.iter().chain(&ranks.notes).for_each(|sentence| text += &(printable(sentence) + "\n"));
    let numbers =
        HEADINGS.into_iter().zip([6, 10, 11, 10, 10, 14, 5]).map(|(heading, min)| table::number_column(heading, min));
    let mut table = Table::new(0, 1, numbers.chain([table::name_column(" file", 0)]).collect::<Vec<_>>());
    let rows = shown_ranks(ranks, top);
    let mut failed = Vec::new();
    for rank in &rows {
        let name = [" ", file(rank)].concat();
        match cells(ranks, rank) {
            Some(cells) => table.push(cells.into_iter().chain([name])),
            None => {
                let number = rank.rank.map_or("–".to_owned(), |rank| rank.to_string());
                table.push([number]);
                let error = rank.error.as_deref().unwrap_or_default();
                let reason = if rank.file.is_empty() { error.to_owned() } else { format!("{}: {error}", rank.file) };
                failed.push((table.len(), printable(&reason)));
            }
        }
    }
    text += "\n";
    // For ranks that failed, the reason is printed instead of the numbers.
    let mut failed = failed.into_iter().peekable();
    for (row, line) in table.texts().into_iter().enumerate() {
        match failed.next_if(|(at, _)| *at == row) {
            Some((_, reason)) => text += &format!("{} {reason}\n", line.trim_end()),
            None => text += &line,
        }
    }
    let more = ranks.ranks.len() - rows.len();
    if more > 0 {
        text += &format!("… {} more (see --top)\n", group_digits(more as u64));
    }
    if !ranks.left_out.is_empty() {
        text += &format!(
            "{} of other steps not compared (see --json)\n",
            base::units::pluralize(ranks.left_out.len() as u64, "file")
        );
    }
    wrap_to_terminal(&text)
}

fn as_markdown(ranks: &Ranks, top: usize) -> String {
    let safe = |text: &str| printable(text).replace('|', "\\|");
    let mut text = "# Ranks\n\n".to_owned();
    for sentence in ranks.verdict.iter().chain(&ranks.notes) {
        text += &format!("- {}\n", printable(sentence));
    }
    text += &format!("\n| {} | file |\n|{}---|\n", HEADINGS.join(" | "), "--:|".repeat(HEADINGS.len()));
    for rank in shown_ranks(ranks, top) {
        match cells(ranks, rank) {
            Some(cells) => text += &format!("| {} | {} |\n", cells.join(" | "), safe(file(rank))),
            None => {
                let number = rank.rank.map_or("–".to_owned(), |rank| rank.to_string());
                let error = rank.error.as_deref().unwrap_or_default();
                text += &format!("| {number} | | | | | | | {}: {} |\n", safe(file(rank)), safe(error));
            }
        }
    }
    text
}
