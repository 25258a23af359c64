//! Table of the numbers that Mosaic reports for the same trace.

use super::region_bytes::RegionPass;
use super::sheets::name_text;
use crate::report::column::{self, cells, sheet};
use crate::report::writer::{ReportWriter, evidence_row, moment_evidence};
use hashbrown::HashMap;
use history::snapshot::StringId;
use protocol::SheetRow;

struct Row {
    kind: &'static str,
    name: String,
    bytes: u64,
    moment: u32,
}

/// Writes the table. Its rows are peaks of the trace and of a range, and live bytes by compiled region, annotation and
/// stage.
pub(super) fn write_mosaic(writer: &mut ReportWriter<'_>, pass: &RegionPass) {
    let (snapshot, history) = (writer.side.snapshot(), writer.side.history);
    let note =
        "As in Mosaic's reports, without the baseline. A stage: live bytes at the START or END of an annotation.";
    let mut found: Vec<Row> = Vec::new();
    let mut add = |kind, name, bytes, moment| found.push(Row { kind, name, bytes, moment });
    let peak = pass.mosaic_peak.moment;
    add("dynamic peak", String::new(), pass.mosaic_peak.bytes, peak);
    if let Some((_, highest)) = pass.window_peak {
        add("peak of the range", String::new(), highest.bytes, highest.moment.min(history.event_count()));
    }
    let rows = writer.max_rows();
    let mut left_out = 0;
    let mut at_peak = |kind: &'static str, all: Vec<(Option<StringId>, u64)>, none: &str| {
        left_out += all.len().saturating_sub(rows);
        let all = base::sorted::sorted_by_key(all, |&(_, bytes)| u128::from(!bytes));
        for (name, bytes) in all.into_iter().take(rows) {
            add(kind, name.map_or_else(|| none.to_owned(), |name| name_text(snapshot, name)), bytes, peak);
        }
    };
    let regions = pass.regions.iter().filter(|region| region.mosaic_at_peak > 0);
    let regions = regions.map(|region| (region.name, region.mosaic_at_peak));
    at_peak("compile_context at the peak", regions.collect(), "N/A");
    at_peak("annotation at the peak", pass.annotations.clone(), "");
    let mut times: HashMap<(StringId, bool), u32, foldhash::fast::RandomState> = HashMap::default();
    for (mark, &usage) in snapshot.marks.iter().zip(&pass.usages) {
        let mut name = format!("{}{}", name_text(snapshot, mark.name), if mark.start { "_START" } else { "_END" });
        let before = times.entry((mark.name, mark.start)).or_insert(0);
        if *before > 0 {
            name.push_str(&["(", &before.to_string(), ")"].concat());
        }
        *before += 1;
        let until = history.events.times.time_axis();
        let moment = until.map_or(0, |clock| clock.events_before_us(mark.time_us.saturating_add(1)));
        add("stage", name, usage, moment);
    }
    if !pass.usages.is_empty() {
        left_out += snapshot.marks.len().saturating_sub(rows);
    }
    let columns = [
        column::text("what", "what", |it: &Row| it.kind.to_owned()),
        column::text("name", "name", |it: &Row| it.name.clone()),
        column::bytes("live_bytes", "live", |it: &Row| it.bytes),
        column::event("event", "after event", |it: &Row| it.moment),
    ];
    let mut sheet = sheet(["mosaic", "Mosaic's numbers", note], &columns);
    sheet.rows = found
        .iter()
        .map(|it| SheetRow { cells: cells(&columns, it), ..evidence_row(moment_evidence(it.moment)) })
        .collect();
    sheet.left_out = left_out as u32;
    writer.report.sheets.push(sheet);
}
