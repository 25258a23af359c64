//! Commands of the export dialog: one that opens it, and one for each format.

use crate::features::State;
use crate::features::command::Trait::BrowserOnly;
use crate::features::command::{Call, Command, EXPORT, FILES, Keys, Name, Row, Run, has_file, row, rows};
use crate::features::export::formats::{export_crop, export_format, export_with_sql};
use crate::features::export::toggle;
use crate::state::binding::KeyScope::{Export, Page};
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::picture_file::Format;
use protocol::ExportFormat;
use protocol::sql::SqlFile;

rows! {
    pub(crate) ROWS:
    TOGGLE = row(Page, FILES, &["i"], "Export", "export-open",
        |state, _| toggle(&mut state.export, &state.shared)).with(&[BrowserOnly]);
    CROP = file(&["n"], "Save a range as a smaller snapshot", "export-crop",
        |state, out| export_crop(&mut state.export, &state.shared, out));
    MINDSTUDIO = file(&["m"], "Export for MindStudio Insight", "export-mindstudio",
        |state, out| export_with_sql(&mut state.export, &state.shared, SqlFile::MindStudio, out));
    /// Chooses a trace of torch.profiler to add the memory to, or removes the chosen one.
    TRACE = file(&["u"], "Put the memory into a trace of torch.profiler", "export-trace-onto", |state, out| {
        if state.export.trace.take().is_none() {
            out.push(Effect::PickTrace);
        }
    });
}

rows! {
    pub(crate) FORMATS:
    SPEEDSCOPE = file(&["o"], "Export for speedscope", "export-speedscope",
        |state, out| write(state, ExportFormat::Speedscope, out));
    PPROF = file(&["p"], "Export for pprof", "export-pprof", |state, out| write(state, ExportFormat::Pprof, out));
    COLLAPSED = file(&["c"], "Export as collapsed stacks", "export-collapsed",
        |state, out| write(state, ExportFormat::Collapsed, out));
    FIREFOX = file(&["f"], "Export for the Firefox Profiler", "export-firefox",
        |state, out| write(state, ExportFormat::Firefox, out));
    PERFETTO = file(&["t"], "Export for Perfetto", "export-trace", |state, out| write(state, ExportFormat::Trace, out));
    DHAT = file(&["d"], "Export for DHAT", "export-dhat", |state, out| write(state, ExportFormat::Dhat, out));
    CSV = file(&["v"], "Export a table as CSV", "export-csv", |state, out| write(state, ExportFormat::Csv, out));
    JSON_LINES = file(&["j"], "Export a table as JSON lines", "export-jsonl",
        |state, out| write(state, ExportFormat::JsonLines, out));
}

const fn file(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    row(Export, EXPORT, keys, title, control, call).with(&[BrowserOnly])
}

fn write(state: &mut State, format: ExportFormat, out: &mut Outbox) {
    export_format(&mut state.export, &state.shared, format, out);
}

// The rows that save the picture. [`Format`] has their keys, titles and controls.
static SAVE_ROWS: [Row; Format::ALL.len()] = {
    let mut rows = [save_row(Format::ALL[0]); Format::ALL.len()];
    let mut index = 0;
    while index < rows.len() {
        rows[index] = save_row(Format::ALL[index]);
        index += 1;
    }
    rows
};

const fn save_row(format: Format) -> Row {
    let (keys, title, control) = format.entry();
    Row {
        scope: Export,
        group: EXPORT,
        keys,
        title,
        control,
        is_possible: has_file,
        run: Run::Save(format),
        traits: &[BrowserOnly],
    }
}

pub(crate) const SAVE: [Command; Format::ALL.len()] = Command::table(&SAVE_ROWS);

/// Returns the command that saves the picture in a format.
pub const fn save(format: Format) -> Command {
    Command::new(&SAVE_ROWS[format as usize])
}
