//! State and actions of the rules that classify allocations into categories.

use crate::state::settings::Dialog;
use crate::state::stored_rules::{FIRST_LINE, stored_text};
use protocol::category::{CategoryRule, ParsedDocument};
use protocol::{CategorySet, SetError};

/// State of the rules: the rule set in use, the user's own rule set, and the dialog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub dialog: Dialog,
    pub pane: Pane,
    pub choice: SetChoice,
    /// Version of the dialog's contents. Incremented by every action, so that the dialog is redrawn.
    pub revision: u32,
    /// The user's own rule set as typed, even if invalid. Empty if the user has none.
    pub(crate) text: String,
    /// The user's own rule set as shown in the form. `None` while the text cannot be parsed.
    pub(crate) draft: Option<CategorySet>,
    /// The last valid version of the user's own rule set, as JSON.
    pub(crate) valid_text: String,
    /// Text that is being parsed by the YAML parser.
    pub(crate) pending_yaml: Option<PendingYaml>,
    /// Previous text of the user's own rule set, which Undo restores.
    pub(crate) undo: Option<String>,
    pub(crate) errors: Vec<SetError>,
    /// Error message of the last action that failed. It is shown in the dialog, because the status line behind an open
    /// dialog is inert.
    pub(crate) failure: String,
    /// Version of the rule set in use. Incremented whenever the set changes.
    pub(crate) version: u32,
    /// Id of the load whose worker last received a rule set, and `version` of that set.
    pub(crate) sent: Option<(u32, u32)>,
}

impl Rules {
    /// Returns the rule set in use.
    pub(crate) fn set(&self) -> CategorySet {
        match self.choice {
            SetChoice::Standard => CategorySet::standard(),
            SetChoice::Mosaic => CategorySet::mosaic(),
            // Only valid text is stored in `valid_text`.
            SetChoice::Own => CategorySet::parse(&self.valid_text).unwrap_or_default(),
        }
    }

    /// Replaces the text of the user's own rule set.
    pub(crate) fn set_text(&mut self, text: String) {
        if is_yaml(&text) {
            self.text.clone_from(&text);
            (self.draft, self.errors) = Default::default();
            self.pending_yaml = Some(PendingYaml { text, replaces: false, is_asked: false });
            return;
        }
        let set = CategorySet::parse(&text);
        self.set_parsed(text, set);
    }

    fn set_parsed(&mut self, text: String, set: Result<CategorySet, Vec<SetError>>) {
        self.pending_yaml = None;
        match set {
            Ok(set) => {
                self.errors.clear();
                let valid = if is_yaml(&text) { set.to_json() } else { text.clone() };
                self.draft = Some(set);
                if self.valid_text != valid {
                    self.valid_text = valid;
                    self.version = self.version.wrapping_add(1);
                }
            }
            Err(errors) => (self.draft, self.errors) = (None, errors),
        }
        self.text = text;
    }

    /// Handles the result of parsing a YAML text. Does nothing if the text has changed since parsing began.
    pub(crate) fn on_yaml_parsed(&mut self, text: &str, read: Result<ParsedDocument, String>) {
        let Some(pending) = self.pending_yaml.take_if(|pending| pending.text == text) else { return };
        match read {
            Ok(read) => {
                if pending.replaces {
                    self.keep_for_undo(text);
                }
                self.set_parsed(pending.text, CategorySet::from_document(read));
                if pending.replaces {
                    self.choose(SetChoice::Own);
                }
            }
            Err(cause) => self.failure = ["YAML could not be read: ", &cause, ". Rules as JSON can."].concat(),
        }
    }

    /// Applies an edit that was made in the form.
    pub(crate) fn edit(&mut self, edit: RuleEdit) {
        let Some(mut set) = self.draft.clone().filter(|_| self.choice == SetChoice::Own) else { return };
        let rules = &mut set.rules;
        self.undo = None;
        match edit {
            RuleEdit::Set(index, field, value) => {
                let Some(rule) = rules.get_mut(index) else { return };
                let pattern = Some(value.clone()).filter(|value| !value.is_empty());
                match field {
                    RuleField::Category => rule.category = value,
                    RuleField::Function => rule.name = pattern,
                    RuleField::File => rule.file = pattern,
                    RuleField::Either => rule.frame = pattern,
                    RuleField::Note => rule.note = value,
                }
            }
            // The first matching rule wins, so a new rule goes to the top.
            RuleEdit::Added => {
                let (category, name) = ("new category".to_owned(), Some("^my_function$".to_owned()));
                rules.insert(0, CategoryRule { category, name, ..CategoryRule::default() });
            }
            RuleEdit::Removed(index) if index < rules.len() => {
                rules.remove(index);
                self.undo = Some(self.text.clone());
            }
            RuleEdit::Moved(from, to) if from.max(to) < rules.len() => rules.swap(from, to),
            RuleEdit::Removed(_) | RuleEdit::Moved(..) => return,
        }
        self.set_text(set.to_json());
        self.draft = Some(set);
    }

