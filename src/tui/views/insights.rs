//! Draws the insights: the list of topics, and the report on the selected topic.

mod table;

use super::rows::{draw_empty, lines, scroll_to_show};
use crate::app::App;
use crate::cells::{self, BARS};
use crate::text::{Line, Tone, align_left, pane_row, width, wrap, write_line, write_row};
use picture::timeline::paint::SHADES;
use protocol::{Tone as Said, Topic};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use table::table;
use ui::features::State;
use ui::features::insights::view::{ChartKind, ChartView, available_topics, tab_state, tone_symbol, view};

/// Width of the list of topics in cells.
const TOPICS_WIDTH: u16 = 18;
/// Minimum width, in cells, of a pane that shows the list of topics next to the report.
const MIN_WIDTH_WITH_TOPICS: u16 = 70;
/// Returns the topics that are available for the open file, and the index of the current one.
pub(crate) fn topics(state: &State) -> (Vec<Topic>, usize) {
    let all = available_topics(state);
    let current = all.iter().position(|topic| *topic == state.insights.topic).unwrap_or(0);
    (all, current)
}

/// Returns the index of the first visible topic in a list of `count` topics, with `current` in the middle.
pub(crate) fn first_topic(pane: Rect, count: usize, current: usize) -> usize {
    let height = usize::from(pane.height);
    current.saturating_sub(height / 2).min(count.saturating_sub(height))
}

/// A line of the report. `item` is the index of the sentence or table row that the line belongs to.
pub(crate) struct ReportLine {
    pub(crate) item: Option<usize>,
    /// Index of the table that the line belongs to.
    pub(crate) sheet: Option<usize>,
    pub(crate) line: Line,
}

/// Returns the area of the report within a pane.
pub(crate) fn report_pane(app: &App, pane: Rect) -> Rect {
    if pane.width < MIN_WIDTH_WITH_TOPICS || app.is_plain {
        return Rect { y: pane.y + 1.min(pane.height), height: pane.height.saturating_sub(1), ..pane };
    }
    Rect { x: pane.x + TOPICS_WIDTH, width: pane.width - TOPICS_WIDTH, ..pane }
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer, pane: Rect) {
    let marks = tab_state(&app.state.insights, &app.state);
    let (all, current) = topics(&app.state);
    if pane.width < MIN_WIDTH_WITH_TOPICS || app.is_plain {
        let head = format!("‹ {} › {} of {}", marks.topic.title(), current + 1, all.len());
        write_row(buffer, pane, 0, &Line::new(head, Tone::Strong));
    } else {
        let first = first_topic(pane, all.len(), current);
        let list: Vec<Line> = all
            .iter()
            .map(|topic| {
                let is_alarm = marks.alarms.contains(topic);
                let text = [if is_alarm { "⚠ " } else { "  " }, topic.title()].concat();
                let text = align_left(&text, usize::from(TOPICS_WIDTH) - 1);
                Line::new(text, if is_alarm { Tone::Alarm } else { Tone::Plain }).active_if(*topic == marks.topic)
            })
            .collect();
        lines(buffer, Rect { width: TOPICS_WIDTH - 1, ..pane }, &list, first);
    }
    let pane = report_pane(app, pane);
    let report = report(app, usize::from(pane.width));
    if report.is_empty() {
        return draw_empty(buffer, pane, marks.note);
    }
    let top = scroll_to_item(app, pane, &report, marks.active);
    let has_focus = super::rows::has_focus(app);
    for (at, written) in report.into_iter().skip(top).enumerate() {
        let Some(row) = pane_row(pane, at) else { break };
        let is_active = has_focus && written.item == Some(marks.active);
        write_line(buffer, row, &written.line.active_if(is_active));
    }
}

/// Scrolls the report so that the active item becomes visible.
pub(crate) fn scroll_to_active(app: &mut App) {
    let pane = report_pane(app, app.layout.view);
    let marks = tab_state(&app.state.insights, &app.state);
    if app.scrolled.report_item == Some(marks.active) {
        return;
    }
    let report = report(app, usize::from(pane.width));
    app.scrolled.report = scroll_to_item(app, pane, &report, marks.active);
    app.scrolled.report_item = Some(marks.active);
}

/// Returns the scroll position of the report that makes an item visible.
fn scroll_to_item(app: &App, pane: Rect, report: &[ReportLine], item: usize) -> usize {
    let first = report.iter().position(|written| written.item == Some(item)).unwrap_or(0);
    let last = report.iter().rposition(|written| written.item == Some(item)).unwrap_or(first);
    // The first item is shown together with the lines above it.
    let first = if item == 0 { 0 } else { first };
    scroll_to_show(app.scrolled.report, [first, last], usize::from(pane.height), report.len())
}

