//! `memscape ranks`: compares the snapshots of many ranks, as text, JSON, Markdown or HTML.

use super::common_args::{TracePosition, one_of};
use super::diff::{DEFAULT_ROWS, Diff, diff};
use super::file_survey::default_memory_bytes;
use super::output::{print, print_stderr, printable, to_pretty_json};
use super::output_file::OutputFile;
use super::ranks_survey::{Surveys, parse_memory, survey};
use super::report_html::render;
use super::report_text::format_report;
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, pluralize};
use clap::Args;
use compare::ranks::{Order, Outlier, Pattern, Rank, RankQuantiles, Ranks, SiteBytes, report};
use protocol::{Report, SCHEMA};
use serde_json::{Value, json};
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
    /// Compare this rank with the median rank of its group, as memscape diff does, at the end if it is an outlier only
    /// there
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
    let median_index = ranks.median_of(index).ok_or(format!("rank {number} is the only one that can be read"))?;
    let median = ranks.ranks.get(median_index).ok_or("no such rank")?;
    let source = |rank: &Rank| {
        let device = rank.survey.as_ref().map_or(0, |survey| survey.device);
        let path = surveys.path(rank).map(|path| (path.to_owned(), Some(device)));
        path.ok_or(format!("{}: unpack the archive to compare a snapshot of it", rank.file))
    };
    let ((a, device_a), (b, device_b)) = (source(median)?, source(rank)?);
    let (json, markdown, top) = (arguments.json, arguments.markdown, DEFAULT_ROWS);
    let is_at_end = ranks.differs_only_at_end(index);
    let [at_a, at_b] = [is_at_end.then_some(TracePosition::End); 2];
    let text = diff(&Diff { a, b, device_a, device_b, at_a, at_b, json, markdown, top, ..Diff::default() })?;
    if arguments.json {
        return Ok(text);
    }
    let is_median_of =
        |group: u32| ranks.groups.get(group as usize).is_some_and(|group| group.median as usize == median_index);
    let whose = match () {
        () if rank.group.is_some_and(is_median_of) => "its group's median",
        () if is_median_of(0) => "the median of the largest group",
        () if rank.group == median.group => "the nearest peak of its group",
        () => "the nearest peak",
    };
    let at = if is_at_end { ", at the end" } else { "" };
    Ok(wrap_to_terminal(&format!("{} against {}, {whose}{at}\n\n{text}", title(rank), title(median))))
}

fn title(rank: &Rank) -> String {
    printable(&rank.title())
}

/// Builds the JSON output for a comparison of ranks. `memory` is the memory budget in bytes.
fn as_json(comparison: &Ranks, memory: u64) -> String {
    let number = |index: u32| comparison.ranks.get(index as usize).and_then(|rank| rank.rank);
    let file = |index: u32| comparison.ranks.get(index as usize).map(|rank| rank.file.clone());
    let outlier = |it: &Outlier| json!({"rank": number(it.at), "file": file(it.at), "delta_bytes": it.delta, "median_absolute_deviation": it.deviation});
    let [outliers, end_outliers] =
        [&comparison.outliers, &comparison.end_outliers].map(|all| all.iter().map(outlier).collect::<Value>());
    let groups = comparison.groups.iter().map(|group| {
        let deltas = group.deltas.iter().map(|it| json!({"call_site": it.site, "delta_bytes": it.bytes}));
        json!({
            "ranks": group.ranks.iter().map(|&index| number(index)).collect::<Value>(),
            "median_rank": number(group.median),
            "peak_requested": group.peak,
            "peak_requested_bytes": group.peak,
            "shared": group.shared,
            "differences": deltas.collect::<Value>(),
        })
    });
    let spread = |it: &RankQuantiles| json!([it.min, it.p5, it.median, it.p95, it.max]);
    let [peak, end] = [&comparison.peak, &comparison.end].map(|it| it.as_ref().map(spread));
    let [curve, steps] = [&comparison.curve, &comparison.steps].map(|it| it.iter().map(spread).collect::<Value>());
    let first_oom = comparison.first_oom.as_ref().map(|first| {
        let others = first.others.map(|(least, most, ranks)| json!({"least_live_bytes": least, "most_live_bytes": most, "ranks": ranks}));
        json!({"rank": number(first.at), "ranks_out_of_memory": first.ranks, "by_time": first.is_by_time, "others": others})
    });
    to_pretty_json(&json!({
        "schema": SCHEMA,
        "memory_budget_bytes": memory,
        "ranks": comparison.ranks.iter().map(|rank| row(comparison, rank)).collect::<Value>(),
        "left_out": comparison.left_out,
        "is_partial": comparison.is_partial,
        "peak": peak,
        "peak_bytes": peak,
        "end_bytes": end,
        "quantiles": ["min", "p5", "median", "p95", "max"],
        "curve_by_share_of_events": curve,
        "curve_by_share_of_events_bytes": curve,
        "steps": steps,
        "step_peak_bytes": steps,
        "outliers": outliers,
        "end_outliers": end_outliers,
        "groups": groups.collect::<Value>(),
        "first_oom": first_oom,
        "notes": comparison.notes,
        "verdict": comparison.verdict,
    }))
}

fn row(ranks: &Ranks, rank: &Rank) -> Value {
    let survey = rank.survey.as_ref();
    let fields =
        |pairs: &[(String, String)]| pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Value>();
    let site = |it: &SiteBytes| json!({"call_site": it.site, "bytes": it.bytes, "live_bytes": it.bytes, "count": it.allocations});
    let oom = survey.and_then(|survey| survey.out_of_memory);
    let delta = |value: Option<u64>, spread: Option<RankQuantiles>| {
        let (value, spread) = value.zip(spread)?;
        i64::try_from(i128::from(value) - i128::from(spread.median)).ok()
    };
    json!({
        "rank": rank.rank,
        "host": rank.host,
        "step": rank.step,
        "coords": fields(&rank.coords),
        "file": Some(&rank.file).filter(|file| !file.is_empty()),
        "device": survey.map(|it| it.device),
        "events": survey.map(|it| it.events),
        "peak_requested": survey.map(|it| it.peak_requested),
        "peak_requested_bytes": survey.map(|it| it.peak_requested),
        "peak_event": survey.map(|it| it.peak_event),
        "delta_to_median_bytes": delta(rank.peak(), ranks.peak),
        "peak_reserved": survey.map(|it| it.peak_reserved),
        "peak_reserved_bytes": survey.map(|it| it.peak_reserved),
        "end_requested": survey.map(|it| it.end_requested),
        "end_requested_bytes": survey.map(|it| it.end_requested),
        "end_delta_to_median_bytes": delta(rank.end(), ranks.end),
        "capacity_bytes": survey.and_then(|it| it.capacity),
        "oom_event": oom.map(|oom| oom.event),
        "oom_requested_bytes": oom.map(|oom| oom.requested_bytes),
        "oom_device_free_bytes": oom.map(|oom| oom.device_free_bytes),
        "group": rank.group,
        "steps": survey.map(|it| &it.steps),
        "step_peak_bytes": survey.map(|it| &it.steps),
        "settings": survey.map(|it| fields(&it.settings)),
        "sites_at_peak": survey.map(|it| it.sites.iter().map(site).collect::<Value>()),
        "other_bytes_at_peak": survey.map(|it| it.other_bytes),
        "other_at_peak_bytes": survey.map(|it| it.other_bytes),
        "error": rank.error,
    })
}
