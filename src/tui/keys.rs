//! Handling of keys: passes them to the text field, the open dialog, or the focused pane.

use crate::app::App;
use crate::bindings::{At, Does, Own, does};
use crate::dialogs::{Picked, picked};
use crate::field::{Of, Typed};
use crate::panes::{Focus, Order};
use crate::views::flame;
use crate::views::rows::body;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::PathBuf;
use ui::binding::{Modifiers, Scope, chord};
use ui::cursor::CursorStep;
use ui::events::EventsAction;
use ui::features::FeatureCommand;
use ui::memory::MemoryAction;
use ui::palette::PaletteAction;
use ui::stage::Help;
use ui::tab::Tab;
use ui::table::TableAction;
use ui::{Action, Command};

/// Returns the name of a key as used in the tables of bindings.
pub(crate) fn name(key: &KeyEvent) -> Option<String> {
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
        self.touch();
        self.note.clear();
        let Some(name) = name(key) else { return };
        if name == "Ctrl+c" {
            return self.orders.push(Order::Quit);
        }
        if self.field.is_some() {
            return self.typed(key, &name);
        }
        if self.state.help == Help::Open {
            return self.help_key(&name);
        }
        if self.link.is_some() {
            return self.link_key(&name);
        }
        self.press(&name);
    }

    /// Inserts a pasted text into the text field, if it is open.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(field) = &mut self.field {
            field.insert(text);
            self.changed();
        }
    }

    /// Runs the command that is bound to a key in the focused pane.
    pub(crate) fn press(&mut self, name: &str) {
        let at = match (self.focus, self.state.views.seen()) {
            (Focus::Side, _) => At::Side,
            (Focus::View, Some(tab)) => At::Page(Scope::Tab(tab)),
            _ => At::Page(Scope::Timeline),
        };
        match does(at, name, self.state.letters) {
            Some(Does::Page(command)) => self.page(command),
            Some(Does::Own(own)) => self.own(own),
            None => {}
        }
    }

    /// Runs a command of the page.
    pub(crate) fn page(&mut self, command: Command) {
        if command == Command::Feature(FeatureCommand::Palette(ui::palette::PaletteStep::Toggle)) {
            self.command(command);
            self.entry = 0;
            return self.ask_for(Of::Palette);
        }
        if command == Command::Cursor(CursorStep::Select) {
            self.lead();
        }
        if command == Command::ToggleHelp {
            self.scrolled.help = 0;
        }
        self.command(command);
    }

    /// Moves the keyboard crosshair onto the picture at the cursor, unless it is there already.
    fn lead(&mut self) {
        if self.state.tools.cursor.keys.is_none() {
            let steps = [CursorStep::Earlier, CursorStep::Later];
            let is_first = self.state.pinned.moment == 0;
            let steps = if is_first { [steps[1], steps[0]] } else { steps };
            steps.into_iter().for_each(|step| self.command(Command::Cursor(step)));
        }
    }

    fn typed(&mut self, key: &KeyEvent, name: &str) {
        let Some(field) = &mut self.field else { return };
        let of = field.of;
        match field.key(key) {
            Typed::Changed => self.changed(),
            Typed::Moved => {}
            Typed::Done => self.done(),
            Typed::GivenUp => {
                self.field = None;
                match of {
                    Of::Palette => self.act(Action::of(PaletteAction::Closed)),
                    Of::Events => self.command(Command::CancelLoading),
                    _ => {}
                }
            }
            Typed::Other if of == Of::Palette => {
                let by = |app: &mut App, entry: usize| app.entry = entry;
                match name {
                    "ArrowDown" => by(self, self.entry + 1),
                    "ArrowUp" => by(self, self.entry.saturating_sub(1)),
                    "PageDown" => by(self, self.entry + 8),
                    "PageUp" => by(self, self.entry.saturating_sub(8)),
                    _ => {}
                }
                self.entry = self.entry.min(crate::dialogs::entries(self).len().saturating_sub(1));
            }
            Typed::Other if matches!(name, "ArrowDown" | "ArrowUp") && of == Of::Filter => self.field = None,
            Typed::Other => {}
        }
    }

    /// Handles a change of the text in the text field.
    fn changed(&mut self) {
        let Some(field) = self.field.clone() else { return };
        match field.of {
            Of::Find => self.act(Action::FindTyped(field.text)),
            Of::Filter if self.state.views.tab == Tab::Events => self.act(Action::of(EventsAction::Typed(field.text))),
            Of::Filter => self.act(Action::of(TableAction::FilterTyped(field.text))),
            Of::Request => self.act(Action::of(MemoryAction::RequestTyped(field.text))),
            Of::Help => {
                self.scrolled.help = 0;
                self.act(Action::HelpFiltered(field.text));
            }
            Of::Palette => {
                self.entry = 0;
                self.act(Action::of(PaletteAction::Typed(field.text)));
            }
            Of::Moment | Of::Capacity | Of::Open | Of::Compare | Of::Events => {}
        }
    }

    /// Handles Enter in the text field.
    fn done(&mut self) {
        let Some(field) = self.field.take() else { return };
        match field.of {
            Of::Find if !field.text.trim().is_empty() => self.command(Command::FindNext),
            Of::Moment => {
                self.act(Action::MomentTyped(field.text));
                if let Some(wrong) = &self.state.pinned.wrong {
                    self.note.clone_from(wrong);
                }
            }
            Of::Capacity => self.act(Action::CapacityTyped(field.text)),
            Of::Open if !field.text.trim().is_empty() => {
                self.open(&[path(&field.text)]);
            }
            Of::Compare if !field.text.trim().is_empty() => self.compare(path(&field.text)),
            Of::Palette => self.pick(&field.text),
            Of::Events => self.act(Action::EventsTyped(field.text)),
            _ => {}
        }
    }

    /// Runs the selected palette entry for a text, or the best match.
    pub(crate) fn pick(&mut self, text: &str) {
        self.act(Action::of(PaletteAction::Typed(text.to_owned())));
        let picked = if matches!(text.trim(), "q" | "quit") { Some(Picked::Own(Own::Quit)) } else { picked(self) };
        self.act(Action::of(PaletteAction::Closed));
        self.entry = 0;
        match picked {
            Some(Picked::Page(target)) => {
                if target == select() {
                    self.lead();
                }
                self.act(Action::of(PaletteAction::Picked(target)));
            }
            Some(Picked::Own(own)) => self.own(own),
            None => self.note = "No such command.".to_owned(),
        }
    }

    fn help_key(&mut self, name: &str) {
        let page = usize::from(self.places.all.height.saturating_sub(4)).max(1);
        let most = crate::dialogs::help_lines(self, usize::from(self.places.all.width)).len().saturating_sub(page);
        let top = self.scrolled.help.min(most);
        self.scrolled.help = match name {
            "ArrowDown" => top + 1,
            "ArrowUp" => top.saturating_sub(1),
            "PageDown" | "Space" => top + page,
            "PageUp" => top.saturating_sub(page),
            "Home" => 0,
            "End" => most,
            "/" => return self.ask_for(Of::Help),
            "Escape" | "q" | "?" | "Enter" => return self.act(Action::HelpClosed),
            _ => top,
        }
        .min(most);
    }

    fn link_key(&mut self, name: &str) {
        let command = self.link.as_ref().and_then(|link| link.get(1)).filter(|_| name == "y");
        if let Some(command) = command.map(|command| command.trim().to_owned()) {
            self.orders.push(Order::Copy(command));
            self.note = "Copied.".to_owned();
        }
        self.link = None;
    }

    /// Returns the number of rows of the visible view.
    pub(crate) fn view_rows(&self) -> u16 {
        body(self.places.view).height
    }

    /// Converts a cell of the flame graph to pixels of its canvas.
    pub(crate) fn flame_px(&self, column: u16, row: u16) -> [f64; 2] {
        [f64::from(column) + 0.5, (f64::from(row) + 0.5) * f64::from(flame::ROW)]
    }
}

/// Returns the palette target of the command that selects the allocation at the crosshair.
fn select() -> ui::palette::Target {
    let at = |binding: &ui::binding::Binding<Command>| binding.command == Command::Cursor(CursorStep::Select);
    ui::palette::Target::Command(ui::keys::BINDINGS.iter().position(at).unwrap_or(usize::MAX))
}

fn path(text: &str) -> PathBuf {
    let text = text.trim();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}