    pub(crate) fn choose(&mut self, choice: SetChoice) {
        if choice == SetChoice::Own && self.text.is_empty() {
            // Start from a copy of the set in use.
            self.set_text(self.set().to_json());
        }
        if self.choice != choice {
            self.version = self.version.wrapping_add(1);
        }
        self.choice = choice;
    }

    /// Replaces the text of the user's own rule set, and puts that set into use. The old text can be restored with
    /// Undo.
    pub(crate) fn replace(&mut self, text: String) {
        if is_yaml(&text) {
            self.pending_yaml = Some(PendingYaml { text, replaces: true, is_asked: false });
            return;
        }
        self.keep_for_undo(&text);
        self.set_text(text);
        self.choose(SetChoice::Own);
    }

    /// Saves the current text for Undo before `text` replaces it.
    fn keep_for_undo(&mut self, text: &str) {
        if !self.text.is_empty() && self.text != text {
            self.undo = Some(std::mem::take(&mut self.text));
        }
    }

    /// Formats the rules for storage.
    pub(crate) fn to_stored(&self) -> String {
        let valid = if self.valid_text == self.text { "" } else { &self.valid_text };
        stored_text(self.choice.name(), &self.text, valid)
    }

    /// Loads the stored rules. If the user's own rule set is invalid, its text is loaded, but the set is not used.
    /// Returns `None` if the format is wrong.
    pub(crate) fn load(&mut self, stored: &str) -> Option<()> {
        let (head, rest) = stored.strip_prefix(FIRST_LINE)?.split_once('\n')?;
        let (choice, length) = head.split_once(' ')?;
        let (choice, length) = (SetChoice::from_name(choice)?, length.parse().ok()?);
        let (text, valid) = (rest.get(..length)?, rest.get(length..)?);
        if !valid.is_empty() {
            self.set_text(valid.to_owned());
        }
        if choice == SetChoice::Own && self.valid_text.is_empty() && is_yaml(text) {
            self.replace(text.to_owned());
            return Some(());
        }
        self.set_text(text.to_owned());
        if self.text.is_empty() {
            self.errors.clear();
        }
        if choice != SetChoice::Own || !self.valid_text.is_empty() {
            self.choose(choice);
        }
        Some(())
    }

    /// Returns the version of the rule set that the worker uses.
    pub(crate) fn active_version(&self) -> u32 {
        self.sent.map_or(0, |(_, version)| version)
    }
}

/// Returns whether a text requires the YAML parser, which is loaded on first use.
fn is_yaml(text: &str) -> bool {
    !text.trim().is_empty() && !CategorySet::is_json(text) && CategorySet::check_length(text).is_ok()
}

/// A text to parse with the YAML parser.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PendingYaml {
    pub(crate) text: String,
    /// True if the text replaces the current text after parsing, as in an import. False for typed text, which is
    /// already the current text.
    replaces: bool,
    pub(crate) is_asked: bool,
}

base::listed! {
    /// A rule set that can be chosen.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SetChoice {
        #[default]
        Standard = "default",
        Mosaic = "mosaic",
        Own = "own",
    }
}

/// View of a rule set in the dialog: a form or text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The rule set as a table with editable fields.
    #[default]
    Form,
    /// The rule set as JSON text.
    Json,
}

/// A field of a rule in the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleField {
    Category,
    /// Pattern that a frame's function must match.
    Function,
    /// Pattern that the file of the same frame must match.
    File,
    /// Pattern that the function or the file of a frame must match.
    Either,
    Note,
}

impl RuleField {
    /// All fields in the order of the form, each with its name in the page.
    pub const ALL: [(RuleField, &str); 5] = [
        (RuleField::Category, "category"),
        (RuleField::Function, "function"),
        (RuleField::File, "file"),
        (RuleField::Either, "either"),
        (RuleField::Note, "note"),
    ];

    /// Returns the field with this name.
    pub fn from_name(name: &str) -> Option<RuleField> {
        RuleField::ALL.into_iter().find(|(_, it)| *it == name).map(|(field, _)| field)
    }
}

/// Edit of the user's own rule set in the form. Rules are identified by their index.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleEdit {
    Set(usize, RuleField, String),
    /// A new rule was inserted before all other rules.
    Added,
    Removed(usize),
    /// A rule was moved up or down. Holds the indices of the two rules to swap.
    Moved(usize, usize),
}

/// File format for saving a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetFormat {
    /// memscape's JSON format.
    Json,
    Mosaic,
}

/// User input in the rules dialog, or the result of reading a file, a YAML text or the storage.
#[derive(Clone, Debug, PartialEq)]
pub enum RulesAction {
    Chosen(SetChoice),
    /// The text of the user's own rule set was edited.
    Typed(String),
    Edited(RuleEdit),
    PaneChosen(Pane),
    /// The user's own rule set was replaced by a copy of this set.
    Copied(SetChoice),
    /// A file was imported. Holds its contents or an error message.
    Imported(Result<String, String>),
    /// A YAML text was parsed. Holds the text, and the document or an error message.
    YamlRead(String, Result<ParsedDocument, String>),
    Undo,
    /// Saving the shown rule set to a file was requested.
    Saved(SetFormat),
    /// Rules were read from the browser's storage, or from the saved page.
    Loaded(String),
    Closed,
}
