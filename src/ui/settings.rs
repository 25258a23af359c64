//! What a person sets for all files: which frames are internal, how source is opened, what of a path is left out.
//!
//! It comes from the dialog or from the browser's own storage, never from a link or a snapshot; either way it is checked here.

use super::effect::Effect;
use super::feature::{Change, Turn};
use super::links::{self, LinkError};
use super::part::{Part, keeps_all, takes_nothing};
use super::shared::Shared;
use engine::protocol::{DEFAULT_RULES, InternalRules, Request};

/// What the stored text begins with.
const FIRST_LINE: &str = "memscape settings 1";
/// What stands for rules where there is none.
const NO_RULES: &str = "\nrules=none";
/// A stored text that is longer is not ours.
const LONGEST_STORED: usize = 1 << 20;
/// No folder that is typed is longer.
const LONGEST_FOLDER: usize = 4096;

/// What a person sets for all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Whether the dialog is open.
    pub dialog: Dialog,
    /// The template of links; see [`links::expand`]. One that is wrong is kept here until it is mended, and makes no links.
    pub template: String,
    /// The folder that is left out of places.
    pub folder: String,
    /// What stands for that folder on this machine, in links; empty: itself.
    pub local: String,
    /// The rules as they are typed; `None`: the defaults.
    typed_rules: Option<String>,
    /// Those that are in force; `None`: the defaults.
    rules: Option<Vec<String>>,
    /// Grows whenever anything that is shown depends on has changed.
    pub version: u32,
    /// Grows whenever other rules are in force.
    rules_version: u32,
    /// The load that was told of rules, and of which.
    told: Option<(u32, u32)>,
}

/// Whether the dialog is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    /// No.
    #[default]
    Closed,
    /// Yes.
    Open,
}

/// A field of the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The rules of internal frames, one a line.
    Rules,
    /// The template of links.
    Template,
    /// The folder that is left out.
    Folder,
    /// What stands for it on this machine.
    Local,
}

/// Something happened to the settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsAction {
    /// This stands in a field now.
    Typed(Field, String),
    /// The rules are finished: the field was left.
    RulesDone,
    /// The rules shall be the ones this program comes with.
    DefaultRules,
    /// The browser had this in its storage.
    Loaded(String),
    /// The dialog was closed by the browser.
    Closed,
}

impl Settings {
    /// The rules as they stand in the dialog, one a line.
    pub fn rules_text(&self) -> String {
        match &self.typed_rules {
            Some(text) => text.clone(),
            None => self.rules.as_ref().map_or_else(|| DEFAULT_RULES.join("\n"), |rules| rules.join("\n")),
        }
    }

    /// What is wrong with the rules that stand there; empty: nothing.
    pub fn wrong_rules(&self) -> String {
        let lines = self.typed_rules.as_deref().map(lines_of);
        let wrong = lines.and_then(|lines| InternalRules::parse(&lines).err());
        wrong.map_or_else(String::new, |wrong| wrong.to_string())
    }

    /// What is wrong with the template; empty: nothing.
    pub fn wrong_template(&self) -> String {
        links::check(&self.template).err().map_or_else(String::new, |wrong| wrong.to_string())
    }

    /// What a link looks like, for the dialog; empty where there is none.
    pub fn sample(&self) -> String {
        let file = [self.folder.trim_end_matches(['/', '\\']), "/train.py"].concat();
        let file = if self.folder.is_empty() { "/home/me/train.py" } else { &file };
        self.link(file, "42").unwrap_or_default()
    }

    /// A frame's place as rows show it: `train.py:42`; empty where it has none.
    pub fn place(&self, file: &str, line: &str) -> String {
        links::place(file, line, &self.folder)
    }

    /// What opens a frame's source.
    ///
    /// # Errors
    /// Why nothing does.
    pub fn link(&self, file: &str, line: &str) -> Result<String, LinkError> {
        let local = self.local.trim_end_matches(['/', '\\']);
        let here = links::without(file, &self.folder).filter(|_| !local.is_empty());
        match here {
            Some(rest) => links::expand(&self.template, &[local, "/", rest].concat(), line),
            None => links::expand(&self.template, file, line),
        }
    }

    /// As it is stored.
    fn stored(&self) -> String {
        let mut text = FIRST_LINE.to_owned();
        let fields = [("template", &self.template), ("folder", &self.folder), ("local", &self.local)];
        let rules = self.rules.iter().flatten().map(|rule| ("rule", rule));
        for (name, value) in fields.into_iter().chain(rules) {
            if !value.is_empty() {
                for part in ["\n", name, "=", value] {
                    text.push_str(part);
                }
            }
        }
        if self.rules.as_ref().is_some_and(Vec::is_empty) {
            text.push_str(NO_RULES);
        }
        text
    }

