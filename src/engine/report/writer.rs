//! Building blocks of reports: statements, tables, formatted numbers and stack lines.
//!
//! Functions that reports call for each sentence are never inlined, because the copies would add about 1 kB of wasm.

use super::column::{Column, add_rows};
use crate::open::OpenFile;
use crate::side::Side;
use analysis::{RuleCache, frame_line};
pub(super) use base::units::moment_text;
use base::units::{Bytes, EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId};
use protocol::{
    Cell, Chart, ChartPart, Evidence, Headline, Report, ReportQuestion, Sheet, SheetRow, Span, Statement, Threshold,
    Tone,
};

/// Maximum number of rows per table, even if the query allows more.
pub(super) const MAX_ROWS: u32 = 100_000;
/// Maximum length of a name, in characters.
const MAX_NAME_LEN: usize = 200;
/// Maximum number of frames of a stack that are shown. These are the innermost frames.
const MAX_FRAMES: usize = 200;
/// Maximum size of all stack lines of a report, in bytes. It limits the output if a file repeats a long name in many
/// frames.
const MAX_TEXT: usize = 4 << 20;

/// Builder of a report, with access to the file and the query.
pub(super) struct ReportWriter<'a> {
    pub(super) side: Side<'a>,
    pub(super) question: &'a ReportQuestion,
    pub(super) lines: StackLines,
    /// Further stacks of rows. They have a limit of their own, so that each row has its first stack.
    pub(super) other_lines: StackLines,
    pub(super) report: Report,
}

impl<'a> ReportWriter<'a> {
    /// Creates an empty report.
    pub(super) fn new(side: Side<'a>, question: &'a ReportQuestion) -> ReportWriter<'a> {
        let report = Report { topic: question.topic, ..Report::default() };
        ReportWriter { side, question, lines: StackLines::default(), other_lines: StackLines::default(), report }
    }

    /// Appends a statement without a suggested action.
    pub(super) fn add_statement(&mut self, tone: Tone, text: String, evidence: Option<Evidence>) {
        self.report.statements.push(statement(tone, text, evidence));
    }

    /// Sets the suggested action of the last statement. An empty text removes it.
    pub(super) fn set_fix(&mut self, fix: &str) {
        self.report.statements.last_mut().into_iter().for_each(|last| last.fix = fix.to_owned());
    }

    /// Sets the chart of the last statement, unless the chart is empty.
    pub(super) fn set_chart(&mut self, chart: Chart) {
        let is_empty = match &chart {
            Chart::Line { values, .. } => values.len() < 2,
            Chart::Parts(parts) => parts.iter().all(|part| part.bytes == 0),
            Chart::HeatMap(map) => map.rows.is_empty(),
            Chart::Delta(_, boxes) => boxes.is_empty(),
        };
        self.report.statements.last_mut().into_iter().for_each(|last| last.chart = (!is_empty).then(|| chart.clone()));
    }

    /// Sets a chart that shows the parts of a total for the last statement. Parts without bytes are left out.
    pub(super) fn set_parts_chart(&mut self, parts: &[(&str, u64)]) {
        let shown = parts.iter().filter(|(_, bytes)| *bytes > 0);
        self.set_chart(Chart::Parts(
            shown.map(|&(name, bytes)| ChartPart { name: name.to_owned(), bytes, slot: None }).collect(),
        ));
    }

    /// Makes the last statement the headline of the report. `text` says it in one short sentence.
    pub(super) fn set_headline(&mut self, text: String) {
        let statement = (self.report.statements.len() as u32).saturating_sub(1);
        self.report.headline = Some(Headline { text, statement });
    }

    /// Returns the maximum number of rows per table.
    pub(super) fn max_rows(&self) -> usize {
        self.question.rows.min(MAX_ROWS) as usize
    }

    /// Creates a row for an allocation, without cells. A click on the row selects the allocation and moves the cursor
    /// to `moment`, if given.
    pub(super) fn allocation_row(&mut self, id: AllocationId, moment: Option<u32>) -> SheetRow {
        let stack = self.lines.stack_lines(self.side.file, self.side.stack(id));
        SheetRow { stack, ..evidence_row(allocation_evidence(id.0, moment)) }
    }

    /// Adds a table to the report, with one row for each item of `ranked` up to the maximum. `row` creates the row of
    /// an item, without cells.
    pub(super) fn add_sheet<R: Copy>(
        &mut self,
        sheet: Sheet,
        columns: &[Column<'_, R>],
        ranked: &[R],
        mut row: impl FnMut(&mut Self, R) -> SheetRow,
    ) {
        let sheet = add_rows(sheet, columns, ranked, self.max_rows(), |item| row(self, item));
        self.report.sheets.push(sheet);
    }
}

