//! Handles mouse events: clicks, drags and the wheel.

use crate::app::App;
use crate::chrome::tab_areas;
use crate::keys::modifiers;
use crate::layout::PaneAreas;
use crate::panes::{Focus, Press};
use crate::views::rows::{body, scrolled_px};
use crate::views::{insights, segments, side};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use ui::features::events::EventsAction;
use ui::features::flame::FlameAction;
use ui::features::insights::InsightsAction;
use ui::features::rows::SelectMode;
use ui::features::segments::{ROW_PX as SEGMENTS_PX, SegmentsAction};
use ui::features::table::TableAction;
use ui::features::tree;
use ui::features::tree_keys::TreeAction;
use ui::plot::scroll;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::effect::{Pointer, WheelAction};
use ui::text::tab::Tab;

/// Wheel delta of one notch, in the page's units.
const WHEEL_DELTA: f64 = 100.0;
/// Number of rows that one wheel notch scrolls.
const ROWS_PER_NOTCH: i32 = 3;

impl App {
    /// Handles a mouse event.
    pub fn mouse(&mut self, event: &MouseEvent) {
        let at = (event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.on_press(at, event.modifiers),
            MouseEventKind::Drag(MouseButton::Left) => self.on_drag(at, event.modifiers),
            MouseEventKind::Up(MouseButton::Left) => self.on_release(),
            MouseEventKind::Down(MouseButton::Right) => {
                if let Some(pointer) = self.pointer(at) {
                    self.act(Action::MarkerAdded(pointer));
                }
            }
            MouseEventKind::ScrollUp => self.on_wheel(at, event.modifiers, -1),
            MouseEventKind::ScrollDown => self.on_wheel(at, event.modifiers, 1),
            MouseEventKind::ScrollLeft | MouseEventKind::ScrollRight => {
                let delta = if event.kind == MouseEventKind::ScrollLeft { -WHEEL_DELTA } else { WHEEL_DELTA };
                if let Some(at) = self.pointer(at) {
                    self.act(Action::Wheel { at, delta: delta / 8.0, axis: WheelAction::MoveEvents });
                }
            }
            _ => {}
        }
    }

    /// Converts a cell of the picture to a pointer position on the page's canvas.
    fn pointer(&self, (column, row): (u16, u16)) -> Option<Pointer> {
        let (pane, canvas) = (self.layout.picture, self.state.canvas?);
        if !PaneAreas::contains(pane, (column, row)) || self.state.file().is_none() {
            return None;
        }
        let [wide, high] = self.blocks.pixels_per_cell().map(f64::from);
        let (right, down) = (f64::from(column - pane.x) + 0.5, f64::from(row - pane.y) + 0.5);
        Some(Pointer { x: right * wide, y: f64::from(canvas.height_px) - down * high })
    }

    fn on_press(&mut self, at: (u16, u16), held: KeyModifiers) {
        self.request_redraw();
        self.message.clear();
        if self.link.take().is_some() || self.field.is_some() || self.state.help == ui::state::stage::Help::Open {
            return;
        }
        let places = self.layout;
        if PaneAreas::contains(places.picture, at) {
            self.focus = Focus::Timeline;
            self.press = Some(Press { at, is_drag: false });
        } else if PaneAreas::contains(places.minimap, at) {
            self.move_window(at);
        } else if PaneAreas::contains(places.tabs, at) {
            let tab = tab_areas(self).into_iter().find(|(_, place, _)| PaneAreas::contains(*place, at));
            tab.iter().for_each(|(tab, ..)| self.command(commands::show(*tab)));
        } else if PaneAreas::contains(places.side, at) {
            self.focus = Focus::Side;
            let tab = side::tab_places(places.side).into_iter().find(|(_, place, _)| PaneAreas::contains(*place, at));
            tab.iter().for_each(|(side, ..)| self.act(Action::SideChosen(*side)));
        } else if PaneAreas::contains(places.view, at) {
            let had_focus = self.focus == Focus::View;
            self.focus = Focus::View;
            self.click_view(at, held, had_focus);
        }
    }