/// Returns the lines of the report, wrapped to a width in cells.
pub(crate) fn report(app: &App, cells: usize) -> Vec<ReportLine> {
    let view = view(&app.state.insights);
    let mut written = Vec::new();
    for (place, statement) in view.statements.iter().enumerate() {
        let mut add = |line: Line| written.push(ReportLine { item: Some(place), sheet: None, line });
        let [glyph, _] = tone_symbol(statement.tone);
        let glyph = if glyph.is_empty() { "•" } else { glyph };
        let tone = match statement.tone {
            Said::Fact => Tone::Plain,
            Said::Good => Tone::Good,
            Said::Alarm => Tone::Alarm,
        };
        for (at, text) in wrap(&statement.text, cells.saturating_sub(2)).into_iter().enumerate() {
            let head = if at == 0 { align_left(glyph, 2) } else { "  ".to_owned() };
            add(Line::new(head, tone)
                .with(text, if statement.tone == Said::Alarm { Tone::Strong } else { Tone::Plain }));
        }
        for (at, text) in
            wrap(&statement.fix, cells.saturating_sub(7)).into_iter().enumerate().filter(|(_, it)| !it.is_empty())
        {
            add(Line::new(if at == 0 { "  Fix: " } else { "       " }, Tone::Good).with(text, Tone::Plain));
        }
        statement
            .chart
            .iter()
            .flat_map(|chart_of_statement| chart(app, chart_of_statement, cells.saturating_sub(2)))
            .for_each(&mut add);
    }
    for (place, sheet) in view.sheets.iter().enumerate() {
        written.extend(table(app, sheet, cells).into_iter().map(|(item, line)| ReportLine {
            item,
            sheet: Some(place),
            line,
        }));
    }
    written
}

fn chart(app: &App, chart: &ChartView, cells: usize) -> Vec<Line> {
    let slot_style = |slot: Option<u32>| {
        let paint = slot.and_then(|slot| app.look.palette.get((slot * SHADES) as usize));
        paint.map_or(Style::new(), |rgba| Style::new().fg(cells::colour(*rgba, app.screen.depth)))
    };
    let mut lines = Vec::new();
    match chart.kind {
        ChartKind::Curve => {
            let step = chart.marks.len().div_ceil(cells.max(1)).max(1);
            let highest = |marks: &[ui::features::insights::view::ChartMark]| {
                marks.iter().map(|mark| mark.per_mille).max().unwrap_or(0)
            };
            let bar = |part: u32| BARS.get((part * 8).div_ceil(1000).min(8) as usize).copied().unwrap_or(' ');
            let text: String = chart.marks.chunks(step).map(|marks| bar(highest(marks))).collect();
            lines.push(Line::new(["  ", &text].concat(), Tone::Accent));
        }
        ChartKind::Parts => {
            let mut bar = Line::new("  ", Tone::Plain);
            let (mut names, mut used) = (vec![Line::new("  ", Tone::Plain)], 0);
            let width_of = |part: u32| part as usize * cells / 1000;
            for mark in &chart.marks {
                bar = bar.styled("█".repeat(width_of(mark.per_mille)), slot_style(mark.slot));
                let label = [&mark.label, "  "].concat();
                used += width(&label) + 2;
                if used > cells + 2 && used > width(&label) + 2 {
                    names.push(Line::new("  ", Tone::Plain));
                    used = width(&label) + 2;
                }
                if let Some(last) = names.last_mut() {
                    *last = std::mem::take(last).styled("■ ", slot_style(mark.slot)).with(label, Tone::Plain);
                }
            }
            lines.push(bar);
            lines.extend(names);
        }
        ChartKind::Delta => {
            let boxes = chart.boxes.iter().filter(|tile| tile.depth < 6 && tile.direction != "same");
            let tone = |direction: &str| if direction == "more" { Tone::Alarm } else { Tone::Good };
            lines.extend(boxes.take(12).map(|tile| {
                Line::new(["  ".repeat(tile.depth as usize + 1), tile.label.clone()].concat(), tone(tile.direction))
            }));
        }
        ChartKind::Map => {}
    }
    lines.extend(
        wrap(&chart.text, cells)
            .into_iter()
            .filter(|it| !it.is_empty())
            .map(|text| Line::new(["  ", &text].concat(), Tone::Soft)),
    );
    lines
}

/// Returns the index of the table that contains the active item.
pub(crate) fn active_sheet(app: &App) -> Option<usize> {
    let active = tab_state(&app.state.insights, &app.state).active;
    let report = report(app, 80);
    let sheet_of_active = report.iter().find(|written| written.item == Some(active)).and_then(|written| written.sheet);
    // If a statement is active, use the first table.
    sheet_of_active.or_else(|| report.iter().find_map(|written| written.sheet))
}
