//! The rules that classify categories: which set is in force, and what is typed.

use crate::settings::Dialog;
use engine::protocol::category::{CategoryRule, ReadDocument};
use engine::protocol::{CategorySet, SetError};

/// What the stored text begins with.
pub(crate) const FIRST_LINE: &str = "memscape rules 1 ";

/// Which set is in force, and one's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub dialog: Dialog,
    pub pane: Pane,
    pub choice: Choice,
    /// Grows with every action: what is shown of them may be other.
    pub changes: u32,
    /// One's own set as it is typed, right or wrong; empty until there is one.
    pub(crate) text: String,
    /// The same as the form shows it, right or wrong; `None` while the text can't be read.
    pub(crate) draft: Option<CategorySet>,
    /// The same as it was right last, as JSON.
    pub(crate) valid: String,
    /// A text that the reader of YAML has.
    pub(crate) reading: Option<Reading>,
    /// What stood there before something else took its place at once.
    pub(crate) before: Option<String>,
    pub(crate) errors: Vec<SetError>,
    /// Why the last thing that was wanted is not done: said in the dialog, as what lies under it rests.
    pub(crate) refused: String,
    /// Grows whenever another set is in force.
    pub(crate) version: u32,
    /// The load that was told of a set, and of which.
    pub(crate) sent: Option<(u32, u32)>,
}

impl Rules {
    /// The set that is in force.
    pub(crate) fn set(&self) -> CategorySet {
        match self.choice {
            Choice::Standard => CategorySet::standard(),
            Choice::Mosaic => CategorySet::mosaic(),
            // It was right when it was kept.
            Choice::Own => CategorySet::parse(&self.valid).unwrap_or_default(),
        }
    }

    /// One's own set as it stands in the field from now on.
    pub(crate) fn write(&mut self, text: String) {
        if is_yaml(&text) {
            self.text.clone_from(&text);
            (self.draft, self.errors) = Default::default();
            self.reading = Some(Reading { text, replaces: false, is_asked: false });
            return;
        }
        let set = CategorySet::parse(&text);
        self.put(text, set);
    }

    fn put(&mut self, text: String, set: Result<CategorySet, Vec<SetError>>) {
        self.reading = None;
        match set {
            Ok(set) => {
                self.errors.clear();
                let valid = if is_yaml(&text) { set.to_json() } else { text.clone() };
                self.draft = Some(set);
                if self.valid != valid {
                    self.valid = valid;
                    self.version = self.version.wrapping_add(1);
                }
            }
            Err(errors) => (self.draft, self.errors) = (None, errors),
        }
        self.text = text;
    }

    /// Takes the values of a text in YAML, or why it could not be read. Ignored if the text has changed meanwhile.
    pub(crate) fn read(&mut self, text: &str, read: Result<ReadDocument, String>) {
        let Some(reading) = self.reading.take_if(|reading| reading.text == text) else { return };
        match read {
            Ok(read) => {
                if reading.replaces {
                    self.make_room(text);
                }
                self.put(reading.text, CategorySet::of(read));
                if reading.replaces {
                    self.choose(Choice::Own);
                }
            }
            Err(cause) => self.refused = ["YAML could not be read: ", &cause, ". Rules as JSON can."].concat(),
        }
    }

    /// Changes a rule by the form.
    pub(crate) fn edit(&mut self, edit: RuleEdit) {
        let Some(mut set) = self.draft.clone().filter(|_| self.choice == Choice::Own) else { return };
        let rules = &mut set.rules;
        self.before = None;
        match edit {
            RuleEdit::Set(place, field, value) => {
                let Some(rule) = rules.get_mut(place) else { return };
                let pattern = Some(value.clone()).filter(|value| !value.is_empty());
                match field {
                    RuleField::Category => rule.category = value,
                    RuleField::Function => rule.name = pattern,
                    RuleField::File => rule.file = pattern,
                    RuleField::Either => rule.frame = pattern,
                    RuleField::Note => rule.note = value,
                }
            }
            // The first that matches wins: a rule of one's own shall.
            RuleEdit::Added => {
                let (category, name) = ("new category".to_owned(), Some("^my_function$".to_owned()));
                rules.insert(0, CategoryRule { category, name, ..CategoryRule::default() });
            }
            RuleEdit::Removed(place) if place < rules.len() => {
                rules.remove(place);
                self.before = Some(self.text.clone());
            }
            RuleEdit::Moved(from, to) if from.max(to) < rules.len() => rules.swap(from, to),
            RuleEdit::Removed(_) | RuleEdit::Moved(..) => return,
        }
        self.write(set.to_json());
        self.draft = Some(set);
    }

    pub(crate) fn choose(&mut self, choice: Choice) {
        if choice == Choice::Own && self.text.is_empty() {
            // A start that works.
            self.write(self.set().to_json());
        }
        if self.choice != choice {
            self.version = self.version.wrapping_add(1);
        }
        self.choice = choice;
    }

