//! Commands for help, settings, tabs and the keyboard focus.

use crate::features::State;
use crate::features::command::Trait::BrowserOnly;
use crate::features::command::{Call, Command, Name, PAGE, Row, Run, TIMELINE, VIEWS, always, has_file, row, rows};
use crate::prefs::{rules, settings};
use crate::state::binding::KeyScope::Page;
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::settings::{SettingsAction, Theme};
use crate::state::stage::{Help, Letters};
use crate::text::tab::Tab;

rows! {
    pub(super) HELP:
    TOGGLE_HELP = row(Page, PAGE, &["?"], "Open help", "help-open", |state, _| {
        state.help = if state.help == Help::Open { Help::Closed } else { Help::Open };
        state.help_filter.clear();
    }).when(always);
    TOGGLE_LETTERS = row(Page, PAGE, &["F2"], "Turn single-letter keys on or off", "letters", |state, _| {
        state.letters = if state.letters == Letters::On { Letters::Off } else { Letters::On };
        let now = if state.letters == Letters::On { "on" } else { "off" };
        state.remark = Some(format!("Single-letter keys are {now}."));
    }).when(always);
    FOLD_VIEWS = row(Page, VIEWS, &["Shift+v"], "Collapse or expand the views", "answer-fold",
        |state, _| state.views.toggle_collapsed());
    CHANGE_FOCUS = row(Page, VIEWS, &["j"], "Switch focus between the timeline and the view", TIMELINE,
        |_, out| out.push(Effect::ChangeFocus));
}

rows! {
    pub(super) SETTINGS:
    TOGGLE_RULES = row(Page, PAGE, &["Shift+g"], "Edit category rules", "rules-open",
        |state, _| rules::toggle(state)).when(always).with(&[BrowserOnly]);
    TOGGLE_SETTINGS = row(Page, PAGE, &["Ctrl+,"], "Open settings", "settings-open",
        |state, out| settings::toggle(state, out)).when(always).with(&[BrowserOnly]);
    // Themes have no keys. They can be chosen in the settings and in the command palette.
    THEME_SYSTEM = theme(Theme::System, "Theme: system", |state, out| choose_theme(state, Theme::System, out));
    THEME_LIGHT = theme(Theme::Light, "Theme: light", |state, out| choose_theme(state, Theme::Light, out));
    THEME_DARK = theme(Theme::Dark, "Theme: dark", |state, out| choose_theme(state, Theme::Dark, out));
}

const fn theme(theme: Theme, title: Name, call: Call) -> Row {
    row(Page, PAGE, &[], title, theme.control(), call).when(always).with(&[BrowserOnly])
}

fn choose_theme(state: &mut State, theme: Theme, out: &mut Outbox) {
    settings::apply(state, SettingsAction::Changed("theme", theme.name().to_owned()), out);
}

// The rows that show a tab. [`Tab`] has their keys, titles and controls.
static SHOW_ROWS: [Row; Tab::ALL.len()] = {
    let mut rows = [show_row(Tab::Insights); Tab::ALL.len()];
    let mut index = 0;
    while index < rows.len() {
        rows[index] = show_row(Tab::ALL[index]);
        index += 1;
    }
    rows
};

const fn show_row(tab: Tab) -> Row {
    let entry = tab.entry();
    Row {
        scope: Page,
        group: VIEWS,
        keys: entry.key,
        title: entry.label,
        control: entry.control,
        is_possible: has_file,
        run: Run::Show(tab),
        traits: &[],
    }
}

pub(super) const SHOW: [Command; Tab::ALL.len()] = Command::table(&SHOW_ROWS);

/// Returns the command that shows a tab and gives it the keyboard focus.
pub const fn show(tab: Tab) -> Command {
    Command::new(&SHOW_ROWS[tab as usize])
}
