//! Handles key presses: passes them to the text field, the open dialog, or the focused pane.

use crate::app::App;
use crate::bindings::{BindingScope, KeyCommand, TerminalCommand, command_for};
use crate::dialogs::{TuiTarget, selected_target};
use crate::field::{FieldPurpose, FieldResult};
use crate::panes::{Focus, Order};
use crate::views::flame;
use crate::views::rows::body;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::PathBuf;
use ui::features::command::Command;
use ui::features::events::EventsAction;
use ui::features::palette::PaletteAction;
use ui::features::segments::SegmentsAction;
use ui::features::table::TableAction;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::binding::{KeyScope, Modifiers, chord};
use ui::state::stage::Help;
use ui::text::tab::Tab;

/// Returns the name of a key in the format of the tables of key bindings, or `None` for unsupported keys.
pub(crate) fn key_name(key: &KeyEvent) -> Option<String> {
    let of_function;
    let name = match key.code {
        KeyCode::Left => "ArrowLeft",
        KeyCode::Right => "ArrowRight",
        KeyCode::Up => "ArrowUp",
        KeyCode::Down => "ArrowDown",
        KeyCode::Enter => "Enter",
        KeyCode::Esc => "Escape",
        KeyCode::Backspace => "Backspace",
        KeyCode::Delete => "Delete",
        KeyCode::Home => "Home",
        KeyCode::End => "End",
        KeyCode::PageUp => "PageUp",
        KeyCode::PageDown => "PageDown",
        KeyCode::Tab => "Tab",
        KeyCode::BackTab => return Some("Shift+Tab".to_owned()),
        KeyCode::F(number) => {
            of_function = format!("F{number}");
            // Not passed to `chord`, which would treat the digits as characters.
            return Some(of_function);
        }
        KeyCode::Char(sign) => {
            let shift = sign.is_uppercase() || key.modifiers.contains(KeyModifiers::SHIFT);
            return Some(chord(sign.encode_utf8(&mut [0; 4]), held(key.modifiers, shift)));
        }
        _ => return None,
    };
    Some(chord(name, held(key.modifiers, key.modifiers.contains(KeyModifiers::SHIFT))))
}

fn held(modifiers: KeyModifiers, shift: bool) -> Modifiers {
    Modifiers { alt: modifiers.contains(KeyModifiers::ALT), ctrl: modifiers.contains(KeyModifiers::CONTROL), shift }
}

impl App {
    /// Handles a key press.
    pub fn key(&mut self, key: &KeyEvent) {
        self.request_redraw();
        self.message.clear();
        let Some(name) = key_name(key) else { return };
        if name == "Ctrl+c" {
            return self.orders.push(Order::Quit);
        }
        if self.field.is_some() {
            return self.on_field_key(key, &name);
        }
        if self.state.help == Help::Open {
            return self.help_key(&name);
        }
        if self.link.is_some() {
            return self.link_key(&name);
        }
        self.run_key(&name);
    }

