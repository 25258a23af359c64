//! What a person sets for all files.

use crate::links::{self, LinkError};
use engine::protocol::{DEFAULT_RULES, InternalRules};

/// What the stored text begins with.
pub(crate) const FIRST_LINE: &str = "memscape settings 1";

/// What stands for rules where there is none.
pub(crate) const NO_RULES: &str = "\nrules=none";

/// A stored text that is longer is not ours.
pub(crate) const LONGEST_STORED: usize = 1 << 20;

/// No folder that is typed is longer.
pub(crate) const LONGEST_FOLDER: usize = 4096;

/// What a person sets for all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub dialog: Dialog,
    pub theme: Theme,
    /// The template of links; see [`links::expand`]. One that is wrong is kept here until it is mended, and makes no links.
    pub template: String,
    /// The folder that is left out of places.
    pub folder: String,
    /// What stands for that folder on this machine, in links; empty: itself.
    pub local: String,
    /// Whether nothing is kept of files for the next time they are opened.
    pub keeps_nothing: bool,
    /// The rules as they are typed; `None`: the defaults.
    pub(crate) typed_rules: Option<String>,
    /// Those that are in force; `None`: the defaults.
    pub(crate) rules: Option<Vec<String>>,
    /// Grows whenever anything that is shown depends on has changed.
    pub version: u32,
    /// Grows whenever other rules are in force.
    pub(crate) rules_version: u32,
    /// The load that was told of rules, and of which.
    pub(crate) sent: Option<(u32, u32)>,
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
    pub(crate) fn stored(&self) -> String {
        let mut text = FIRST_LINE.to_owned();
        // The system's is none.
        let theme = if self.theme == Theme::System { "" } else { self.theme.name() }.to_owned();
        let fields =
            [("theme", &theme), ("template", &self.template), ("folder", &self.folder), ("local", &self.local)];
        let rules = self.rules.iter().flatten().map(|rule| ("rule", rule));
        for (name, value) in fields.into_iter().chain(rules) {
            if !value.is_empty() {
                for part in ["\n", name, "=", value] {
                    text.push_str(part);
                }
            }
        }
        if self.keeps_nothing {
            text.push_str("\nkeep=nothing");
        }
        if self.rules.as_ref().is_some_and(Vec::is_empty) {
            text.push_str(NO_RULES);
        }
        text
    }

    /// Takes what was stored; what is not ours or wrong is left out.
    pub(crate) fn load(&mut self, text: &str) {
        let mut lines = text.lines();
        if text.len() > LONGEST_STORED || lines.next() != Some(FIRST_LINE) {
            return;
        }
        let (mut rules, none) = (Vec::new(), text.ends_with(NO_RULES));
        for (name, value) in lines.filter_map(|line| line.split_once('=')) {
            match name {
                "theme" => self.theme = Theme::named(value).unwrap_or_default(),
                "template" if links::check(value).is_ok() => value.clone_into(&mut self.template),
                "folder" if value.len() <= LONGEST_FOLDER => value.clone_into(&mut self.folder),
                "local" if value.len() <= LONGEST_FOLDER => value.clone_into(&mut self.local),
                "keep" => self.keeps_nothing = value == "nothing",
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
    pub(crate) fn force(&mut self, rules: Option<Vec<String>>) {
        let rules = rules.filter(|rules| rules != DEFAULT_RULES);
        if rules != self.rules {
            self.rules = rules;
            self.rules_version = self.rules_version.wrapping_add(1);
        }
    }

    pub(crate) fn finish_rules(&mut self) {
        let Some(text) = &self.typed_rules else { return };
        let mut lines = lines_of(text);
        if InternalRules::parse(&lines).is_ok() {
            self.typed_rules = None;
            lines.retain(|line| !line.is_empty());
            self.force(Some(lines));
        }
    }
}

base::listed! {
    /// Which colours the page has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub enum Theme {
        /// What the system asks for.
        #[default]
        System,
        Light,
        Dark,
    }
}

impl Theme {
    /// Its name, in the page and in the storage.
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme of that name.
    pub fn named(name: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// The id of its button in the dialog.
    pub const fn control(self) -> &'static str {
        match self {
            Theme::System => "theme-system",
            Theme::Light => "theme-light",
            Theme::Dark => "theme-dark",
        }
    }
}

/// Whether the dialog is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    /// No.
    #[default]
    Closed,
    Open,
}

/// A field of the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The rules of internal frames, one a line.
    Rules,
    Template,
    Folder,
    /// What stands for it on this machine.
    Local,
}

/// Something happened to the settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsAction {
    Typed(Field, String),
    ThemeChosen(Theme),
    /// Whether anything is kept of files for the next time they are opened.
    KeepingChosen(bool),
    /// The rules are finished: the field was left.
    RulesDone,
    /// The rules shall be the ones this program comes with.
    DefaultRules,
    /// The browser had this in its storage.
    Loaded(String),
    /// The dialog was closed by the browser.
    Closed,
}

/// The lines, without what surrounds them.
pub(crate) fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// One line of what was typed or pasted, no longer than a path.
pub(crate) fn folder(text: &str) -> String {
    text.trim().chars().filter(|sign| !sign.is_control()).take(LONGEST_FOLDER / 4).collect()
}
