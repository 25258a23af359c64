//! Export to the formats of other tools, and of a range as a smaller snapshot.

use crate::features::export::data::{Dialog, Export};
use crate::plot::figure::words::file_stem;
use crate::session::snapshot_to_save::snapshot_to_save;
use crate::state::comparing::SecondFile;
use crate::state::effect::{AfterWrite, Effect, FileToWrite};
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use base::units::{Moment, group_digits};
use protocol::sql::SqlFile;
use protocol::{ExportFormat, ExportJob, ExportQuestion, ExportTable, Span, split_ordinal};

/// Number of allocations in an exported trace: the largest ones.
const MAX_TRACE_ALLOCATIONS: u32 = 200;

/// Describes the part of the trace that is exported: the cursor for live bytes, and the range for allocated bytes.
pub fn describe_scope(shared: &Shared) -> String {
    let after = Moment(shared.cursor.moment).event_or_minus_one();
    let live = match u64::try_from(after) {
        Ok(event) => format!("Live: after event {}.", group_digits(event)),
        Err(_) => "Live: before the first event.".to_owned(),
    };
    match shared.cursor.range {
        Some(range) => {
            let last = u64::from(range.to).saturating_sub(1);
            format!("{live} Allocated: in events {}–{}.", group_digits(range.from.into()), group_digits(last))
        }
        None => format!("{live} Allocated: in the whole trace."),
    }
}

/// Returns the common prefix of the names of files exported from the shown device.
fn file_prefix(shared: &Shared) -> Option<String> {
    let (device, is_second) = split_ordinal(shared.device()?.device);
    let file = match &shared.comparing.second {
        SecondFile::Open(second, ..) if is_second => second,
        _ => shared.file()?,
    };
    let name = file_stem(&file.file);
    Some(if file.devices.len() > 1 { format!("{name}-gpu{device}") } else { name })
}

/// Starts exporting the data of the shown device in the given format.
pub(super) fn export_format(export: &mut Export, shared: &Shared, format: ExportFormat, out: &mut Outbox) {
    let Some(name) = file_prefix(shared) else { return };
    let end = shared.end_moment();
    let range = shared.cursor.range.map_or(Span { from: 0, to: end }, |range| Span { from: range.from, to: range.to });
    let file = match format.has_rows() {
        true => format!("{name}-{}.{}", export.table.name(), format.extension()),
        false => format!("{name}.{}", format.extension()),
    };
    let cursor = shared.cursor.moment;
    let (table, scope) = (export.table, shared.views.scope);
    let question = ExportQuestion { format, table, cursor, range, scope, largest: MAX_TRACE_ALLOCATIONS };
    start_job(export, shared, ExportJob::Format(question), file, out);
}

/// Starts exporting the selected range of events as a smaller snapshot.
pub(super) fn export_crop(export: &mut Export, shared: &Shared, out: &mut Outbox) {
    let (Some(name), Some(events)) = (file_prefix(shared), export.crop.events(shared)) else { return };
    let source = shared.file().filter(|_| !export.leave_out.paths);
    let source = source.map_or_else(String::new, |file| file.file.clone());
    let file = format!("{name}-{}-{}.pickle", events[0], events[1].saturating_sub(1));
    start_job(export, shared, ExportJob::Crop { events, source }, file, out);
}

/// Starts exporting all devices of the shown snapshot to a file that SQL writes.
pub(super) fn export_with_sql(export: &mut Export, shared: &Shared, tool: SqlFile, out: &mut Outbox) {
    start(export, shared, ExportJob::Columns, tool.file_name().to_owned(), AfterWrite::Convert(tool), out);
}

fn start_job(export: &mut Export, shared: &Shared, job: ExportJob, file: String, out: &mut Outbox) {
    start(export, shared, job, file, AfterWrite::Save, out);
}

fn start(export: &mut Export, shared: &Shared, job: ExportJob, file: String, next: AfterWrite, out: &mut Outbox) {
    let Some((snapshot, device)) = snapshot_to_save(shared) else { return };
    export.dialog = Dialog::Closed;
    if export.writing.is_some() {
        out.say("Already writing a file.");
        return;
    }
    let leave_out = export.leave_out;
    let is = |wanted| matches!(&job, ExportJob::Format(ExportQuestion { format, .. }) if *format == wanted);
    let (is_gzipped, extends_trace) = (is(ExportFormat::Pprof), is(ExportFormat::Trace) && export.trace.is_some());
    if extends_trace && leave_out.is_any() {
        out.say("The profiler trace has private texts of its own. Remove it, or keep the texts.");
        return;
    }
    export.writing = Some(leave_out);
    out.say(format!("Writing {file}…"));
    let categories = Box::new(shared.rules.set());
    out.push(Effect::WriteFile(Box::new(FileToWrite {
        snapshot,
        device,
        job,
        categories,
        file,
        is_gzipped,
        extends_trace,
        leave_out,
        next,
    })));
}

/// Returns the label of a table in the export dialog.
pub fn table_label(table: ExportTable) -> &'static str {
    match table {
        ExportTable::Allocations => "Allocations",
        ExportTable::Events => "Events",
        ExportTable::Segments => "Segments",
        ExportTable::Curve => "Live and reserved bytes",
        ExportTable::Stacks => "Call stacks",
    }
}