/// Minimum effect in bytes that is always worth a statement. Smaller effects are worth one if they are at least 1 % of
/// the whole.
pub(super) const MIN_EFFECT: u64 = 64 << 20;

/// Returns whether an effect of `bytes` on `whole` is worth a statement.
pub(super) fn is_notable(bytes: u64, whole: u64) -> bool {
    bytes >= MIN_EFFECT || (bytes > 0 && u128::from(bytes) * 100 >= u128::from(whole))
}

/// Truncates a name to [`MAX_NAME_LEN`] characters, because many rows may repeat it.
pub(super) fn truncate(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME_LEN) {
        Some((end, _)) => [name.get(..end).unwrap_or_default(), "…"].concat(),
        None => name.to_owned(),
    }
}

/// Returns the search query that matches the allocations of a category.
pub(super) fn category_query(name: &str) -> String {
    let quote = if name.contains('"') { "" } else { "\"" };
    ["@category ", quote, name, quote].concat()
}

/// Creates a statement that has neither a suggested action nor a chart.
pub(super) fn statement(tone: Tone, text: String, evidence: Option<Evidence>) -> Statement {
    Statement { tone, text, fix: String::new(), chart: None, evidence }
}

/// Creates a row without cells. A click on the row shows `evidence`.
pub(super) fn evidence_row(evidence: Evidence) -> SheetRow {
    SheetRow { evidence: Some(evidence), ..SheetRow::default() }
}

/// Returns evidence that shows a range of the trace and moves the cursor to a moment in this range.
pub(super) fn range_evidence(span: Span, moment: u32) -> Evidence {
    Evidence { span: Some(span), moment: Some(moment), ..Evidence::default() }
}

/// Formats a number of bytes for a statement, such as `38.1 MiB`. Tables show exact values.
pub(super) fn bytes_text(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// Returns evidence that moves the cursor to a moment.
pub(super) fn moment_evidence(moment: u32) -> Evidence {
    Evidence { moment: Some(moment), ..Evidence::default() }
}

/// Returns a table cell with the event that freed an allocation.
pub(super) fn freed_by_cell(history: &DeviceHistory, id: AllocationId) -> Cell {
    let freed = history.allocations.freed_at(id).and_then(Moment::event);
    freed.map_or(Cell::Empty, |EventIdx(event)| Cell::Event(event.into()))
}

/// Returns evidence that selects an allocation and moves the cursor to a moment, if one is given.
pub(super) fn allocation_evidence(id: u32, moment: Option<u32>) -> Evidence {
    Evidence { moment, allocation: Some(id), ..Evidence::default() }
}

/// Creates a threshold from its key, label and unit. The threshold is taken from the query. If the query does not set
/// it, `value` is used.
pub(super) fn threshold(question: &ReportQuestion, [key, label, unit]: [&str; 3], value: u64) -> Threshold {
    let chosen = question.thresholds.iter().rev().find(|(chosen, _)| chosen == key);
    let value = chosen.map_or(value, |(_, value)| *value);
    Threshold { key: key.to_owned(), label: label.to_owned(), unit: unit.to_owned(), value }
}

/// Stacks formatted as lines of text, without internal frames. All stacks of a report take at most [`MAX_TEXT`] bytes.
pub(super) struct StackLines {
    bytes_left: usize,
    internal: RuleCache,
}

impl Default for StackLines {
    fn default() -> StackLines {
        StackLines { bytes_left: MAX_TEXT, internal: RuleCache::default() }
    }
}

impl StackLines {
    /// Returns the lines of a stack, innermost frame first, with full paths.
    pub(super) fn stack_lines(&mut self, file: &OpenFile, stack: StackId) -> Vec<String> {
        if self.bytes_left == 0 {
            return Vec::new();
        }
        let frames = file.stack_trees.rules().shown_frames(&file.snapshot, stack, &mut self.internal);
        self.frame_lines(&file.snapshot, frames.into_iter())
    }

    /// Returns the lines of the first [`MAX_FRAMES`] frames. Fewer lines are returned if the report reaches
    /// [`MAX_TEXT`].
    pub(super) fn frame_lines(&mut self, snapshot: &Snapshot, frames: impl Iterator<Item = FrameId>) -> Vec<String> {
        let mut lines = Vec::new();
        for frame in frames.take(MAX_FRAMES) {
            let mut line = String::new();
            frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
            if line.len() > self.bytes_left {
                self.bytes_left = 0;
                break;
            }
            self.bytes_left -= line.len();
            lines.push(line);
        }
        lines
    }
}
