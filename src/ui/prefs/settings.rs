//! Settings that apply to all files: rules for internal frames, links to source files, and the hidden path prefix.
//!
//! Settings come from the dialog or the browser's storage, never from a link or a snapshot. All settings are validated
//! here.

pub use crate::state::settings::{Dialog, SETTINGS, Setting, Settings, SettingsAction, Theme};

use crate::state::change::{AskPhase, Change};
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::part::{Part, take_nothing};
use crate::state::shared::Shared;
use protocol::{DEFAULT_RULES, Request};

pub(crate) fn apply(state: &mut Shared, action: SettingsAction, out: &mut Outbox) {
    let settings = &mut state.settings;
    let stored_before = settings.to_stored();
    match action {
        SettingsAction::Changed(name, text) => {
            let changed = SETTINGS.iter().find(|setting| setting.name == name);
            changed.into_iter().for_each(|setting| (setting.set)(settings, &text));
        }
        SettingsAction::RulesFinished => settings.finish_rules(),
        SettingsAction::DefaultRules => {
            settings.typed_rules = None;
            settings.set_rules(None);
        }
        SettingsAction::Loaded(text) => return settings.load(&text),
        SettingsAction::Closed => {
            settings.finish_rules();
            // Invalid rules were never applied, so the field shows the rules in use again.
            settings.typed_rules = None;
            settings.dialog = Dialog::Closed;
        }
    }
    let stored_after = settings.to_stored();
    if stored_before != stored_after {
        settings.version = settings.version.wrapping_add(1);
        out.push(Effect::Store(stored_after));
    }
}

/// Opens or closes the settings dialog.
pub(crate) fn toggle(state: &mut Shared, out: &mut Outbox) {
    match state.settings.dialog {
        Dialog::Closed => state.settings.dialog = Dialog::Open,
        Dialog::Open => apply(state, SettingsAction::Closed, out),
    }
}

/// Sends the rules for internal frames to the worker, unless the worker already has them.
fn ask(state: &mut Shared, _: i64, out: &mut Outbox) {
    let settings = &mut state.settings;
    let current = (state.load, settings.rules_version);
    // A worker starts with the default rules.
    if settings.last_sent == Some(current) || (settings.last_sent.is_none() && settings.rules.is_none()) {
        return;
    }
    // If the worker used the defaults so far, its previous answers about this load are outdated.
    let is_outdated = settings.last_sent.replace(current).is_none_or(|(load, _)| load == state.load);
    let defaults = || DEFAULT_RULES.iter().map(|&rule| rule.to_owned()).collect();
    let rules = settings.rules.clone().unwrap_or_else(defaults);
    out.push(Effect::Ask(Request::InternalFrames(rules)));
    if is_outdated {
        state.selected_label = None;
        state.changes.push(Change::InternalFrames);
    }
}
/// Callbacks of the settings. Settings apply to all files, so they are not reset when another file is opened.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take: take_nothing };