    /// Centres the visible window on a position in the minimap.
    fn move_window(&mut self, (column, _): (u16, u16)) {
        let Some([from, to]) = ui::plot::navigate::window(&self.state) else { return };
        let pane = self.layout.minimap;
        let half = (to - from) / 2.0;
        let at = (f64::from(column - pane.x) + 0.5) / f64::from(pane.width.max(1));
        let left = (at - half).clamp(0.0, (1.0 - 2.0 * half).max(0.0));
        self.act(Action::MinimapMoved([left, left + 2.0 * half]));
    }

    fn on_drag(&mut self, at: (u16, u16), held: KeyModifiers) {
        let Some(press) = self.press else { return };
        if !press.is_drag && at == press.at {
            return;
        }
        if let (false, Some(from)) = (press.is_drag, self.pointer(press.at)) {
            let held = modifiers(held, held.contains(KeyModifiers::SHIFT));
            self.act(Action::DragStarted { from, held });
        }
        self.press = Some(Press { at, is_drag: true });
        if self.state.tools.drag == ui::state::drag::Drag::Move {
            let [wide, high] = self.blocks.pixels_per_cell().map(f64::from);
            let right_px = (f64::from(at.0) - f64::from(press.at.0)) * wide;
            let up_px = (f64::from(press.at.1) - f64::from(at.1)) * high;
            self.act(Action::Dragged { right_px, up_px });
        } else if let Some(to) = self.pointer(at) {
            self.act(Action::DragMoved(to));
        }
    }

    fn on_release(&mut self) {
        let Some(press) = self.press.take() else { return };
        self.act(Action::DragEnded);
        if let Some(pointer) = self.pointer(press.at).filter(|_| !press.is_drag) {
            self.act(Action::Clicked(pointer));
        }
    }

    fn click_view(&mut self, (column, row): (u16, u16), held: KeyModifiers, had_focus: bool) {
        let pane = self.layout.view;
        let area = body(pane);
        let down = |area: Rect| PaneAreas::contains(area, (column, row)).then(|| u32::from(row - area.y));
        let extent = if held.contains(KeyModifiers::SHIFT) { SelectMode::Extend } else { SelectMode::Only };
        match self.state.views.tab {
            Tab::CallTree => {
                let above = (self.state.tree.scroll.top_px / tree::ROW_PX).round().max(0.0) as u32;
                if let Some(number) = down(area).map(|down| above + down) {
                    // Clicking the active row again expands or collapses it.
                    let is_again = had_focus && self.state.tree.active() == number;
                    let action = if is_again { TreeAction::Toggled } else { TreeAction::Clicked };
                    self.act(Action::feature(action(number)));
                }
            }
            Tab::Allocations => {
                let above = self.state.table.scroll.rows_above().round() as u32;
                down(area)
                    .into_iter()
                    .for_each(|down| self.act(Action::feature(TableAction::RowClicked(above + down, extent))));
            }
            Tab::Events => {
                let above = self.state.events.scroll.rows_above().round() as u32;
                down(area)
                    .into_iter()
                    .for_each(|down| self.act(Action::feature(EventsAction::RowClicked(above + down, extent))));
            }
            Tab::Flame => {
                if let Some(down) = down(area) {
                    let at = self.flame_px(column - area.x, u16::try_from(down).unwrap_or(0));
                    let is_again = had_focus && held.contains(KeyModifiers::SHIFT);
                    let action = if is_again { FlameAction::DoubleClicked } else { FlameAction::Clicked };
                    self.act(Action::feature(action(at)));
                }
            }
            Tab::Segments => {
                let area = segments::body(self);
                if let (Some(down), Some(canvas)) = (down(area), self.state.segments.canvas) {
                    let row_px = SEGMENTS_PX * canvas.scale;
                    let at = [f64::from(column - area.x) + 0.5, (f64::from(down) + 0.5) * row_px];
                    self.act(Action::feature(SegmentsAction::Clicked(at)));
                }
            }
            Tab::Insights => self.click_insights((column, row)),
            _ => {}
        }
    }

