//! `memscape insights`, `oom`, `leaks` and so on: one insight with its tables, or the findings of all, as text, JSON or
//! Markdown.

use super::common_args::{AtArg, SnapshotArgs, TracePosition, one_of, parse_bytes, parse_trace_position};
use super::events::events_between;
use super::open_snapshot::OpenSnapshot;
use super::output::{printable, to_pretty_json};
use super::report_json::as_json;
use super::report_text::as_text;
use super::rules::CategoryRules;
use super::step_args::StepArgs;
use super::terminal::wrap_to_terminal;
use clap::Args;
use protocol::{Report, ReportQuestion, Span, Threshold, Tone, Topic};
use serde_json::{Value, json};
use ui::text::markdown::markdown;
use ui::text::summary::device_name;

/// Arguments of `memscape insights`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Insights {
    /// Print only these insights, with their tables; comma-separated
    #[arg(long = "topic", value_name = "NAME", value_delimiter = ',', value_parser = one_of(Topic::ALL, Topic::name))]
    pub(crate) topics: Vec<Topic>,
    #[command(flatten)]
    pub(crate) terms: InsightArgs,
}

/// Arguments of an insight.
#[derive(Args, Clone, Debug)]
pub(crate) struct InsightArgs {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    #[command(flatten)]
    pub(crate) at: AtArg,
    /// Change a threshold that the output names, such as late=10 or alive=3MiB
    #[arg(long = "threshold", value_name = "KEY=N", value_parser = parse_threshold)]
    pub(crate) thresholds: Vec<(String, u64)>,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// Maximum number of rows in each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

/// Arguments of `memscape fragmentation`.
#[derive(Args, Clone, Debug)]
pub(crate) struct FragmentationArgs {
    #[command(flatten)]
    pub(crate) terms: InsightArgs,
    /// Print only stranded bytes: reserved and free when the driver was asked for more
    ///
    /// Lists the bytes stranded at the peak of reserved, by reason, by the blocks that pin them and by the frees that
    /// made the holes, and all driver requests. With --json, no rows are left out (--top is ignored).
    #[arg(long, conflicts_with_all = ["when", "thresholds"])]
    pub(crate) stranded: bool,
}

/// Arguments of `memscape range`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RangeArgs {
    #[command(flatten)]
    pub(crate) terms: InsightArgs,
    #[command(flatten)]
    pub(crate) bounds: RangeBounds,
}

/// First and last event of a range. By default the whole trace.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RangeBounds {
    /// First event: an event number, a time, peak, ... (see "memscape live --help" for WHEN)
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    from: Option<TracePosition>,
    /// Last event, inclusive
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true)]
    to: Option<TracePosition>,
    #[command(flatten)]
    step: StepArgs,
}

impl RangeBounds {
    /// Returns the range, or `None` for the whole trace.
    fn span(&self, snapshot: &mut OpenSnapshot) -> Result<Option<Span>, String> {
        if let Some([from, to]) = self.step.events(snapshot)? {
            return Ok(Some(Span { from, to }));
        }
        if self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let [from, to] = events_between(snapshot, self.from, self.to)?;
        Ok(Some(Span { from, to }))
    }
}

fn parse_threshold(text: &str) -> Result<(String, u64), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=N, such as late=10 or alive=3MiB")?;
    Ok((key.to_owned(), parse_bytes(value)?))
}

/// Runs one insight and returns its output: only the stranded bytes, if requested of [`Topic::Fragmentation`]; on the
/// range between `bounds`, for [`Topic::Range`].
///
/// # Errors
/// Returns one sentence if the file or the rules cannot be read, or there is no such event or threshold.
pub(crate) fn insight(
    topic: Topic,
    terms: &InsightArgs,
    only_stranded: bool,
    bounds: &RangeBounds,
) -> Result<String, String> {
    let rows = if only_stranded && terms.json { u32::MAX } else { terms.top };
    let question = ReportQuestion { topic, rows, only_stranded, ..ReportQuestion::default() };
    let (mut asking, reports) = compute_reports(vec![question], terms, bounds)?;
    let has_leaks = topic == Topic::Leaks && !terms.json && !terms.markdown;
    let others = if has_leaks { leaks_of_others(&mut asking) } else { String::new() } + &asking.other_devices_line();
    let of = format!("{} · {}", asking.summary.file, device_name(&asking.device));
    let texts = reports.iter().map(|report| match terms {
        InsightArgs { json: true, .. } => to_pretty_json(&asking.document(as_json(report))),
        InsightArgs { markdown: true, .. } => markdown(report, &of),
        _ => wrap_to_terminal(&(as_text(report, &of) + &others)),
    });
    Ok(texts.collect())
}

