//! Draws the call tree.

use super::rows::{body, draw_empty, foot_row, lines};
use crate::app::App;
use crate::cells::Depth;
use crate::text::{Line, Tone, align_right, truncate, width, write_line, write_row};
use protocol::{FoldState, Internal, NodeKind, Root};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ui::features::tree_rows::{Heads, TreeRowView, TreeView, view};

/// Colours for percentages, from low to high. The thresholds are 5, 20, 40 and 70 %, as in ptmem.
const HEAT: [Color; 5] = [Color::Blue, Color::Cyan, Color::Green, Color::Yellow, Color::Red];
/// Indent in the page, in CSS pixels, that corresponds to an indent of one cell.
const INDENT_PX: u32 = 7;

/// Widths of the numeric columns in cells: total, percentage, and up to three others. 0 if a column is hidden.
struct Columns {
    widths: [usize; 5],
}

impl Columns {
    fn of(app: &App, view: &TreeView, cells: usize) -> Columns {
        let heads: Option<&Heads> = view.heads;
        let rows = || view.rows.iter().flatten();
        let mut widths = [0; 5];
        for (at, place) in widths.iter_mut().enumerate() {
            let header_width = heads.and_then(|heads| heads.get(at)).map_or(0, |(name, _)| width(name));
            *place = rows().map(|row| width(&cell(app, row, at))).max().unwrap_or(0).max(header_width);
        }
        // On narrow screens, drop the least important columns: share of the parent, self bytes, count.
        for dropped in [2, 4, 3] {
            if widths.iter().map(|wide| wide + 2).sum::<usize>() + 30 <= cells {
                break;
            }
            if let Some(place) = widths.get_mut(dropped) {
                *place = 0;
            }
        }
        Columns { widths }
    }

    fn line(&self, text: impl Fn(usize) -> String, style: impl Fn(usize) -> Style) -> Line {
        let mut line = Line::default();
        for (at, wide) in self.widths.iter().enumerate().filter(|(_, wide)| **wide > 0) {
            line = line.styled([&align_right(&text(at), *wide), "  "].concat(), style(at));
        }
        line
    }
}

fn cell(app: &App, row: &TreeRowView, index: usize) -> String {
    match index {
        0 if app.is_exact => row.exact.split(" in ").next().unwrap_or_default().to_owned(),
        0 => row.bytes.clone(),
        1 => row.of_total.clone(),
        index => row.last_columns.get(index - 2).cloned().unwrap_or_default(),
    }
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer, pane: Rect) {
    let state = &app.state;
    let view = view(&state.tree, state);
    if !view.empty.is_empty() {
        return draw_empty(buffer, pane, view.empty);
    }
    let columns = Columns::of(app, &view, usize::from(pane.width));
    let arrangement = state.views.arrangement;
    let name = |at: usize| view.heads.and_then(|heads| heads.get(at)).map_or("", |(name, _)| name).to_owned();
    let merge = ["by ", arrangement.merge.name()].concat();
    let mut tools = vec![if arrangement.root == Root::Innermost { "inverted" } else { "from callers" }];
    tools.push(if arrangement.internal == Internal::Hidden { "internal frames hidden" } else { "all frames" });
    tools.push(&merge);
    let path: Vec<&str> = view.path.iter().map(|(_, name)| name.as_str()).collect();
    let path = if path.is_empty() { String::new() } else { [" · ", &path.join(" › ")].concat() };
    let head = columns.line(name, |_| Tone::Soft.style()).with([&tools.join(", "), path.as_str()].concat(), Tone::Soft);
    write_row(buffer, pane, 0, &head);
    let area = body(pane);
    // `view.rows` also contains rows above the visible ones.
    let above = (state.tree.scroll.top_px / ui::features::tree::ROW_PX).round().max(0.0) as usize;
    let skipped = above.saturating_sub(view.first as usize);
    let has_focus = super::rows::has_focus(app);
    let shown: Vec<Line> = view
        .rows
        .iter()
        .skip(skipped)
        .take(usize::from(area.height))
        .map(|row| {
            row.as_ref().map_or_else(
                || Line::new("…", Tone::Soft),
                |row| row_line(app, row, &columns).active_if(row.is_active && has_focus),
            )
        })
        .collect();
    lines(buffer, area, &shown, 0);
    if let Some(foot) = foot_row(pane) {
        write_line(buffer, foot, &Line::new(foot_text(app, &view), Tone::Soft));
    }
}

/// Returns exact numbers for the whole tree and for its active row.
pub(crate) fn foot_text(app: &App, view: &TreeView) -> String {
    let active = view.rows.iter().flatten().find(|row| row.is_active);
    let row = active.map(|row| {
        let title = row.title.replace('\n', "  ");
        [" · ", &row.exact, " · ", &row.of_total, " · ", &title].concat()
    });
    let found = if view.found.is_empty() { String::new() } else { [" · ", &view.found].concat() };
    let total = crate::chrome::bytes(app, view.total);
    let rows = base::units::pluralize(view.row_count.into(), "row");
    [&rows, ", ", &total, " in all", &found, &row.unwrap_or_default()].concat()
}

fn row_line(app: &App, row: &TreeRowView, columns: &Columns) -> Line {
    let heat = HEAT.get(usize::from(row.share_level)).copied().unwrap_or(Color::Reset);
    let heated = if app.screen.depth == Depth::None { Style::new() } else { Style::new().fg(heat) };
    let mut line = columns.line(|at| cell(app, row, at), |at| if at < 2 { heated } else { Tone::Plain.style() });
    let fold = match row.fold {
        FoldState::Leaf => "  ",
        FoldState::Open => "▾ ",
        FoldState::Closed => "▸ ",
    };
    let indent = " ".repeat((row.indent_px / INDENT_PX) as usize);
    line = line.with([&indent, fold].concat(), Tone::Soft);
    if row.is_selected || row.has_selected_allocation {
        line = line.with(if row.is_selected { "● " } else { "○ " }, Tone::Accent);
    }
    let name = if row.matches {
        Tone::Accent
    } else if row.kind == NodeKind::User {
        Tone::Strong
    } else {
        Tone::Plain
    };
    line = line.with(truncate(&row.name, 120), name);
    if !row.location.is_empty() {
        // Show only the file name. The full path is in the last row.
        let place = row.location.rsplit(['/', '\\']).next().unwrap_or(&row.location);
        line = line.with(["  ", place].concat(), Tone::Soft);
    }
    if !row.found.is_empty() {
        line = line.with(["  found ", &row.found].concat(), Tone::Accent);
    }
    line
}
