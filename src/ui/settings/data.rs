//! State and actions of the settings that apply to all files.

use crate::source_links::{self, SourceLinkError};
use engine::protocol::{DEFAULT_RULES, InternalRules};

/// First line of the stored text, which identifies its format.
pub(crate) const FIRST_LINE: &str = "memscape settings 1";

/// Line that is stored for an empty list of rules.
pub(crate) const NO_RULES: &str = "\nrules=none";

/// Maximum length of the stored text, in bytes. Longer text was not written by this program.
pub(crate) const MAX_STORED: usize = 1 << 20;

/// Maximum length of a folder, in bytes.
pub(crate) const MAX_FOLDER: usize = 4096;

/// Settings that apply to all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub dialog: Dialog,
    pub theme: Theme,
    /// Template of links to source files. See [`source_links::expand_template`]. An invalid template is kept but
    /// produces no links.
    pub template: String,
    /// Path prefix that is omitted when a location is displayed.
    pub hidden_prefix: String,
    /// Local folder that replaces `hidden_prefix` in links. Nothing is replaced if it is empty.
    pub local_folder: String,
    /// True if no data about opened files is stored for the next visit.
    pub no_cache: bool,
    /// The rules for internal frames as typed. `None` if they have not been edited.
    pub(crate) typed_rules: Option<String>,
    /// The rules in use. `None` for the defaults.
    pub(crate) rules: Option<Vec<String>>,
    /// Incremented whenever a setting changes that affects what is shown.
    pub version: u32,
    /// Incremented whenever the rules in use change.
    pub(crate) rules_version: u32,
    /// Number of the load whose worker last received rules, and the `rules_version` of those rules.
    pub(crate) sent: Option<(u32, u32)>,
}

impl Settings {
    /// Returns the rules as shown in the dialog, one per line.
    pub fn rules_text(&self) -> String {
        match &self.typed_rules {
            Some(text) => text.clone(),
            None => self.rules.as_ref().map_or_else(|| DEFAULT_RULES.join("\n"), |rules| rules.join("\n")),
        }
    }

    /// Returns the error in the typed rules. Empty if they are valid.
    pub fn wrong_rules(&self) -> String {
        let lines = self.typed_rules.as_deref().map(trimmed_lines);
        let error = lines.and_then(|lines| InternalRules::parse(&lines).err());
        error.map_or_else(String::new, |error| error.to_string())
    }

    /// Returns the error in the template. Empty if it is valid.
    pub fn wrong_template(&self) -> String {
        source_links::check_template(&self.template).err().map_or_else(String::new, |error| error.to_string())
    }

    /// Returns a sample link for the dialog. Empty if the template produces none.
    pub fn sample_link(&self) -> String {
        let file = [self.hidden_prefix.trim_end_matches(['/', '\\']), "/train.py"].concat();
        let file = if self.hidden_prefix.is_empty() { "/home/me/train.py" } else { &file };
        self.link(file, "42").unwrap_or_default()
    }

    /// Returns the location of a frame as shown in rows, such as `train.py:42`. Empty if the frame has no location.
    pub fn location(&self, file: &str, line: &str) -> String {
        source_links::location(file, line, &self.hidden_prefix)
    }

    /// Returns the link that opens the source of a frame.
    ///
    /// # Errors
    /// Returns an error if no link can be made.
    pub fn link(&self, file: &str, line: &str) -> Result<String, SourceLinkError> {
        let local = self.local_folder.trim_end_matches(['/', '\\']);
        let relative = source_links::strip_folder(file, &self.hidden_prefix).filter(|_| !local.is_empty());
        match relative {
            Some(rest) => source_links::expand_template(&self.template, &[local, "/", rest].concat(), line),
            None => source_links::expand_template(&self.template, file, line),
        }
    }

