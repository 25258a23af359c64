//! What reports are written with: statements, sheets, bytes as words, stacks as lines.
//!
//! What all reports call for each sentence is never inlined: small as it is, that would be another kB of wasm.

use super::column::{Column, cells};
use crate::open::OpenFile;
use crate::protocol::{
    Cell, Chart, ChartPart, Evidence, Report, ReportQuestion, Sheet, SheetRow, Span, Statement, Threshold, Tone,
};
use analysis::frame_line;
use base::units::{Bytes, EventIdx, Moment, grouped};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId};

/// Most rows of one sheet, however many are requested.
pub(super) const MOST_ROWS: u32 = 100_000;
/// Characters of a name that are shown.
const LONGEST_NAME: usize = 200;
/// Frames of a stack that are shown, the innermost ones.
const MOST_FRAMES: usize = 200;
/// Bytes of all stacks of a report: they may name the same long string endlessly often.
const MOST_TEXT: usize = 4 << 20;

/// A report on its way, and what it is about.
pub(super) struct Writing<'a> {
    pub(super) file: &'a OpenFile,
    pub(super) history: &'a DeviceHistory,
    pub(super) question: &'a ReportQuestion,
    pub(super) lines: StackLines,
    pub(super) report: Report,
}

impl<'a> Writing<'a> {
    /// Nothing is written yet.
    pub(super) fn new(file: &'a OpenFile, history: &'a DeviceHistory, question: &'a ReportQuestion) -> Writing<'a> {
        let report = Report { topic: question.topic, ..Report::default() };
        Writing { file, history, question, lines: StackLines::default(), report }
    }

    /// Another sentence.
    #[inline(never)]
    pub(super) fn say(&mut self, tone: Tone, text: String, evidence: Option<Evidence>) {
        self.report.statements.push(says(tone, text, evidence));
    }

    /// What to change about what the last sentence says.
    #[inline(never)]
    pub(super) fn fix(&mut self, fix: &str) {
        self.report.statements.last_mut().into_iter().for_each(|last| last.fix = fix.to_owned());
    }

    /// The chart of the last sentence; without one where there is nothing to draw.
    #[inline(never)]
    pub(super) fn chart(&mut self, chart: Chart) {
        let is_empty = match &chart {
            Chart::Course { values, .. } => values.len() < 2,
            Chart::Parts(parts) => parts.iter().all(|part| part.bytes == 0),
            Chart::Map(map) => map.rows.is_empty(),
            Chart::Delta(_, boxes) => boxes.is_empty(),
        };
        self.report.statements.last_mut().into_iter().for_each(|last| last.chart = (!is_empty).then(|| chart.clone()));
    }

    /// The same of a whole and its parts: what has none is left out.
    #[inline(never)]
    pub(super) fn parts(&mut self, parts: &[(&str, u64)]) {
        let some = parts.iter().filter(|(_, bytes)| *bytes > 0);
        self.chart(Chart::Parts(
            some.map(|&(name, bytes)| ChartPart { name: name.to_owned(), bytes, slot: None }).collect(),
        ));
    }

    /// How many rows of a sheet are shown.
    pub(super) fn most_rows(&self) -> usize {
        self.question.rows.min(MOST_ROWS) as usize
    }

    /// A row about one allocation, without its cells.
    pub(super) fn allocation_row(&mut self, id: AllocationId, moment: Option<u32>) -> SheetRow {
        let stack = self.lines.of(&self.file.snapshot, self.file.stack(self.history, id));
        SheetRow { stack, ..row(allocation(id.0, moment)) }
    }

    /// Puts rows into a sheet, as many as are asked for, and the sheet into the report: a row for each of `ranked`, which `row` has all of
    /// but the cells.
    pub(super) fn fill<R: Copy>(
        &mut self,
        mut sheet: Sheet,
        columns: &[Column<'_, R>],
        ranked: &[R],
        mut row: impl FnMut(&mut Self, R) -> SheetRow,
    ) {
        let told = ranked.get(..self.most_rows()).unwrap_or(ranked);
        sheet.left_out = sheet.left_out.max(ranked.len() as u32).saturating_sub(told.len() as u32);
        sheet.rows = told.iter().map(|&of| SheetRow { cells: cells(columns, of), ..row(self, of) }).collect();
        self.report.sheets.push(sheet);
    }
}

/// A name, cut where it is too long to read; rows without end may have the same one.
pub(super) fn cut(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => [name.get(..end).unwrap_or_default(), "…"].concat(),
        None => name.to_owned(),
    }
}

/// What is looked for to find a category.
pub(super) fn category_query(name: &str) -> String {
    let quote = if name.contains('"') { "" } else { "\"" };
    ["@category ", quote, name, quote].concat()
}

/// A sentence.
#[inline(never)]
pub(super) fn says(tone: Tone, text: String, evidence: Option<Evidence>) -> Statement {
    Statement { tone, text, fix: String::new(), chart: None, evidence }
}

/// A row by what it rests on, without its cells.
#[inline(never)]
pub(super) fn row(evidence: Evidence) -> SheetRow {
    SheetRow { evidence: Some(evidence), ..SheetRow::default() }
}

/// That a range of the trace is shown, and a moment of it.
#[inline(never)]
pub(super) fn shown(span: Span, moment: u32) -> Evidence {
    Evidence { span: Some(span), moment: Some(moment), ..Evidence::default() }
}

/// Bytes in a sentence: `38.1 MiB`. To the byte they stand in tables.
pub(super) fn bytes(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// A moment in a sentence: `after event 3,216`.
pub(super) fn when(moment: u32) -> String {
    match Moment(moment).event() {
        None => "before the first event".to_owned(),
        Some(EventIdx(event)) => "after event ".to_owned() + &grouped(event.into()),
    }
}

/// That a moment is shown.
#[inline(never)]
pub(super) fn at(moment: u32) -> Evidence {
    Evidence { moment: Some(moment), ..Evidence::default() }
}

/// The event by which an allocation was freed.
pub(super) fn freed_by(history: &DeviceHistory, id: AllocationId) -> Cell {
    let freed = history.allocations.died(id).and_then(Moment::event);
    freed.map_or(Cell::Nothing, |EventIdx(event)| Cell::Event(event.into()))
}

/// That an allocation is selected, at a moment.
#[inline(never)]
pub(super) fn allocation(id: u32, moment: Option<u32>) -> Evidence {
    Evidence { moment, allocation: Some(id), ..Evidence::default() }
}

/// A threshold (key, label, unit) as it is asked for, or else `value`.
#[inline(never)]
pub(super) fn threshold(question: &ReportQuestion, [key, label, unit]: [&str; 3], value: u64) -> Threshold {
    let asked = question.thresholds.iter().rev().find(|(asked, _)| asked == key);
    let value = asked.map_or(value, |(_, value)| *value);
    Threshold { key: key.to_owned(), label: label.to_owned(), unit: unit.to_owned(), value }
}

/// Stacks as lines, until there is too much of them for one report.
pub(super) struct StackLines {
    left: usize,
}

impl Default for StackLines {
    fn default() -> StackLines {
        StackLines { left: MOST_TEXT }
    }
}

impl StackLines {
    /// The lines of a stack, innermost first, whole paths.
    pub(super) fn of(&mut self, snapshot: &Snapshot, stack: StackId) -> Vec<String> {
        self.of_frames(snapshot, snapshot.stacks.frames(stack))
    }

    /// The lines of these frames.
    pub(super) fn of_frames(&mut self, snapshot: &Snapshot, frames: impl Iterator<Item = FrameId>) -> Vec<String> {
        let mut lines = Vec::new();
        for frame in frames.take(MOST_FRAMES) {
            let mut line = String::new();
            frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
            if line.len() > self.left {
                self.left = 0;
                break;
            }
            self.left -= line.len();
            lines.push(line);
        }
        lines
    }
}
