//! Rules that classify allocations into categories: the rule set in use, the user's own rule set as typed, and the
//! storage of both.
//!
//! Rules come from the dialog, an imported file, the browser's storage or the page that was saved with them, never from
//! a link or a snapshot.

mod row;

pub use crate::state::rules::{Pane, RuleEdit, RuleField, Rules, RulesAction, SetChoice, SetFormat};
pub use row::RuleRow;

use crate::plot::lane_scenes;
use crate::scope::find;
use crate::state::change::{AskPhase, Change};
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::part::{Part, take_nothing};
use crate::state::settings::Dialog;
use crate::state::shared::Shared;
use base::units::pluralize;
use protocol::{Grouping, Request};

/// Contents of the rules dialog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesView {
    pub choice: SetChoice,
    pub pane: Pane,
    /// Rows of the form. `None` while the text cannot be parsed.
    pub rows: Option<Vec<RuleRow>>,
    pub text: String,
    /// Number of rules and categories. If the text has errors, a notice comes first.
    pub note: String,
    /// Error messages, each with its line number in the text, counted from 1. Line 0 means that the error does not
    /// belong to a line.
    pub errors: Vec<(u32, String)>,
    pub can_undo: bool,
}

/// Opens or closes the rules dialog.
pub(crate) fn toggle(state: &mut Shared) {
    let rules = &mut state.rules;
    rules.dialog = if rules.dialog == Dialog::Open { Dialog::Closed } else { Dialog::Open };
    state.settings.dialog = Dialog::Closed;
}

pub(crate) fn apply(state: &mut Shared, action: RulesAction, out: &mut Outbox) {
    let rules = &mut state.rules;
    let stored_before = rules.to_stored();
    rules.failure.clear();
    match action {
        RulesAction::Chosen(choice) => rules.choose(choice),
        RulesAction::Typed(text) => {
            rules.undo = None;
            rules.set_text(text);
        }
        RulesAction::Edited(edit) => rules.edit(edit),
        RulesAction::PaneChosen(pane) => rules.pane = pane,
        RulesAction::Copied(choice) => {
            let set = Rules { choice, valid_text: rules.valid_text.clone(), ..Rules::default() }.set();
            rules.replace(set.to_json());
        }
        RulesAction::Imported(Ok(text)) => rules.replace(text),
        RulesAction::Imported(Err(cause)) => rules.failure = cause,
        RulesAction::YamlRead(text, read) => rules.on_yaml_parsed(&text, read),
        RulesAction::Undo => {
            if let Some(text) = rules.undo.take() {
                rules.set_text(text);
            }
        }
        RulesAction::Saved(form) => match file_to_save(rules, form) {
            Ok((name, text)) => out.push(Effect::Save(name, text)),
            Err(cause) => rules.failure = cause,
        },
        RulesAction::Loaded(text) => {
            if rules.load(&text).is_none() {
                return;
            }
        }
        RulesAction::Closed => rules.dialog = Dialog::Closed,
    }
    let rules = &mut state.rules;
    rules.revision = rules.revision.wrapping_add(1);
    if let Some(yaml) = rules.pending_yaml.as_mut().filter(|yaml| !yaml.is_asked) {
        yaml.is_asked = true;
        out.push(Effect::ReadYaml(yaml.text.clone()));
    }
    let stored_after = rules.to_stored();
    if stored_before != stored_after {
        out.push(Effect::StoreRules(stored_after));
    }
}

/// Returns the name and the contents of the file to save a rule set in, or an error message.
fn file_to_save(rules: &Rules, format: SetFormat) -> Result<(&'static str, String), String> {
    if let Some(error) = rules.errors.first().filter(|_| rules.choice == SetChoice::Own) {
        return Err(["Fix line ", &error.line.to_string(), " first."].concat());
    }
    let set = rules.set();
    match format {
        SetFormat::Json => Ok(("categories.json", set.to_json())),
        SetFormat::Mosaic => set.to_mosaic().map(|text| ("categories-mosaic.json", text)).map_err(|rule| {
            ["Mosaic's format cannot express rule ", &rule.to_string(), ": it has one “frame” pattern per category."]
                .concat()
        }),
    }
}

/// Sends the rule set in use to the worker, unless the worker already has it. While the dialog shows the effect of each
/// change, waits for the report on the previous change.
fn ask(state: &mut Shared, _: i64, out: &mut Outbox) {
    let rules = &mut state.rules;
    let current = (state.load, rules.version);
    // A worker starts with the standard rules.
    if rules.sent == Some(current) || (rules.sent.is_none() && rules.choice == SetChoice::Standard) {
        return;
    }
    let same_load = rules.sent.is_none_or(|(load, _)| load == state.load);
    if same_load && rules.dialog == Dialog::Open && state.report_is_pending {
        return;
    }
    rules.sent = Some(current);
    out.push(Effect::Ask(Request::Categories(Box::new(rules.set()))));
    state.changes.push(Change::Categories);
    if [state.plot_settings.stacking, Some(state.plot_settings.colouring)].contains(&Some(Grouping::Category)) {
        lane_scenes::redraw(state);
    }
    find::categories_changed(state);
}

/// Callbacks of the rules. Rules apply to all files, so they are not reset when another file is opened.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Setup, ask)], take: take_nothing };

/// Builds the contents of the rules dialog.
pub fn view(state: &Shared) -> RulesView {
    let rules = &state.rules;
    let is_own = rules.choice == SetChoice::Own;
    let set = rules.set();
    let mut note = pluralize(set.rules.len() as u64, "rule");
    note.push_str(", ");
    // Do not count the category for unclassified allocations.
    note.push_str(
        &pluralize(set.categories().len().saturating_sub(1) as u64, "category").replace("categorys", "categories"),
    );
    if is_own && !rules.errors.is_empty() {
        note.insert_str(0, "Until this is fixed, these apply: ");
    }
    if rules.pending_yaml.is_some() {
        note.insert_str(0, "Reading YAML… ");
    }
    let failure = Some(&rules.failure).filter(|cause| !cause.is_empty()).map(|cause| (0, cause.clone())).into_iter();
    let error_lines: Vec<u32> = rules.errors.iter().filter(|_| is_own).map(|error| error.line).collect();
    let shown = if is_own { rules.draft.as_ref() } else { Some(&set) };
    RulesView {
        choice: rules.choice,
        pane: rules.pane,
        rows: shown.map(|set| row::rows(set, &error_lines)),
        text: if is_own { rules.text.clone() } else { set.to_json() },
        note,
        errors: failure
            .chain(rules.errors.iter().filter(|_| is_own).map(|error| (error.line, error.to_string())))
            .collect(),
        can_undo: is_own && rules.undo.is_some(),
    }
}