    /// Something else takes the place of what stands there.
    pub(crate) fn replace(&mut self, text: String) {
        if is_yaml(&text) {
            self.reading = Some(Reading { text, replaces: true, is_asked: false });
            return;
        }
        self.make_room(&text);
        self.write(text);
        self.choose(Choice::Own);
    }

    /// Keeps the current text for Undo before this one replaces it.
    fn make_room(&mut self, text: &str) {
        if !self.text.is_empty() && self.text != text {
            self.before = Some(std::mem::take(&mut self.text));
        }
    }

    /// As it is stored.
    pub(crate) fn stored(&self) -> String {
        let valid = if self.valid == self.text { "" } else { &self.valid };
        [FIRST_LINE, self.choice.name(), " ", &self.text.len().to_string(), "\n", &self.text, valid].concat()
    }

    /// Takes what was stored; what is not ours is left out, and what is wrong is not in force.
    pub(crate) fn load(&mut self, stored: &str) -> Option<()> {
        let (head, rest) = stored.strip_prefix(FIRST_LINE)?.split_once('\n')?;
        let (choice, length) = head.split_once(' ')?;
        let (choice, length) = (Choice::named(choice)?, length.parse().ok()?);
        let (text, valid) = (rest.get(..length)?, rest.get(length..)?);
        if !valid.is_empty() {
            self.write(valid.to_owned());
        }
        if choice == Choice::Own && self.valid.is_empty() && is_yaml(text) {
            self.replace(text.to_owned());
            return Some(());
        }
        self.write(text.to_owned());
        if self.text.is_empty() {
            self.errors.clear();
        }
        if choice != Choice::Own || !self.valid.is_empty() {
            self.choose(choice);
        }
        Some(())
    }

    /// The set that the worker goes by: all that it says of categories from now on is of this one.
    pub(crate) fn version_in_force(&self) -> u32 {
        self.sent.map_or(0, |(_, version)| version)
    }
}

/// Whether a text is for the reader of YAML: it is fetched when it is first needed.
fn is_yaml(text: &str) -> bool {
    !text.trim().is_empty() && !CategorySet::is_json(text) && CategorySet::checked(text).is_ok()
}

/// A text that the reader of YAML has, or will have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    pub(crate) text: String,
    /// Whether it replaces the current text once it is read (an import); typed text is already there.
    replaces: bool,
    pub(crate) is_asked: bool,
}

/// A set there is to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Ours.
    #[default]
    Standard,
    Mosaic,
    Own,
}

impl Choice {
    /// All of them, in the order of the dialog.
    pub const ALL: [Choice; 3] = [Choice::Standard, Choice::Mosaic, Choice::Own];

    /// Its name, in the page and in the storage.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Standard => "default",
            Choice::Mosaic => "mosaic",
            Choice::Own => "own",
        }
    }

    /// The choice of that name.
    pub fn named(name: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

/// How the dialog shows a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// A table of rules.
    #[default]
    Form,
    /// The text.
    Json,
}

/// A field of a rule in the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleField {
    Category,
    /// What the function of a frame has to match.
    Function,
    /// What the file of the same frame has to match.
    File,
    /// What the function or the file has to match.
    Either,
    Note,
}

impl RuleField {
    /// All of them, in the order of the form, each with its name in the page.
    pub const ALL: [(RuleField, &str); 5] = [
        (RuleField::Category, "category"),
        (RuleField::Function, "function"),
        (RuleField::File, "file"),
        (RuleField::Either, "either"),
        (RuleField::Note, "note"),
    ];

    /// The field of that name.
    pub fn named(name: &str) -> Option<RuleField> {
        RuleField::ALL.into_iter().find(|(_, it)| *it == name).map(|(field, _)| field)
    }
}

/// A change of one's own set by the form; rules by their places.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleEdit {
    Set(usize, RuleField, String),
    /// A new one before all others.
    Added,
    Removed(usize),
    /// From here to its neighbour there.
    Moved(usize, usize),
}

/// How a set is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Our JSON.
    Ours,
    Mosaic,
}

/// What happened to the rules.
#[derive(Clone, Debug, PartialEq)]
pub enum RulesAction {
    Chosen(Choice),
    /// This stands in the field of one's own.
    Typed(String),
    Edited(RuleEdit),
    PaneChosen(Pane),
    /// One's own begins anew as a copy of this one.
    Copied(Choice),
    /// A file was read, or why not.
    Imported(Result<String, String>),
    /// The reader of YAML read a text, or why it can't be asked.
    YamlRead(String, Result<ReadDocument, String>),
    /// What stood there before is wanted back.
    Undone,
    /// The set that is shown shall be a file.
    Saved(Form),
    /// The browser had this in its storage.
    Loaded(String),
    Closed,
}