    /// Takes what was stored; what is not ours or wrong is left out.
    fn load(&mut self, text: &str) {
        let mut lines = text.lines();
        if text.len() > LONGEST_STORED || lines.next() != Some(FIRST_LINE) {
            return;
        }
        let (mut rules, none) = (Vec::new(), text.ends_with(NO_RULES));
        for (name, value) in lines.filter_map(|line| line.split_once('=')) {
            match name {
                "template" if links::check(value).is_ok() => value.clone_into(&mut self.template),
                "folder" if value.len() <= LONGEST_FOLDER => value.clone_into(&mut self.folder),
                "local" if value.len() <= LONGEST_FOLDER => value.clone_into(&mut self.local),
                "rule" => rules.push(value.to_owned()),
                _ => {}
            }
        }
        self.version = self.version.wrapping_add(1);
        if (none || !rules.is_empty()) && InternalRules::parse(&rules).is_ok() {
            self.force(Some(rules));
        }
    }

    /// These rules are in force from now on.
    fn force(&mut self, rules: Option<Vec<String>>) {
        let rules = rules.filter(|rules| rules != DEFAULT_RULES);
        if rules != self.rules {
            self.rules = rules;
            self.rules_version = self.rules_version.wrapping_add(1);
        }
    }

    fn finish_rules(&mut self) {
        let Some(text) = &self.typed_rules else { return };
        let mut lines = lines_of(text);
        if InternalRules::parse(&lines).is_ok() {
            self.typed_rules = None;
            lines.retain(|line| !line.is_empty());
            self.force(Some(lines));
        }
    }
}

/// The lines, without what surrounds them.
fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// One line of what was typed or pasted, no longer than a path.
fn folder(text: &str) -> String {
    text.trim().chars().filter(|sign| !sign.is_control()).take(LONGEST_FOLDER / 4).collect()
}

/// Takes what happened into the state.
pub(super) fn act(state: &mut Shared, action: SettingsAction, effects: &mut Vec<Effect>) {
    let settings = &mut state.settings;
    let before = settings.stored();
    match action {
        SettingsAction::Typed(Field::Rules, text) => settings.typed_rules = Some(text),
        SettingsAction::Typed(Field::Template, text) => settings.template = folder(&text),
        SettingsAction::Typed(Field::Folder, text) => settings.folder = folder(&text),
        SettingsAction::Typed(Field::Local, text) => settings.local = folder(&text),
        SettingsAction::RulesDone => settings.finish_rules(),
        SettingsAction::DefaultRules => {
            settings.typed_rules = None;
            settings.force(None);
        }
        SettingsAction::Loaded(text) => return settings.load(&text),
        SettingsAction::Closed => {
            settings.finish_rules();
            // What was wrong was never in force: the field shows again what is.
            settings.typed_rules = None;
            settings.dialog = Dialog::Closed;
        }
    }
    let after = settings.stored();
    if before != after {
        settings.version = settings.version.wrapping_add(1);
        effects.push(Effect::Store(after));
    }
}

/// Opens the dialog, or closes it.
pub(super) fn toggle(state: &mut Shared, effects: &mut Vec<Effect>) {
    match state.settings.dialog {
        Dialog::Closed => state.settings.dialog = Dialog::Open,
        Dialog::Open => act(state, SettingsAction::Closed, effects),
    }
}

/// Tells the worker which frames are internal, where it does not know yet.
fn ask(state: &mut Shared, _: i64, effects: &mut Vec<Effect>) {
    let settings = &mut state.settings;
    let now = (state.load, settings.rules_version);
    // A worker that was never told goes by the defaults.
    if settings.told == Some(now) || (settings.told.is_none() && settings.rules.is_none()) {
        return;
    }
    // Without a word it went by the defaults, and what it said so far rests on them.
    let again = settings.told.replace(now).is_none_or(|(load, _)| load == state.load);
    let defaults = || DEFAULT_RULES.iter().map(|&rule| rule.to_owned()).collect();
    let rules = settings.rules.clone().unwrap_or_else(defaults);
    effects.push(Effect::Ask(Request::InternalFrames(rules)));
    if again {
        state.node = None;
        state.changes.push(Change::InternalFrames);
    }
}
/// How it takes part: settings are for all files.
pub(super) const PART: Part = Part { reset: keeps_all, asks: &[(Turn::Last, ask)], take: takes_nothing };
