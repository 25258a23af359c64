//! Export to the formats of other tools, and of a range as a smaller snapshot.

use super::data::{Dialog, Export, ExportStep};
use crate::binding::{Binding, Scope, line};
use crate::comparing::Second;
use crate::effect::{Effect, FileToWrite, Then};
use crate::figure::words::plain;
use crate::shared::Shared;
use crate::to_write::to_write;
use base::units::{Moment, grouped};
use engine::protocol::{ExportFormat, ExportJob, ExportQuestion, ExportTable, Span, own_ordinal};

/// Number of the largest allocations in an exported trace.
const LARGEST: u32 = 200;

/// Describes the part of the trace that is exported.
pub fn exported(shared: &Shared) -> String {
    let after = Moment(shared.pinned.moment).event_or_minus_one();
    let live = match u64::try_from(after) {
        Ok(event) => format!("Live: after event {}.", grouped(event)),
        Err(_) => "Live: before the first event.".to_owned(),
    };
    match shared.pinned.range {
        Some(range) => {
            let last = u64::from(range.to).saturating_sub(1);
            format!("{live} Allocated: in events {}–{}.", grouped(range.from.into()), grouped(last))
        }
        None => format!("{live} Allocated: in the whole trace."),
    }
}

/// Returns the key and the button of a format in the dialog.
pub(super) const fn binding(format: ExportFormat) -> Binding<ExportStep> {
    let (keys, label, control): (&[&str], _, _) = match format {
        ExportFormat::Speedscope => (&["o"], "Export for speedscope", "export-speedscope"),
        ExportFormat::Pprof => (&["p"], "Export for pprof", "export-pprof"),
        ExportFormat::Collapsed => (&["c"], "Export as collapsed stacks", "export-collapsed"),
        ExportFormat::Firefox => (&["f"], "Export for the Firefox Profiler", "export-firefox"),
        ExportFormat::Trace => (&["t"], "Export for Perfetto", "export-trace"),
        ExportFormat::Dhat => (&["d"], "Export for DHAT", "export-dhat"),
        ExportFormat::Csv => (&["v"], "Export a table as CSV", "export-csv"),
        ExportFormat::JsonLines => (&["j"], "Export a table as JSON lines", "export-jsonl"),
    };
    line(Scope::Export, keys, ExportStep::Write(format), label, control)
}

/// Returns the common prefix of the names of files exported from the shown device.
fn name(shared: &Shared) -> Option<String> {
    let (device, is_second) = own_ordinal(shared.device()?.device);
    let file = match &shared.comparing.second {
        Second::Open(second, ..) if is_second => second,
        _ => shared.file()?,
    };
    let name = plain(&file.file);
    Some(if file.devices.len() > 1 { format!("{name}-gpu{device}") } else { name })
}

/// Starts the export of the shown device to a format.
pub(super) fn write(export: &mut Export, shared: &mut Shared, format: ExportFormat, effects: &mut Vec<Effect>) {
    let Some(name) = name(shared) else { return };
    let end = shared.end_moment();
    let range = shared.pinned.range.map_or(Span { from: 0, to: end }, |range| Span { from: range.from, to: range.to });
    let file = match format.has_rows() {
        true => format!("{name}-{}.{}", export.table.name(), format.ending()),
        false => format!("{name}.{}", format.ending()),
    };
    let at = shared.pinned.moment;
    let (table, scope) = (export.table, shared.views.scope);
    let question = ExportQuestion { format, table, at, range, scope, largest: LARGEST };
    begin(export, shared, ExportJob::Format(question), file, effects);
}

/// Starts the export of the chosen range as a snapshot.
pub(super) fn crop(export: &mut Export, shared: &mut Shared, effects: &mut Vec<Effect>) {
    let (Some(name), Some(events)) = (name(shared), export.crop.events(shared)) else { return };
    let source = shared.file().map_or_else(String::new, |file| file.file.clone());
    let file = format!("{name}-{}-{}.pickle", events[0], events[1].saturating_sub(1));
    begin(export, shared, ExportJob::Crop { events, source }, file, effects);
}

fn begin(export: &mut Export, shared: &mut Shared, job: ExportJob, file: String, effects: &mut Vec<Effect>) {
    let Some((snapshot, device)) = to_write(shared) else { return };
    export.dialog = Dialog::Closed;
    if export.is_writing {
        shared.remark = Some("Already writing a file.".to_owned());
        return;
    }
    export.is_writing = true;
    shared.remark = Some(format!("Writing {file}…"));
    let is = |wanted| matches!(&job, ExportJob::Format(ExportQuestion { format, .. }) if *format == wanted);
    let (is_packed, is_onto) = (is(ExportFormat::Pprof), is(ExportFormat::Trace) && export.trace.is_some());
    let categories = Box::new(shared.rules.set());
    effects.push(Effect::WriteFile(Box::new(FileToWrite {
        snapshot,
        device,
        job,
        categories,
        file,
        is_packed,
        is_onto,
        then: Then::Save,
    })));
}

/// Returns the name of a table in the dialog.
pub fn table_label(table: ExportTable) -> &'static str {
    match table {
        ExportTable::Allocations => "Allocations",
        ExportTable::Events => "Events",
        ExportTable::Segments => "Segments",
        ExportTable::Curve => "Live and reserved bytes",
        ExportTable::Stacks => "Call stacks",
    }
}
