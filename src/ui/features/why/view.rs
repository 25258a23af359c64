//! What the tab "Why" shows: a report as statements and sheets of text. It knows no topic from another.

use super::cells::{Shown, plain, shown};
use super::{Item, MOST_ROWS, Why};
use crate::amount::{change, per_mille};
use crate::cell_text::total;
use crate::shared::Shared;
use base::units::{Bytes, counted};
use engine::protocol::{Cell, Chart, ChartMap, DeltaBox, Report, Sheet, Threshold, Tone, Topic};
use std::rc::Rc;

/// The sign of a tone, and what it says aloud; nothing for what only says what is.
pub fn sign(tone: Tone) -> [&'static str; 2] {
    match tone {
        Tone::Fact => ["", ""],
        Tone::Good => ["✓", "Good: "],
        Tone::Alarm => ["⚠", "Warning: "],
    }
}

/// All that the report on the page depends on, but for what is marked and active.
#[derive(Clone, Debug)]
pub struct Basis {
    report: Option<Rc<Report>>,
    seen: Vec<(String, u64)>,
    unfolded: Vec<(Topic, Item)>,
    folded: Vec<(Topic, String)>,
}

impl PartialEq for Basis {
    fn eq(&self, other: &Basis) -> bool {
        let same = match (&self.report, &other.report) {
            (Some(one), Some(another)) => Rc::ptr_eq(one, another),
            (one, another) => one.is_none() && another.is_none(),
        };
        same && self.seen == other.seen && self.unfolded == other.unfolded && self.folded == other.folded
    }
}

/// What the report depends on now.
pub fn basis(why: &Why) -> Basis {
    let sheets = why.report().into_iter().flat_map(|report| &report.sheets);
    let seen = sheets.map(|sheet| (sheet.key.clone(), why.limit(&sheet.key))).collect();
    Basis { report: why.report().cloned(), seen, unfolded: why.unfolded.clone(), folded: why.folded.clone() }
}

/// What of the tab changes while a report stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub topic: Topic,
    /// Whether there is a comparison to tell of.
    pub is_compared: bool,
    /// Whether there are ranks to tell of.
    pub is_surveyed: bool,
    /// Topics whose reports, as far as they are known, warn of something.
    pub alarms: Vec<Topic>,
    /// Whether what is seen is being asked for anew.
    pub is_busy: bool,
    /// The item that was clicked last, by its place among all of the report.
    pub marked: Option<usize>,
    /// The item that keys start from.
    pub active: usize,
    /// What stands there instead of a report.
    pub note: &'static str,
}

/// The topics whose reports warn of something, as far as they are known.
pub fn alarms(why: &Why) -> Vec<Topic> {
    let is_alarm = |report: &Report| report.statements.iter().any(|statement| statement.tone == Tone::Alarm);
    let warns = |topic: &Topic| why.known.iter().any(|(of, report)| of.topic == *topic && is_alarm(report));
    Topic::ALL.into_iter().filter(warns).collect()
}

/// The marks.
pub fn marks(why: &Why, shared: &Shared) -> Marks {
    let items = why.items();
    let note = match why.report() {
        None if why.is_reading() => "Computing…",
        None if why.topic == Topic::Comparison => "Loading…",
        None if why.topic == Topic::Ranks && shared.ranks.is_begun() => "Surveying…",
        Some(report) if report.statements.is_empty() && report.sheets.is_empty() => {
            "Nothing to report for this device."
        }
        _ => "",
    };
    Marks {
        topic: why.topic,
        is_compared: shared.is_compared(),
        is_surveyed: shared.ranks.is_any(),
        alarms: alarms(why),
        is_busy: why.is_reading(),
        marked: items.iter().position(|item| why.is_marked(item)),
        active: why.active.min(items.len().saturating_sub(1)),
        note,
    }
}

/// The report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub statements: Vec<Said>,
    pub sheets: Vec<SheetView>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub tone: Tone,
    pub text: String,
    /// What to change; empty where nothing is to be.
    pub fix: String,
    pub chart: Option<ChartView>,
    /// Whether a click shows what it rests on.
    pub is_shown: bool,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    pub kind: ChartKind,
    /// Its bars or parts.
    pub marks: Vec<ChartMark>,
    /// What it says, for those who do not see it: what it rises from and to; of parts nothing.
    pub text: String,
    pub map: Option<ChartMap>,
    /// The boxes of a flame graph of two.
    pub boxes: Vec<BoxView>,
}

/// A box of a flame graph of two.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxView {
    pub depth: u32,
    /// Of [`DeltaBox::WHOLE`].
    pub left: u32,
    pub width: u32,
    /// `▲ +1.20 GiB model.py:12 forward`, and the same with A and B.
    pub label: String,
    pub title: String,
    /// `more`, `less` or `same`: the class.
    pub way: &'static str,
}

