//! `memscape insights`, `oom`, `leaks` and so on: one insight with its tables, or the findings of all, as text, JSON or
//! Markdown.

use super::common_args::{AtArg, SnapshotArgs, parse_bytes};
use super::open_snapshot::OpenSnapshot;
use super::output::{printable, to_pretty_json, with_fields};
use super::rules::CategoryRules;
use super::table::{self, Table};
use super::terminal::wrap_to_terminal;
use base::units::Moment;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use engine::{Answer, Question};
use protocol::{
    Cell, Chart, ChartPart, DeltaBox, Evidence, Report, ReportQuestion, Sheet, SheetColumn, SheetRow, Threshold, Tone,
    Topic,
};
use serde_json::{Map, Value, json};
use ui::cell_text::{exact, is_numeric, left_out_text, threshold_text, total_row};
use ui::markdown::markdown;
use ui::summary::device_name;

/// Maximum width of a name column in output that is not fitted to a terminal. Longer names overflow.
const MAX_NAME: usize = 60;

/// Arguments of `memscape insights`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Insights {
    /// Print only these insights, with their tables; comma-separated
    #[arg(long = "topic", value_name = "NAME", value_delimiter = ',', value_parser = topic_parser())]
    pub(crate) topics: Vec<Topic>,
    #[command(flatten)]
    pub(crate) terms: InsightArgs,
}

fn topic_parser() -> impl TypedValueParser<Value = Topic> {
    let names = PossibleValuesParser::new(Topic::ALL.map(Topic::name));
    names.map(|name| Topic::from_name(&name).unwrap_or_default())
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

fn parse_threshold(text: &str) -> Result<(String, u64), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=N, such as late=10 or alive=3MiB")?;
    Ok((key.to_owned(), parse_bytes(value)?))
}

