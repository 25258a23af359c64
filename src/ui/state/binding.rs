//! Keys: the parts of the page where they work, their notation, and their text for display.

use crate::text::tab::Tab;

/// Part of the page where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyScope {
    /// Anywhere except in a text field.
    Page,
    /// While the timeline has the focus.
    Timeline,
    /// While a tab has the focus.
    Tab(Tab),
    /// While the export dialog is open.
    Export,
}

impl KeyScope {
    /// Iterates over all scopes in the order of the help dialog, each with its heading.
    pub fn all() -> impl Iterator<Item = (KeyScope, &'static str)> {
        let tabs = Tab::ALL.into_iter().filter_map(|tab| Some((KeyScope::Tab(tab), tab.entry().heading?)));
        let last = [(KeyScope::Page, "Everywhere"), (KeyScope::Export, "Export dialog")];
        std::iter::once((KeyScope::Timeline, "Timeline")).chain(tabs).chain(last)
    }
}

/// Modifier keys held during a key press or a pointer action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    pub alt: bool,
    pub ctrl: bool,
    pub shift: bool,
}

/// Returns a key in the notation of the rows of commands, from `KeyboardEvent.key` and the modifiers held:
/// `Ctrl+Shift+ArrowLeft`, `Shift+z`. Letters are in lower case. For other characters, Shift is not mentioned, since
/// the character implies it.
pub fn chord(key: &str, held: Modifiers) -> String {
    let key = if key == " " { "Space" } else { key };
    let is_char = key.chars().count() == 1;
    let lower = if is_char { key.to_ascii_lowercase() } else { key.to_owned() };
    // Keyboard layouts differ in whether other characters need Shift.
    let is_letter = !is_char || key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let shift = if held.shift && is_letter { "Shift+" } else { "" };
    [if held.ctrl { "Ctrl+" } else { "" }, if held.alt { "Alt+" } else { "" }, shift, &lower].concat()
}

/// Formats a key for display: `Ctrl + Shift + ←`.
pub fn key_text(key: &str) -> String {
    for (held, text) in [("Ctrl+", "Ctrl + "), ("Alt+", "Alt + "), ("Shift+", "Shift + ")] {
        if let Some(key) = key.strip_prefix(held) {
            return text.to_owned() + &key_text(key);
        }
    }
    match key {
        "ArrowLeft" => "←".into(),
        "ArrowRight" => "→".into(),
        "ArrowUp" => "↑".into(),
        "ArrowDown" => "↓".into(),
        "PageUp" => "Page ↑".into(),
        "PageDown" => "Page ↓".into(),
        "Escape" => "Esc".into(),
        "Enter" | "Delete" | "Backspace" | "Space" | "Home" | "End" => key.into(),
        "-" => "−".into(),
        other => other.to_ascii_uppercase(),
    }
}