/// How the marks of a chart stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Bars from left to right, as high as their parts.
    Course,
    /// Parts of one bar, as wide as their parts.
    Parts,
    Map,
    /// Boxes below those that call them.
    Delta,
}

/// A mark of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartMark {
    /// Of the highest bar, or of the whole, in tenths of a percent.
    pub part: u32,
    /// `Live 3.20 GiB`.
    pub label: String,
    /// See [`engine::protocol::ChartPart::slot`].
    pub slot: Option<u32>,
}

fn chart(chart: &Chart) -> ChartView {
    let mark = |whole: u64, bytes: u64, name: &str, slot| ChartMark {
        slot,
        part: per_mille(bytes, whole),
        label: [name, " ", &Bytes(bytes).to_string()].concat().trim().to_owned(),
    };
    match chart {
        Chart::Parts(parts) => {
            let whole = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
            let marks = parts.iter().map(|part| mark(whole, part.bytes, &part.name, part.slot)).collect();
            ChartView { kind: ChartKind::Parts, marks, text: String::new(), map: None, boxes: Vec::new() }
        }
        Chart::Course { values, ends } => {
            let most = values.iter().copied().max().unwrap_or(0);
            let text = |bytes: Option<&u64>, end: &str| {
                [&Bytes(bytes.copied().unwrap_or(0)).to_string(), " after ", end].concat()
            };
            let text = [text(values.first(), &ends[0]), text(values.last(), &ends[1])].join(" → ");
            let marks = values.iter().map(|&bytes| mark(most, bytes, "", None)).collect();
            ChartView { kind: ChartKind::Course, marks, text, map: None, boxes: Vec::new() }
        }
        Chart::Map(map) => ChartView {
            kind: ChartKind::Map,
            marks: Vec::new(),
            text: map_text(map),
            map: Some(map.clone()),
            boxes: Vec::new(),
        },
        Chart::Delta(by, boxes) => ChartView {
            kind: ChartKind::Delta,
            marks: Vec::new(),
            text: ["Live bytes (requested) by ", by, ". Width: the larger of A and B. ▲ more in B, ▼ less."].concat(),
            map: None,
            boxes: boxes.iter().map(box_view).collect(),
        },
    }
}

/// A sign besides the colour, and both numbers to read.
fn box_view(of: &DeltaBox) -> BoxView {
    let (way, glyph) = match of.b.cmp(&of.a) {
        std::cmp::Ordering::Greater => ("more", "▲ "),
        std::cmp::Ordering::Less => ("less", "▼ "),
        std::cmp::Ordering::Equal => ("same", ""),
    };
    let delta = if of.a == of.b { String::new() } else { change(of.a, of.b) + " " };
    let label = [glyph, &delta, &of.name].concat();
    let title = [&label, "\nA ", &Bytes(of.a).to_string(), " · B ", &Bytes(of.b).to_string()].concat();
    BoxView { depth: of.depth, left: of.left, width: of.width, label, title, way }
}

/// What a map shows.
fn map_text(map: &ChartMap) -> String {
    let whole = if map.is_capacity { "the device's capacity" } else { "the highest peak" };
    let aligned = match map.steps {
        0 => "from the first event to the last".to_owned(),
        steps => format!("aligned by {}", counted(steps.into(), "step")),
    };
    format!("Live bytes (requested) of each rank, {aligned}. Scale: 0 to {}, {whole}.", Bytes(map.most))
}

/// A sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetView {
    /// Its name; of one report no two are equal.
    pub key: String,
    pub title: String,
    /// Whether only the title is seen.
    pub is_folded: bool,
    /// What its numbers mean.
    pub note: String,
    /// The threshold, and in short what it is.
    pub threshold: Option<(Threshold, String)>,
    /// Headings, and whether what is below them are numbers.
    pub columns: Vec<(String, Kind)>,
    pub rows: Vec<RowView>,
    /// The cells of the row at the foot.
    pub total: Vec<Shown>,
    /// What the button says that shows more rows; empty where there are no more.
    pub more: String,
    /// How many rows there are beyond those that the page shows at most; else empty.
    pub beyond: String,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The names of the rows: it takes the room that is left.
    Name,
    Text,
    /// Numbers.
    Number,
    /// Shares, with bars.
    Share,
}

