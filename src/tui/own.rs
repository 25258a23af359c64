//! Commands that only the terminal has: switching panes, copying, the link, zooming at the cursor.

use crate::app::App;
use crate::bindings::Own;
use crate::cells::Blocks;
use crate::field::Of;
use crate::panes::{Focus, Order};
use crate::views::rows::scrolled_to;
use crate::views::{insights, side, tree};
use ui::effect::{Pointer, WheelAxis};
use ui::features::FeatureCommand;
use ui::link::Link;
use ui::rows::RowsStep;
use ui::side::Side;
use ui::tab::Tab;
use ui::tree_keys::TreeCommand;
use ui::why::{WhyAction, WhyStep};
use ui::{Action, Command};

/// Wheel delta that zooms as much as one key press in the page.
const ZOOM: f64 = 223.0;
/// Step of the keys that resize the view, in percent of the rows.
const TALLER: u32 = 10;

impl App {
    /// Runs a command of the terminal.
    pub(crate) fn own(&mut self, own: Own) {
        match own {
            Own::Quit => self.orders.push(Order::Quit),
            Own::Back => self.back(),
            Own::NextPane | Own::PreviousPane => {
                let is_folded = self.state.views.seen().is_none();
                self.focus = match (self.focus, own == Own::NextPane) {
                    (Focus::Timeline, true) | (Focus::Side, false) if !is_folded => Focus::View,
                    (Focus::Timeline | Focus::View, true) | (Focus::Timeline, false) => Focus::Side,
                    _ => Focus::Timeline,
                };
            }
            Own::Copy => self.copy_what_is_seen(),
            Own::Link => self.show_link(),
            Own::Exact => self.is_exact = !self.is_exact,
            Own::Braille => {
                self.blocks = if self.blocks == Blocks::Half { Blocks::Braille } else { Blocks::Half };
            }
            Own::Suspend => self.orders.push(Order::Suspend),
            Own::Redraw => self.orders.push(Order::Redraw),
            Own::Taller => self.act(Action::ViewsResized(self.state.views.height + TALLER)),
            Own::Shorter => self.act(Action::ViewsResized(self.state.views.height.saturating_sub(TALLER))),
            Own::ZoomIn | Own::ZoomOut => self.zoom(if own == Own::ZoomIn { -ZOOM } else { ZOOM }),
            Own::First => self.act(Action::MomentTyped("0".to_owned())),
            Own::OpenPath => self.ask_for(Of::Open),
            Own::ComparePath => self.ask_for(Of::Compare),
            Own::PreviousTopic | Own::NextTopic => self.next_topic(own == Own::NextTopic),
            Own::MoreRows | Own::FoldTable => {
                if let Some(sheet) = insights::active_sheet(self) {
                    let action = if own == Own::MoreRows { WhyAction::More(sheet) } else { WhyAction::Folded(sheet) };
                    self.act(Action::of(action));
                }
            }
            Own::PageUp | Own::PageDown if self.focus == Focus::View => {
                let step = if own == Own::PageUp { WhyStep::Up } else { WhyStep::Down };
                (0..10).for_each(|_| self.command(Command::Feature(FeatureCommand::Why(step))));
            }
            Own::Up | Own::Down | Own::PageUp | Own::PageDown => self.scroll_side(own),
            Own::NextSide | Own::PreviousSide => {
                let all = [Side::Selection, Side::Legend, Side::File];
                let at = all.iter().position(|side| *side == self.state.side).unwrap_or(0);
                let at = if own == Own::NextSide { at + 1 } else { at + all.len() - 1 } % all.len();
                (self.scrolled.side, self.entry) = (0, 0);
                all.get(at).iter().for_each(|side| self.act(Action::SideChosen(**side)));
            }
            Own::Toggle | Own::Only => {
                let slot = side::legend_lines(self).get(self.entry).map(|line| line.slot);
                if let Some(slot) = slot.filter(|_| self.state.side == Side::Legend) {
                    let action =
                        if own == Own::Toggle { Action::LegendClicked(slot) } else { Action::LegendIsolated(slot) };
                    self.act(action);
                }
            }
        }
        self.touch();
    }

