//! Commands that exist only in the terminal interface: switching panes, copying, showing a link, zooming at the cursor.

use crate::app::App;
use crate::bindings::TerminalCommand;
use crate::cells::Blocks;
use crate::field::FieldPurpose;
use crate::panes::{Focus, Order};
use crate::views::rows::scroll_to_show;
use crate::views::{insights, side, tree};
use protocol::Topic;
use ui::features::insights::InsightsAction;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::effect::{Pointer, WheelAction};
use ui::state::link::Link;
use ui::text::side::Side;
use ui::text::tab::Tab;

/// Wheel delta that zooms as far as one key press in the page.
const ZOOM_DELTA: f64 = 223.0;
/// Change of the view's height per key press, in percent of the available rows.
const RESIZE_PERCENT: u32 = 10;

impl App {
    /// Runs a command of the terminal interface.
    pub(crate) fn run_command(&mut self, command: TerminalCommand) {
        match command {
            TerminalCommand::Quit => self.orders.push(Order::Quit),
            TerminalCommand::Back => self.back(),
            TerminalCommand::NextPane | TerminalCommand::PreviousPane => {
                let is_folded = self.state.views.visible().is_none();
                self.focus = match (self.focus, command == TerminalCommand::NextPane) {
                    (Focus::Timeline, true) | (Focus::Side, false) if !is_folded => Focus::View,
                    (Focus::Timeline | Focus::View, true) | (Focus::Timeline, false) => Focus::Side,
                    _ => Focus::Timeline,
                };
            }
            TerminalCommand::Copy => self.copy_view(),
            TerminalCommand::Link => self.show_link(),
            TerminalCommand::Exact => self.is_exact = !self.is_exact,
            TerminalCommand::Braille => {
                self.blocks = if self.blocks == Blocks::Half { Blocks::Braille } else { Blocks::Half };
            }
            TerminalCommand::Suspend => self.orders.push(Order::Suspend),
            TerminalCommand::Redraw => self.orders.push(Order::Redraw),
            TerminalCommand::Taller => self.act(Action::ViewsResized(self.state.views.height + RESIZE_PERCENT)),
            TerminalCommand::Shorter => {
                self.act(Action::ViewsResized(self.state.views.height.saturating_sub(RESIZE_PERCENT)));
            }
            TerminalCommand::ZoomIn | TerminalCommand::ZoomOut => {
                self.zoom(if command == TerminalCommand::ZoomIn { -ZOOM_DELTA } else { ZOOM_DELTA });
            }
            TerminalCommand::First => self.act(Action::GoToEntered("0".to_owned())),
            TerminalCommand::OpenPath => self.open_field(FieldPurpose::Open),
            TerminalCommand::ComparePath => self.open_field(FieldPurpose::Compare),
            TerminalCommand::PreviousTopic | TerminalCommand::NextTopic => {
                self.next_topic(command == TerminalCommand::NextTopic);
            }
            TerminalCommand::MoreRows => self.act_on_sheet(InsightsAction::MoreClicked),
            TerminalCommand::FoldTable => self.act_on_sheet(InsightsAction::SheetToggled),
            TerminalCommand::PageUp if self.focus == Focus::View => {
                (0..10).for_each(|_| self.command(commands::insights::UP));
            }
            TerminalCommand::PageDown if self.focus == Focus::View => {
                (0..10).for_each(|_| self.command(commands::insights::DOWN));
            }
            TerminalCommand::Up | TerminalCommand::Down | TerminalCommand::PageUp | TerminalCommand::PageDown => {
                self.scroll_side(command);
            }
            TerminalCommand::NextSide | TerminalCommand::PreviousSide => {
                let all = [Side::Selection, Side::Legend, Side::File];
                let index = all.iter().position(|side| *side == self.state.side).unwrap_or(0);
                let index =
                    if command == TerminalCommand::NextSide { index + 1 } else { index + all.len() - 1 } % all.len();
                (self.scrolled.side, self.selected_entry) = (0, 0);
                all.get(index).iter().for_each(|side| self.act(Action::SideChosen(**side)));
            }
            TerminalCommand::Toggle => self.act_on_legend(Action::LegendClicked),
            TerminalCommand::Only => self.act_on_legend(Action::LegendIsolated),
        }
        self.request_redraw();
    }

    fn act_on_sheet(&mut self, action: fn(usize) -> InsightsAction) {
        insights::active_sheet(self).into_iter().for_each(|sheet| self.act(Action::feature(action(sheet))));
    }

    fn act_on_legend(&mut self, action: fn(u32) -> Action) {
        let slot = side::legend_lines(self).get(self.selected_entry).map(|line| line.slot);
        slot.filter(|_| self.state.side == Side::Legend).into_iter().for_each(|slot| self.act(action(slot)));
    }