    fn click_insights(&mut self, (column, row): (u16, u16)) {
        let pane = self.layout.view;
        let report = insights::report_pane(self, pane);
        if PaneAreas::contains(report, (column, row)) {
            let at = self.scrolled.report + usize::from(row - report.y);
            let item = insights::report(self, usize::from(report.width)).get(at).and_then(|written| written.item);
            item.into_iter().for_each(|item| self.act(Action::feature(InsightsAction::ItemClicked(item))));
            return;
        }
        let (all, current) = insights::topics(&self.state);
        let first = insights::first_topic(pane, all.len(), current);
        self.choose_topic(all.get(first + usize::from(row - pane.y)));
    }

    /// Handles turns of the mouse wheel. `notches` is negative for one direction and positive for the other.
    fn on_wheel(&mut self, at: (u16, u16), held: KeyModifiers, notches: i32) {
        let (by, rows) = ((notches * ROWS_PER_NOTCH) as isize, f64::from(notches * ROWS_PER_NOTCH));
        if self.state.help == ui::state::stage::Help::Open {
            self.scrolled.help = self.scrolled.help.saturating_add_signed(by);
            return self.request_redraw();
        }
        let places = self.layout;
        if let Some(at) = self.pointer(at) {
            let delta = f64::from(notches) * WHEEL_DELTA;
            let (axis, delta) = if held.contains(KeyModifiers::CONTROL) {
                (WheelAction::ZoomBytes, delta)
            } else if held.contains(KeyModifiers::SHIFT) {
                (WheelAction::MoveEvents, delta / 8.0)
            } else {
                (WheelAction::ZoomEvents, delta)
            };
            return self.act(Action::Wheel { at, delta, axis });
        }
        if PaneAreas::contains(places.side, at) {
            let height = usize::from(places.side.height.saturating_sub(1));
            let max_scroll =
                side::tab_lines(self, usize::from(places.side.width.saturating_sub(1))).len().saturating_sub(height);
            self.scrolled.side = self.scrolled.side.saturating_add_signed(by).min(max_scroll);
            return self.request_redraw();
        }
        if !PaneAreas::contains(places.view, at) {
            return;
        }
        let height = f64::from(self.view_rows());
        let state = &self.state;
        match state.views.tab {
            Tab::CallTree => {
                let count = f64::from(state.tree.page().map_or(0, |page| page.row_count));
                let max_scroll = (count - height).max(0.0) * tree::ROW_PX;
                let top_px = (state.tree.scroll.top_px + rows * tree::ROW_PX).clamp(0.0, max_scroll);
                self.act(Action::feature(TreeAction::Scrolled { top_px, height_px: height * tree::ROW_PX }));
            }
            Tab::Allocations => {
                let top = scrolled_px(&state.table.scroll, rows, height, scroll::ROW_PX);
                self.act(Action::feature(TableAction::Scrolled(top, height * scroll::ROW_PX)));
            }
            Tab::Events => {
                let top = scrolled_px(&state.events.scroll, rows, height, scroll::ROW_PX);
                self.act(Action::feature(EventsAction::Scrolled(top, height * scroll::ROW_PX)));
            }
            Tab::Segments => {
                let height = f64::from(segments::body(self).height);
                let top = scrolled_px(&state.segments.scroll, rows, height, SEGMENTS_PX);
                self.act(Action::feature(SegmentsAction::Scrolled(top, height * SEGMENTS_PX)));
            }
            Tab::Insights => {
                let pane = insights::report_pane(self, places.view);
                let max_scroll =
                    insights::report(self, usize::from(pane.width)).len().saturating_sub(usize::from(pane.height));
                self.scrolled.report = self.scrolled.report.saturating_add_signed(by).min(max_scroll);
                self.request_redraw();
            }
            _ => {}
        }
    }
}