    /// Inserts pasted text into the text field, if the text field is open.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(field) = &mut self.field {
            field.insert(text);
            self.on_field_changed();
        }
    }

    /// Runs the command bound to a key in the focused pane. `name` is the result of [`key_name`].
    pub(crate) fn run_key(&mut self, name: &str) {
        let at = match (self.focus, self.state.views.visible()) {
            (Focus::Side, _) => BindingScope::Side,
            (Focus::View, Some(tab)) => BindingScope::Page(KeyScope::Tab(tab)),
            _ => BindingScope::Page(KeyScope::Timeline),
        };
        match command_for(at, name, self.state.letters) {
            Some(KeyCommand::Page(command)) => self.run_page_command(command),
            Some(KeyCommand::Terminal(own)) => self.run_command(own),
            None => {}
        }
    }

    /// Runs a command of the page.
    pub(crate) fn run_page_command(&mut self, command: Command) {
        if command == commands::palette::TOGGLE {
            self.command(command);
            self.selected_entry = 0;
            return self.open_field(FieldPurpose::Palette);
        }
        if command == commands::SELECT_AT_CURSOR {
            self.show_crosshair();
        }
        if command == commands::TOGGLE_HELP {
            self.scrolled.help = 0;
        }
        self.command(command);
    }

    /// Shows the keyboard-controlled crosshair at the cursor, unless the crosshair is already visible.
    fn show_crosshair(&mut self) {
        if self.state.tools.crosshair.by_keys.is_none() {
            let steps = [commands::CURSOR_EARLIER, commands::CURSOR_LATER];
            let is_first = self.state.cursor.moment == 0;
            let steps = if is_first { [steps[1], steps[0]] } else { steps };
            steps.into_iter().for_each(|step| self.command(step));
        }
    }

    fn on_field_key(&mut self, key: &KeyEvent, name: &str) {
        let Some(field) = &mut self.field else { return };
        let purpose = field.purpose;
        match field.key(key) {
            FieldResult::Changed => self.on_field_changed(),
            FieldResult::Moved => {}
            FieldResult::Done => self.on_field_done(),
            FieldResult::Cancelled => {
                self.field = None;
                match purpose {
                    FieldPurpose::Palette => self.act(Action::feature(PaletteAction::Closed)),
                    FieldPurpose::Events => self.command(commands::CANCEL_LOADING),
                    _ => {}
                }
            }
            FieldResult::NotHandled if purpose == FieldPurpose::Palette => {
                let by = |app: &mut App, entry: usize| app.selected_entry = entry;
                match name {
                    "ArrowDown" => by(self, self.selected_entry + 1),
                    "ArrowUp" => by(self, self.selected_entry.saturating_sub(1)),
                    "PageDown" => by(self, self.selected_entry + 8),
                    "PageUp" => by(self, self.selected_entry.saturating_sub(8)),
                    _ => {}
                }
                self.selected_entry =
                    self.selected_entry.min(crate::dialogs::palette_entries(self).len().saturating_sub(1));
            }
            FieldResult::NotHandled if matches!(name, "ArrowDown" | "ArrowUp") && purpose == FieldPurpose::Filter => {
                self.field = None;
            }
            FieldResult::NotHandled => {}
        }
    }

    /// Applies the text in the text field after each change, for example to search as the user types.
    fn on_field_changed(&mut self) {
        let Some(field) = self.field.clone() else { return };
        match field.purpose {
            FieldPurpose::Find => self.act(Action::FindTyped(field.text)),
            FieldPurpose::Filter if self.state.views.tab == Tab::Events => {
                self.act(Action::feature(EventsAction::FilterTyped(field.text)));
            }
            FieldPurpose::Filter => self.act(Action::feature(TableAction::FilterTyped(field.text))),
            FieldPurpose::Request => self.act(Action::feature(SegmentsAction::RequestTyped(field.text))),
            FieldPurpose::Help => {
                self.scrolled.help = 0;
                self.act(Action::HelpFiltered(field.text));
            }
            FieldPurpose::Palette => {
                self.selected_entry = 0;
                self.act(Action::feature(PaletteAction::Typed(field.text)));
            }
            FieldPurpose::Moment
            | FieldPurpose::Capacity
            | FieldPurpose::Open
            | FieldPurpose::Compare
            | FieldPurpose::Events => {}
        }
    }

    /// Handles Enter in the text field.
    fn on_field_done(&mut self) {
        let Some(field) = self.field.take() else { return };
        match field.purpose {
            FieldPurpose::Find if !field.text.trim().is_empty() => self.command(commands::FIND_NEXT),
            FieldPurpose::Moment => {
                self.act(Action::GoToEntered(field.text));
                if let Some(wrong) = &self.state.cursor.error {
                    self.message.clone_from(wrong);
                }
            }
            FieldPurpose::Capacity => self.act(Action::CapacityTyped(field.text)),
            FieldPurpose::Open if !field.text.trim().is_empty() => {
                self.open(&[expand_path(&field.text)]);
            }
            FieldPurpose::Compare if !field.text.trim().is_empty() => self.compare(expand_path(&field.text)),
            FieldPurpose::Palette => self.run_palette(&field.text),
            FieldPurpose::Events => self.act(Action::LoadRangeEntered(field.text)),
            _ => {}
        }
    }

    /// Runs the selected palette entry among the entries that match `text`, and closes the palette.
    pub(crate) fn run_palette(&mut self, text: &str) {
        self.act(Action::feature(PaletteAction::Typed(text.to_owned())));
        let picked = if matches!(text.trim(), "q" | "quit") {
            Some(TuiTarget::Terminal(TerminalCommand::Quit))
        } else {
            selected_target(self)
        };
        self.act(Action::feature(PaletteAction::Closed));
        self.selected_entry = 0;
        match picked {
            Some(TuiTarget::Page(target)) => {
                if target == select_target() {
                    self.show_crosshair();
                }
                self.act(Action::feature(PaletteAction::Picked(target)));
            }
            Some(TuiTarget::Terminal(command)) => self.run_command(command),
            None => self.message = "No such command.".to_owned(),
        }
    }

    fn help_key(&mut self, name: &str) {
        let page = usize::from(self.layout.all.height.saturating_sub(4)).max(1);
        let max_scroll =
            crate::dialogs::help_lines(self, usize::from(self.layout.all.width)).len().saturating_sub(page);
        let top = self.scrolled.help.min(max_scroll);
        self.scrolled.help = match name {
            "ArrowDown" => top + 1,
            "ArrowUp" => top.saturating_sub(1),
            "PageDown" | "Space" => top + page,
            "PageUp" => top.saturating_sub(page),
            "Home" => 0,
            "End" => max_scroll,
            "/" => return self.open_field(FieldPurpose::Help),
            "Escape" | "q" | "?" | "Enter" => return self.act(Action::HelpClosed),
            _ => top,
        }
        .min(max_scroll);
    }

    fn link_key(&mut self, name: &str) {
        let command = self.link.as_ref().and_then(|link| link.get(1)).filter(|_| name == "y");
        if let Some(command) = command.map(|command| command.trim().to_owned()) {
            self.orders.push(Order::Copy(command));
            self.message = "Copied.".to_owned();
        }
        self.link = None;
    }

    /// Returns the height of the visible view, in rows.
    pub(crate) fn view_rows(&self) -> u16 {
        body(self.layout.view).height
    }

    /// Converts a cell of the flame graph to a position on the flame graph's canvas, in pixels.
    pub(crate) fn flame_px(&self, column: u16, row: u16) -> [f64; 2] {
        [f64::from(column) + 0.5, (f64::from(row) + 0.5) * f64::from(flame::ROW_PX)]
    }
}

/// Returns the palette target that selects the allocation at the crosshair.
fn select_target() -> ui::features::palette::PaletteTarget {
    let index = commands::all().position(|command| command == commands::SELECT_AT_CURSOR);
    ui::features::palette::PaletteTarget::Command(index.unwrap_or(usize::MAX))
}

fn expand_path(text: &str) -> PathBuf {
    let text = text.trim();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}