/// Runs `memscape insights` and returns its output.
///
/// # Errors
/// Same as [`insight`].
pub(crate) fn insights(Insights { topics, terms }: &Insights) -> Result<String, String> {
    let is_overview = topics.is_empty();
    let all = if is_overview { &Topic::ALL } else { topics.as_slice() };
    // Without a range, its report would repeat the others.
    let all = all.iter().filter(|topic| !is_overview || !topic.depends_on_range());
    let questions = all.map(|&topic| ReportQuestion { topic, rows: terms.top, ..ReportQuestion::default() });
    let (mut asking, mut reports) = compute_reports(questions.collect(), terms, &RangeBounds::default())?;
    let of = format!("{} · {}", asking.summary.file, device_name(&asking.device));
    if terms.json {
        let all: Vec<Value> = reports.iter().map(as_json).collect();
        return Ok(to_pretty_json(&asking.document(json!({ "insights": all }))));
    }
    if is_overview {
        // The overview has no tables. They would be too long; each insight prints its own by name.
        reports.iter_mut().for_each(|report| report.sheets.clear());
        reports.retain(|report| !report.statements.is_empty());
        // An OOM comes first.
        reports.sort_by_key(|report| report.topic != Topic::OutOfMemory || asking.device.oom_count() == 0);
    }
    let form = if terms.markdown { markdown } else { as_text };
    let (title, of) =
        if is_overview && !terms.markdown { (printable(&of) + "\n\n", "") } else { (String::new(), of.as_str()) };
    let texts: Vec<String> = reports.iter().map(|report| form(report, of)).collect();
    let has_leaks = !terms.markdown && reports.iter().any(|report| report.topic == Topic::Leaks);
    let leaks = if has_leaks { leaks_of_others(&mut asking) } else { String::new() };
    let others = if terms.markdown { String::new() } else { leaks + &asking.other_devices_line() };
    let text = title + &texts.join("\n") + &others;
    Ok(if terms.markdown { text } else { wrap_to_terminal(&text) })
}

/// Returns a line about the largest leak of each other device. Empty if the user selected a device.
fn leaks_of_others(asking: &mut OpenSnapshot) -> String {
    if asking.is_device_chosen {
        return String::new();
    }
    let others: Vec<(i64, String)> = asking.others().map(|other| (other.device, device_name(other))).collect();
    let mut lines = String::new();
    for (device, name) in others {
        let question = ReportQuestion { topic: Topic::Leaks, ..ReportQuestion::default() };
        let reports = asking.reports(device, &[question]).unwrap_or_default();
        let statements = reports.iter().flat_map(|report| &report.statements);
        for leak in statements.filter(|statement| statement.tone == Tone::Alarm).take(1) {
            lines += &format!("\n{}: {} See --device {device}.\n", printable(&name), printable(&leak.text));
        }
    }
    lines
}

/// Answers these questions with the cursor, the thresholds and the range of the arguments. Returns the reports with the
/// open file.
fn compute_reports(
    questions: Vec<ReportQuestion>,
    terms: &InsightArgs,
    bounds: &RangeBounds,
) -> Result<(OpenSnapshot, Vec<Report>), String> {
    let mut asking = OpenSnapshot::open(&terms.source)?;
    terms.rules.classify(&mut asking)?;
    let at = terms.at.when.map(|when| asking.facts_at(when)).transpose()?.map(|facts| facts.moment);
    let range = bounds.span(&mut asking)?;
    let questions: Vec<ReportQuestion> = questions
        .into_iter()
        .map(|question| ReportQuestion { at, range, thresholds: terms.thresholds.clone(), ..question })
        .collect();
    let reports = asking.reports(asking.device.device, &questions).ok_or("the insights could not be computed")?;
    let sheets = || reports.iter().flat_map(|report| &report.sheets);
    let known: Vec<&Threshold> = sheets().filter_map(|sheet| sheet.threshold.as_ref()).collect();
    // An insight without tables lists no thresholds, so unknown names are accepted then.
    let has_sheets = sheets().next().is_some();
    if let Some((key, _)) =
        terms.thresholds.iter().filter(|_| has_sheets).find(|(key, _)| known.iter().all(|known| known.key != *key))
    {
        let names: Vec<&str> = known.iter().map(|known| known.key.as_str()).collect();
        return Err(match names.as_slice() {
            [] => format!("no threshold {key}: this insight has no thresholds"),
            names => format!("no threshold {key}; available: {}", names.join(", ")),
        });
    }
    Ok((asking, reports))
}