impl Kind {
    /// The class of its cells.
    pub fn class(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Text => "text",
            Kind::Number => "number",
            Kind::Share => "share",
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowView {
    /// Its place among all statements and rows of the report that are seen.
    pub place: usize,
    pub depth: u32,
    pub tone: Tone,
    /// Its cells, one a column, and each as a spreadsheet has it.
    pub cells: Vec<(Shown, String)>,
    /// Whether a click shows what it rests on.
    pub is_shown: bool,
    /// Whether it has a stack, and the lines of it that are seen.
    pub stack: Stack,
}

/// The stack of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stack {
    /// It has none.
    None,
    /// It is not seen.
    Folded,
    Unfolded(Vec<String>),
}

/// The report as text.
pub fn view(why: &Why) -> View {
    let Some(report) = why.report() else { return View::default() };
    let said = report.statements.iter().map(|statement| Said {
        tone: statement.tone,
        text: statement.text.clone(),
        fix: statement.fix.clone(),
        chart: statement.chart.as_ref().map(chart),
        is_shown: statement.evidence.is_some(),
    });
    let statements: Vec<Said> = said.collect();
    let mut place = statements.len();
    let sheet_view = |sheet: &Sheet| {
        let seen = why.seen(&sheet.key, sheet.rows.len());
        sheet_view(why, sheet, &mut place, seen)
    };
    let sheets = report.sheets.iter().map(sheet_view).collect();
    View { statements, sheets }
}

/// What the rules of categories bring about: the first table of their report, whole.
pub fn categories(why: &Why) -> Option<SheetView> {
    let sheet = why.report_of(Topic::Categories)?.sheets.first()?;
    let mut view = sheet_view(why, sheet, &mut 0, sheet.rows.len());
    // Beside the rules, nothing is clicked in it.
    for row in &mut view.rows {
        (row.is_shown, row.stack) = (false, Stack::None);
    }
    Some(view)
}

fn sheet_view(why: &Why, sheet: &Sheet, place: &mut usize, seen: usize) -> SheetView {
    let mut rows = Vec::with_capacity(seen);
    for (row, line) in sheet.rows.iter().take(seen).enumerate() {
        let item = Item { sheet: Some(sheet.key.clone()), row };
        rows.push(RowView {
            place: *place,
            depth: line.depth,
            tone: line.tone,
            cells: line.cells.iter().map(|cell| (shown(cell), plain(cell))).collect(),
            is_shown: line.evidence.is_some(),
            stack: match (line.stack.is_empty(), why.is_unfolded(&item)) {
                (true, _) => Stack::None,
                (false, false) => Stack::Folded,
                (false, true) => Stack::Unfolded(line.stack.clone()),
            },
        });
        *place += 1;
    }
    let hidden = u64::from(sheet.left_out).saturating_add((sheet.rows.len() - seen) as u64);
    let threshold = sheet.threshold.clone().map(|threshold| {
        let short = if threshold.unit == "bytes" { Bytes(threshold.value).to_string() } else { String::new() };
        (threshold, short)
    });
    let hidden = if hidden == 0 { String::new() } else { counted(hidden, "row") + " more" };
    let (more, beyond) =
        if why.limit(&sheet.key) < MOST_ROWS { (hidden, String::new()) } else { (String::new(), hidden) };
    SheetView {
        key: sheet.key.clone(),
        title: sheet.title.clone(),
        is_folded: why.is_folded(&sheet.key) && seen == 0,
        note: sheet.note.clone(),
        threshold,
        columns: columns(sheet),
        rows,
        total: total(sheet).iter().flat_map(|row| &row.cells).map(shown).collect(),
        more,
        beyond,
    }
}

/// What the columns hold, by what stands in them: the first of words is that of the names.
fn columns(sheet: &Sheet) -> Vec<(String, Kind)> {
    let mut has_name = false;
    let mut columns = Vec::with_capacity(sheet.columns.len());
    for (at, column) in sheet.columns.iter().enumerate() {
        let cells = sheet.rows.iter().map(|row| &row.cells).chain([&sheet.total]);
        let kind = cells.filter_map(|cells| cells.get(at)).find_map(|cell| match cell {
            Cell::Nothing => None,
            Cell::Text(_) => Some(Kind::Text),
            Cell::Share { .. } => Some(Kind::Share),
            _ => Some(Kind::Number),
        });
        let kind = match kind {
            Some(Kind::Text) | None if !has_name => {
                has_name = true;
                Kind::Name
            }
            kind => kind.unwrap_or(Kind::Number),
        };
        columns.push((column.label.clone(), kind));
    }
    columns
}

/// A sheet for a spreadsheet: headings, rows and total, as tab-separated lines of plain numbers.
pub fn tab_separated(sheet: &Sheet) -> String {
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                text.push('\t');
            }
            text.push_str(&cell);
        }
        text.push('\n');
    };
    line(&mut sheet.columns.iter().map(|column| column.label.clone()));
    for row in &sheet.rows {
        line(&mut row.cells.iter().map(plain));
    }
    if !sheet.total.is_empty() {
        line(&mut sheet.total.iter().map(plain));
    }
    text
}