    fn scroll_side(&mut self, command: TerminalCommand) {
        let pane = self.layout.side;
        let height = usize::from(pane.height.saturating_sub(1)).max(1);
        let all = side::tab_lines(self, usize::from(pane.width.saturating_sub(1))).len();
        let moved = |from: usize, page: usize| match command {
            TerminalCommand::Up => from.saturating_sub(1),
            TerminalCommand::Down => from + 1,
            TerminalCommand::PageUp => from.saturating_sub(page),
            _ => from + page,
        };
        if self.state.side == Side::Legend {
            let last = side::legend_lines(self).len().saturating_sub(1);
            self.selected_entry = moved(self.selected_entry, height).min(last);
            let line = self.selected_entry + 1;
            self.scrolled.side = scroll_to_show(self.scrolled.side, [line, line], height, all);
        } else {
            self.scrolled.side = moved(self.scrolled.side, height).min(all.saturating_sub(height));
        }
    }

    fn back(&mut self) {
        let is_tree = self.focus == Focus::View && self.state.views.visible() == Some(Tab::CallTree);
        let is_zoomed = is_tree && ui::features::tree_rows::toolbar_state(&self.state.tree, &self.state).is_focused;
        match self.focus {
            _ if is_zoomed => self.command(commands::tree::BACK),
            Focus::Timeline => self.orders.push(Order::Quit),
            Focus::View | Focus::Side => self.focus = Focus::Timeline,
        }
    }

    fn zoom(&mut self, delta: f64) {
        let (Some(view), Some(canvas)) = (self.state.view(), self.state.canvas) else { return };
        let width = f64::from(view.width_px);
        let pin = ui::scope::cursor::x_px(&self.state).map(|(x, _)| x).filter(|x| (0.0..width).contains(x));
        let pointer = Pointer { x: pin.unwrap_or(width / 2.0), y: f64::from(canvas.height_px) / 2.0 };
        self.act(Action::Wheel { at: pointer, delta, axis: WheelAction::ZoomEvents });
    }

    fn next_topic(&mut self, is_next: bool) {
        let (all, index) = insights::topics(&self.state);
        self.choose_topic(all.get(if is_next { index + 1 } else { index + all.len().max(1) - 1 } % all.len().max(1)));
    }

    /// Shows the report on a topic from its start.
    pub(crate) fn choose_topic(&mut self, topic: Option<&Topic>) {
        if let Some(topic) = topic {
            (self.scrolled.report, self.scrolled.report_item) = (0, None);
            self.act(Action::feature(InsightsAction::TopicChosen(*topic)));
        }
    }

    fn copy_view(&mut self) {
        let view = if self.focus == Focus::View { self.state.views.visible() } else { None };
        match view {
            Some(Tab::Insights) => self.command(commands::insights::COPY),
            Some(Tab::Allocations | Tab::Events) => self.command(commands::rows::COPY),
            Some(Tab::CallTree) => {
                let view = ui::features::tree_rows::view(&self.state.tree, &self.state);
                self.orders.push(Order::Copy(tree::foot_text(self, &view)));
                self.message = "Copied the row.".to_owned();
            }
            _ if self.state.selection.is_some() => self.command(commands::COPY_DETAILS),
            _ => self.message = "Select an allocation first, or go to a view and copy its rows.".to_owned(),
        }
    }

    /// Opens a dialog with a link to the current view, and with commands that open the view elsewhere.
    fn show_link(&mut self) {
        let Some(link) = Link::from_state(&self.state) else {
            self.message = "Open a snapshot first.".to_owned();
            return;
        };
        let file = self.state.snapshots.get(self.state.snapshot_index).map(|choice| choice.origin.clone());
        let path = match file {
            Some(ui::state::effect::Origin::File(place)) => self.files.get(place).map(|file| file.path.clone()),
            _ => None,
        };
        let path = shell_quoted(&path.unwrap_or_default().to_string_lossy());
        let fragment = ["#", &link.without_file().fragment()].concat();
        let html = ["  memscape html ", &path, " -o report.html --view ", &shell_quoted(&fragment)].concat();
        self.link = Some(vec![
            "This view as a page in one file:".to_owned(),
            html,
            String::new(),
            "In a browser, behind the address that this prints:".to_owned(),
            ["  memscape serve ", &path].concat(),
            ["  ", &fragment].concat(),
        ]);
    }
}

/// Quotes a text so that a shell parses it as one word.
fn shell_quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    ["'", &text.replace('\'', r"'\''"), "'"].concat()
}