    /// Returns the text to store.
    pub(crate) fn to_stored(&self) -> String {
        let mut text = FIRST_LINE.to_owned();
        // The system theme is the default and is not stored.
        let theme = if self.theme == Theme::System { "" } else { self.theme.name() }.to_owned();
        let fields = [
            ("theme", &theme),
            ("template", &self.template),
            ("folder", &self.hidden_prefix),
            ("local", &self.local_folder),
        ];
        let rules = self.rules.iter().flatten().map(|rule| ("rule", rule));
        for (name, value) in fields.into_iter().chain(rules) {
            if !value.is_empty() {
                for part in ["\n", name, "=", value] {
                    text.push_str(part);
                }
            }
        }
        if self.no_cache {
            text.push_str("\nkeep=nothing");
        }
        if self.rules.as_ref().is_some_and(Vec::is_empty) {
            text.push_str(NO_RULES);
        }
        text
    }

    /// Loads the stored text. Unknown and invalid entries are skipped.
    pub(crate) fn load(&mut self, text: &str) {
        let mut lines = text.lines();
        if text.len() > MAX_STORED || lines.next() != Some(FIRST_LINE) {
            return;
        }
        let (mut rules, none) = (Vec::new(), text.ends_with(NO_RULES));
        for (name, value) in lines.filter_map(|line| line.split_once('=')) {
            match name {
                "theme" => self.theme = Theme::from_name(value).unwrap_or_default(),
                "template" if source_links::check_template(value).is_ok() => value.clone_into(&mut self.template),
                "folder" if value.len() <= MAX_FOLDER => value.clone_into(&mut self.hidden_prefix),
                "local" if value.len() <= MAX_FOLDER => value.clone_into(&mut self.local_folder),
                "keep" => self.no_cache = value == "nothing",
                "rule" => rules.push(value.to_owned()),
                _ => {}
            }
        }
        self.version = self.version.wrapping_add(1);
        if (none || !rules.is_empty()) && InternalRules::parse(&rules).is_ok() {
            self.set_rules(Some(rules));
        }
    }

    /// Puts rules into use. `None` means the defaults.
    pub(crate) fn set_rules(&mut self, rules: Option<Vec<String>>) {
        let rules = rules.filter(|rules| rules != DEFAULT_RULES);
        if rules != self.rules {
            self.rules = rules;
            self.rules_version = self.rules_version.wrapping_add(1);
        }
    }

    pub(crate) fn finish_rules(&mut self) {
        let Some(text) = &self.typed_rules else { return };
        let mut lines = trimmed_lines(text);
        if InternalRules::parse(&lines).is_ok() {
            self.typed_rules = None;
            lines.retain(|line| !line.is_empty());
            self.set_rules(Some(lines));
        }
    }
}

base::listed! {
    /// Colour theme of the page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub enum Theme {
        /// Follows the operating system.
        #[default]
        System,
        Light,
        Dark,
    }
}

impl Theme {
    /// Returns the name used in the page and in the storage.
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// Returns the theme with this name.
    pub fn from_name(name: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// Returns the id of the theme's button in the dialog.
    pub const fn control(self) -> &'static str {
        match self {
            Theme::System => "theme-system",
            Theme::Light => "theme-light",
            Theme::Dark => "theme-dark",
        }
    }
}

/// State of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    #[default]
    Closed,
    Open,
}

/// A field of the settings dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Rules for internal frames, one per line.
    Rules,
    Template,
    Folder,
    /// Local folder that replaces the hidden prefix in links.
    Local,
}

/// User input in the settings dialog, and loading of the stored settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsAction {
    Typed(Field, String),
    ThemeChosen(Theme),
    /// Allows or forbids storing details of opened files for the next visit.
    CachingChosen(bool),
    /// Editing of the rules has finished because the field lost focus.
    RulesFinished,
    /// Resets the rules to the defaults.
    DefaultRules,
    /// Text loaded from the browser's storage.
    Loaded(String),
    /// The browser has closed the dialog.
    Closed,
}

/// Returns the lines of a text, trimmed.
pub(crate) fn trimmed_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns the text as a single line without control characters, cut to the maximum length of a path.
pub(crate) fn clean_folder(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_FOLDER / 4).collect()
}