/// Runs one insight and returns its output: only the stranded bytes, if requested of [`Topic::Fragmentation`].
///
/// # Errors
/// Returns one sentence if the file or the rules cannot be read, or there is no such event or threshold.
pub(crate) fn insight(topic: Topic, terms: &InsightArgs, only_stranded: bool) -> Result<String, String> {
    let rows = if only_stranded && terms.json { u32::MAX } else { terms.top };
    let question = ReportQuestion { topic, rows, only_stranded, ..ReportQuestion::default() };
    let (asking, reports) = compute_reports(vec![question], terms)?;
    let of = format!("{} · {}", asking.summary.file, device_name(asking.device.device));
    let texts = reports.iter().map(|report| match terms {
        InsightArgs { json: true, .. } => to_pretty_json(&asking.document(as_json(report))),
        InsightArgs { markdown: true, .. } => markdown(report, &of),
        _ => wrap_to_terminal(&(as_text(report, &of) + &asking.other_devices_line())),
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
    let questions = all.iter().map(|&topic| ReportQuestion { topic, rows: terms.top, ..ReportQuestion::default() });
    let (asking, mut reports) = compute_reports(questions.collect(), terms)?;
    let of = format!("{} · {}", asking.summary.file, device_name(asking.device.device));
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
    let others = if terms.markdown { String::new() } else { asking.other_devices_line() };
    let text = title + &texts.join("\n") + &others;
    Ok(if terms.markdown { text } else { wrap_to_terminal(&text) })
}

/// Answers these questions with the cursor and the thresholds of the arguments. Returns the reports with the open file.
fn compute_reports(questions: Vec<ReportQuestion>, terms: &InsightArgs) -> Result<(OpenSnapshot, Vec<Report>), String> {
    let mut asking = OpenSnapshot::open(&terms.source)?;
    terms.rules.classify(&mut asking)?;
    let at = terms.at.when.map(|when| asking.facts_at(when)).transpose()?.map(|facts| facts.moment);
    let mut reports = Vec::new();
    for question in questions {
        let topic = question.topic;
        let question = ReportQuestion { at, thresholds: terms.thresholds.clone(), ..question };
        match asking.ask_device(Question::Report(question)) {
            Some(Answer::Report(report)) => reports.push(*report),
            _ => return Err(format!("the insight {} could not be computed", topic.name())),
        }
    }
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

fn as_text(report: &Report, of: &str) -> String {
    let of = if of.is_empty() { String::new() } else { [": ", of].concat() };
    let mut text = printable(&[report.topic.title(), &of].concat()) + "\n";
    for statement in &report.statements {
        let mark = match statement.tone {
            Tone::Fact => "-",
            Tone::Good => "✓",
            Tone::Alarm => "!",
        };
        text.push_str(&format!("  {mark} {}\n", printable(&statement.text)));
        if !statement.fix.is_empty() {
            text.push_str(&format!("    Fix: {}\n", printable(&statement.fix)));
        }
    }
    report.sheets.iter().for_each(|sheet| write_sheet(&mut text, sheet));
    text
}

fn write_sheet(text: &mut String, sheet: &Sheet) {
    let asked = sheet
        .threshold
        .as_ref()
        .map_or_else(String::new, |it| format!(" ({}; --threshold {}=N)", threshold_text(it), it.key));
    text.push_str(&format!("\n{}\n", printable(&format!("{}{asked}", sheet.title))));
    if !sheet.note.is_empty() {
        text.push_str(&format!("  {}\n", printable(&sheet.note)));
    }
    if sheet.rows.is_empty() && sheet.left_out == 0 {
        text.push_str("  none\n");
        return;
    }
    let column = |(at, column): (usize, &SheetColumn)| match is_numeric(sheet, at) {
        true => table::number_column(&column.label, 0),
        false => table::name_column(&column.label, 0).max_width(MAX_NAME),
    };
    let mut table = Table::new(2, 3, sheet.columns.iter().enumerate().map(column).collect::<Vec<_>>());
    for row in sheet.rows.iter().chain(&total_row(sheet)) {
        let mut cells: Vec<String> = row.cells.iter().map(exact).collect();
        if let Some(name) = row.cells.iter().position(|cell| matches!(cell, Cell::Text(_)))
            && let Some(cell) = cells.get_mut(name)
        {
            cell.insert_str(0, &"  ".repeat(row.depth.min(64) as usize));
        }
        table.push(cells);
    }
    text.push_str(&table.text());
    if let Some(words) = left_out_text(sheet) {
        text.push_str(&format!("  {words} (see --top)\n"));
    }
}

fn as_json(report: &Report) -> Value {
    let statement = report.statements.iter().map(|it| {
        json!({
            "tone": tone_name(it.tone),
            "text": it.text,
            "fix": Some(&it.fix).filter(|fix| !fix.is_empty()),
            "chart": it.chart.as_ref().map(as_chart),
            "evidence": it.evidence.as_ref().map(as_evidence),
        })
    });
    let sheets: Map<String, Value> = report.sheets.iter().map(|sheet| (sheet.key.clone(), as_sheet(sheet))).collect();
    json!({
        "topic": report.topic.name(),
        "statements": statement.collect::<Vec<Value>>(),
        "sheets": sheets,
    })
}

fn as_chart(chart: &Chart) -> Value {
    match chart {
        Chart::Line { values, ends } => json!({"live_bytes": values, "from": ends[0], "to": ends[1]}),
        Chart::Parts(parts) => {
            let part = |part: &ChartPart| json!({"name": part.name, "bytes": part.bytes, "live_bytes": part.bytes});
            json!({"parts": parts.iter().map(part).collect::<Vec<Value>>()})
        }
        Chart::Delta(_, boxes) => {
            let node = |it: &DeltaBox| json!({"depth": it.depth, "name": it.name, "a_bytes": it.a, "b_bytes": it.b});
            json!({"nodes": boxes.iter().map(node).collect::<Vec<Value>>()})
        }
        Chart::HeatMap(map) => {
            let names: Vec<&String> = map.rows.iter().map(|row| &row.name).collect();
            json!({"rows": names, "columns": map.columns, "most_bytes": map.max})
        }
    }
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Fact => "fact",
        Tone::Good => "good",
        Tone::Alarm => "alarm",
    }
}

fn as_sheet(sheet: &Sheet) -> Value {
    let threshold = sheet.threshold.as_ref();
    let columns = sheet.columns.iter().map(|column| json!({"key": column.key, "label": column.label}));
    json!({
        "title": sheet.title,
        "note": sheet.note,
        "threshold": threshold.map(as_threshold),
        "columns": columns.collect::<Vec<Value>>(),
        "rows": sheet.rows.iter().map(|row| as_row(sheet, row)).collect::<Vec<Value>>(),
        "rows_left_out": sheet.left_out,
        "total": (!sheet.total.is_empty()).then(|| as_cells(sheet, &sheet.total)),
    })
}

/// Converts a row to an object, with the keys of the columns. The extra keys `depth`, `tone`, `stack` and `evidence`
/// are never names of columns.
fn as_row(sheet: &Sheet, row: &SheetRow) -> Value {
    let mut fields = as_cells(sheet, &row.cells);
    if row.depth > 0 {
        fields.insert("depth".to_owned(), json!(row.depth));
    }
    if row.tone != Tone::Fact {
        fields.insert("tone".to_owned(), json!(tone_name(row.tone)));
    }
    if !row.stack.is_empty() {
        fields.insert("stack".to_owned(), json!(row.stack));
    }
    if let Some(evidence) = &row.evidence {
        fields.insert("evidence".to_owned(), as_evidence(evidence));
    }
    Value::Object(fields)
}

fn as_threshold(threshold: &Threshold) -> Value {
    let Threshold { key, label, unit, value } = threshold;
    let fields = json!({"key": key, "label": label, "unit": unit, "value": value});
    if unit == "bytes" { with_fields(fields, json!({ "value_bytes": value })) } else { fields }
}

fn as_cells(sheet: &Sheet, cells: &[Cell]) -> Map<String, Value> {
    let mut fields = Map::new();
    for (SheetColumn { key, .. }, cell) in sheet.columns.iter().zip(cells) {
        fields.insert(key.clone(), as_value(cell));
        if matches!(cell, Cell::Bytes(_) | Cell::Change(_)) && !key.ends_with("_bytes") {
            fields.insert(key.replacen("_bytes", "", 1) + "_bytes", as_value(cell));
        }
    }
    fields
}

/// Converts a cell to JSON: exact numbers, and a share as its two numbers.
fn as_value(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => json!(number),
        Cell::Change(number) | Cell::Event(number) => json!(number),
        Cell::Share { part, whole } => json!({"part": part, "whole": whole}),
        Cell::Ratio(ratio) => json!(ratio),
    }
}

/// Converts evidence to JSON. A moment is written as the event before it, −1 before the first event.
fn as_evidence(evidence: &Evidence) -> Value {
    let after = |moment: u32| Moment(moment).event_or_minus_one();
    let mut fields = Map::new();
    if let Some(span) = evidence.span {
        let span = json!({"first_event": span.from, "events": span.to.saturating_sub(span.from)});
        fields.insert("span".to_owned(), span);
    }
    if let Some(moment) = evidence.moment {
        fields.insert("after_event".to_owned(), json!(after(moment)));
    }
    if let Some(allocation) = evidence.allocation {
        fields.insert("allocation".to_owned(), json!(allocation));
    }
    if let Some(find) = &evidence.find {
        fields.insert("find".to_owned(), json!(find));
    }
    Value::Object(fields)
}