    fn scroll_side(&mut self, own: Own) {
        let pane = self.places.side;
        let height = usize::from(pane.height.saturating_sub(1)).max(1);
        let all = side::content(self, usize::from(pane.width.saturating_sub(1))).len();
        let moved = |from: usize, page: usize| match own {
            Own::Up => from.saturating_sub(1),
            Own::Down => from + 1,
            Own::PageUp => from.saturating_sub(page),
            _ => from + page,
        };
        if self.state.side == Side::Legend {
            let last = side::legend_lines(self).len().saturating_sub(1);
            self.entry = moved(self.entry, height).min(last);
            let line = self.entry + 1;
            self.scrolled.side = scrolled_to(self.scrolled.side, [line, line], height, all);
        } else {
            self.scrolled.side = moved(self.scrolled.side, height).min(all.saturating_sub(height));
        }
    }

    fn back(&mut self) {
        let is_tree = self.focus == Focus::View && self.state.views.seen() == Some(Tab::Tree);
        let is_zoomed = is_tree && ui::tree_rows::tools(&self.state.tree, &self.state).is_focused;
        match self.focus {
            _ if is_zoomed => self.command(Command::Feature(FeatureCommand::Tree(TreeCommand::Back))),
            Focus::Timeline => self.orders.push(Order::Quit),
            Focus::View | Focus::Side => self.focus = Focus::Timeline,
        }
    }

    fn zoom(&mut self, delta: f64) {
        let (Some(view), Some(canvas)) = (self.state.view, self.state.canvas) else { return };
        let width = f64::from(view.width_px);
        let pin = self.state.pin_px().map(|(x, _)| x).filter(|x| (0.0..width).contains(x));
        let at = Pointer { x: pin.unwrap_or(width / 2.0), y: f64::from(canvas.height_px) / 2.0 };
        self.act(Action::Wheel { at, delta, axis: WheelAxis::ZoomEvents });
    }

    fn next_topic(&mut self, is_next: bool) {
        let all = insights::topics(&self.state);
        let at = all.iter().position(|topic| *topic == self.state.why.topic).unwrap_or(0);
        let at = if is_next { at + 1 } else { at + all.len().max(1) - 1 } % all.len().max(1);
        if let Some(topic) = all.get(at) {
            (self.scrolled.report, self.scrolled.report_item) = (0, None);
            self.act(Action::of(WhyAction::TopicChosen(*topic)));
        }
    }

    fn copy_what_is_seen(&mut self) {
        let view = if self.focus == Focus::View { self.state.views.seen() } else { None };
        match view {
            Some(Tab::Why) => self.command(Command::Feature(FeatureCommand::Why(WhyStep::Copy))),
            Some(Tab::Table | Tab::Events) => self.command(Command::Rows(RowsStep::Copy)),
            Some(Tab::Tree) => {
                let view = ui::tree_rows::view(&self.state.tree, &self.state);
                self.orders.push(Order::Copy(tree::foot_text(self, &view)));
                self.note = "Copied the row.".to_owned();
            }
            _ if self.state.selection.is_some() => self.command(Command::CopyDetails),
            _ => self.note = "Select an allocation first, or go to a view and copy its rows.".to_owned(),
        }
    }

    /// Shows a dialog with the link to the current view and commands that open it elsewhere.
    fn show_link(&mut self) {
        let Some(link) = Link::of(&self.state) else {
            self.note = "Open a snapshot first.".to_owned();
            return;
        };
        let file = self.state.snapshots.get(self.state.chosen).map(|choice| choice.origin.clone());
        let path = match file {
            Some(ui::effect::Origin::File(place)) => self.files.get(place).map(|file| file.path.clone()),
            _ => None,
        };
        let path = quoted(&path.unwrap_or_default().to_string_lossy());
        let fragment = ["#", &link.seen_only().fragment()].concat();
        let html = ["  memscape html ", &path, " -o report.html --view ", &quoted(&fragment)].concat();
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

/// Quotes a text as one word of a shell command.
fn quoted(text: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+,:@%".contains(sign);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    ["'", &text.replace('\'', r"'\''"), "'"].concat()
}
