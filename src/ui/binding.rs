//! A line of the key table: where keys work, what they do, and which visible control does the same.

use super::tab::Tab;

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Anywhere but in a text field.
    Page,
    /// While the timeline has the focus.
    Timeline,
    /// While a tab has the focus.
    Tab(Tab),
    /// While the formats of a picture are offered.
    Export,
}

impl Scope {
    /// All of them in the order of the list of keys, with their headings there.
    pub fn all() -> impl Iterator<Item = (Scope, &'static str)> {
        let tabs = Tab::ALL.into_iter().filter_map(|tab| Some((Scope::Tab(tab), tab.entry().heading?)));
        let last = [(Scope::Page, "Everywhere"), (Scope::Export, "Export dialog")];
        std::iter::once((Scope::Timeline, "Timeline")).chain(tabs).chain(last)
    }
}

/// The keys held beside another key or the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    pub alt: bool,
    pub ctrl: bool,
    pub shift: bool,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding<C> {
    /// Where the keys work.
    pub scope: Scope,
    /// The keys, as [`chord`] writes them.
    pub keys: &'static [&'static str],
    pub command: C,
    pub label: &'static str,
    /// The id of the visible control that does the same.
    pub control: &'static str,
}

impl<C: Copy> Binding<C> {
    /// The same line for the commands that this one is among.
    pub(super) fn of<D>(&self, command: impl Fn(C) -> D) -> Binding<D> {
        let Binding { scope, keys, label, control, .. } = *self;
        Binding { scope, keys, command: command(self.command), label, control }
    }
}

/// One line: see the fields of [`Binding`].
pub(super) const fn line<C>(
    scope: Scope,
    keys: &'static [&'static str],
    command: C,
    label: &'static str,
    control: &'static str,
) -> Binding<C> {
    Binding { scope, keys, command, label, control }
}

/// A key as the table has it, from `KeyboardEvent.key` and what is held beside it: `Ctrl+Shift+ArrowLeft`, `Shift+z`. Letters are
/// in lower case; other signs stand for themselves, whatever it takes to type them.
pub fn chord(key: &str, held: Modifiers) -> String {
    let key = if key == " " { "Space" } else { key };
    let is_sign = key.chars().count() == 1;
    let lower = if is_sign { key.to_ascii_lowercase() } else { key.to_owned() };
    // What other signs take to be typed is the keyboard's affair.
    let is_letter = !is_sign || key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let shift = if held.shift && is_letter { "Shift+" } else { "" };
    [if held.ctrl { "Ctrl+" } else { "" }, if held.alt { "Alt+" } else { "" }, shift, &lower].concat()
}

/// How a key is written for people.
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
