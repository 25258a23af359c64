//! `memscape ranks`: compares the snapshots of many ranks, as text, JSON, Markdown or HTML.

use super::diff::{Diff, diff};
use super::file_survey::default_memory_bytes;
use super::output::{print, print_stderr, printable};
use super::output_file::OutputFile;
use super::ranks_json::as_json;
use super::ranks_survey::{Surveys, parse_memory, survey};
use super::report_html::render;
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, group_digits, pluralize};
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

/// Returns the ranks to print, in their original order. If there are too many, those that stand out take precedence.
fn shown_ranks(ranks: &Ranks, top: usize) -> Vec<&Rank> {
    let mut places = ranks.most_important_first();
    places.truncate(top);
    places.sort_unstable();
    places.into_iter().filter_map(|index| ranks.ranks.get(index)).collect()
}

/// Numeric columns of the table of ranks, with their minimum widths.
const NUMBERS: [(&str, usize); 7] =
    [("rank", 6), ("peak", 10), ("Δ median", 11), ("reserved", 10), ("end", 10), ("OOM", 14), ("group", 5)];

/// Builds the table of ranks. A rank that could not be read has the reason in place of its numbers.
fn table(ranks: &Ranks, shown: &[&Rank]) -> Table {
    let mut table = Table::new(0, columns(NUMBERS, ["file"]));
    let median = ranks.peak.map_or(0, |peak| peak.median);
    let unknown = || "–".to_owned();
    for rank in shown {
        let number = rank.rank.map_or_else(unknown, |rank| rank.to_string());
        let file = if rank.file.is_empty() { unknown() } else { rank.file.clone() };
        let Some(survey) = &rank.survey else {
            let error = rank.error.as_deref().unwrap_or_default();
            let reason = if rank.file.is_empty() { error.to_owned() } else { format!("{file}: {error}") };
            table.push([&*number, "", "", "", "", "", "", &reason]);
            continue;
        };
        let peak = rank.peak().unwrap_or(0);
        table.push([
            number,
            Bytes(peak).to_string(),
            signed(i128::from(peak) - i128::from(median)),
            Bytes(u64::try_from(survey.peak_reserved).unwrap_or(0)).to_string(),
            Bytes(survey.end_requested).to_string(),
            survey.out_of_memory.map_or_else(unknown, |oom| format!("event {}", group_digits(oom.event.into()))),
            rank.group.map_or_else(unknown, |group| (group + 1).to_string()),
            file,
        ]);
    }
    table
}

fn as_text(ranks: &Ranks, top: usize) -> String {
    let shown = shown_ranks(ranks, top);
    let sentences: String = ranks.verdict.iter().chain(&ranks.notes).map(|text| printable(text) + "\n").collect();
    let mut text = sentences + "\n" + &table(ranks, &shown).text();
    let more = ranks.ranks.len() - shown.len();
    if more > 0 {
        text += &format!("… {} more (see --top)\n", group_digits(more as u64));
    }
    if !ranks.left_out.is_empty() {
        let files = pluralize(ranks.left_out.len() as u64, "file");
        text += &format!("{files} of other steps not compared (see --json)\n");
    }
    wrap_to_terminal(&text)
}

fn as_markdown(ranks: &Ranks, top: usize) -> String {
    let sentences = ranks.verdict.iter().chain(&ranks.notes).map(|text| format!("- {}\n", printable(text)));
    let table = table(ranks, &shown_ranks(ranks, top)).markdown();
    format!("# Ranks\n\n{}\n{table}", sentences.collect::<String>())
}
