//! State and actions of the settings that apply to all files.

use crate::text::source_links;
use crate::text::source_links::SourceLinkError;
use protocol::{DEFAULT_RULES, InternalRules};

/// First line of the stored text. It identifies the format.
const FIRST_LINE: &str = "memscape settings 1";

/// Maximum length of the stored text, in bytes. Longer text is ignored, since this program cannot have written it.
const MAX_STORED: usize = 1 << 20;

/// Maximum length of a folder's path, in bytes.
const MAX_FOLDER: usize = 4096;

/// A setting: its name in the stored text, its control, and its value as text.
pub struct Setting {
    /// Name in the stored text. It must never change.
    pub name: &'static str,
    /// Id of its control in the settings dialog.
    pub control: &'static str,
    /// Returns the value as text.
    pub get: fn(&Settings) -> String,
    /// Sets the value from text that was typed or stored.
    pub(crate) set: fn(&mut Settings, &str),
    /// Returns false for stored text that is ignored.
    is_valid: fn(&str) -> bool,
    /// Value of an unchecked checkbox. The value of a checked one is empty. `None` if the control is not a checkbox.
    pub unchecked: Option<&'static str>,
}

/// All settings, in the order of the stored text.
pub static SETTINGS: &[Setting] = &[
    setting("theme", "theme-system", |it| it.theme.name().to_owned(), set_theme),
    setting("template", "setting-template", |it| it.template.clone(), |it, text| it.template = clean_folder(text))
        .valid_if(|text| source_links::check_template(text).is_ok()),
    setting(
        "folder",
        "setting-folder",
        |it| it.hidden_prefix.clone(),
        |it, text| it.hidden_prefix = clean_folder(text),
    ),
    setting("local", "setting-local", |it| it.local_folder.clone(), |it, text| it.local_folder = clean_folder(text)),
    // One line per rule. Typed rules apply once they are finished.
    setting("rule", "setting-rules", stored_rules, |it, text| it.typed_rules = Some(text.to_owned()))
        .valid_if(|text| InternalRules::parse(&trimmed_lines(text)).is_ok()),
    setting("keep", "setting-keep", |it| mark(it.no_cache, "nothing"), |it, text| it.no_cache = text == "nothing")
        .with_checkbox("nothing"),
    // Stored if the user has deleted all rules.
    setting(
        "rules",
        "setting-rules",
        |it| mark(it.rules == Some(Vec::new()), "none"),
        |it, _| it.set_rules(Some(vec![])),
    )
    .valid_if(|text| text == "none"),
];

/// Creates a setting whose stored text is always valid. The parameters are the fields of [`Setting`].
const fn setting(
    name: &'static str,
    control: &'static str,
    get: fn(&Settings) -> String,
    set: fn(&mut Settings, &str),
) -> Setting {
    Setting { name, control, get, set, is_valid: |_| true, unchecked: None }
}

impl Setting {
    const fn valid_if(self, is_valid: fn(&str) -> bool) -> Setting {
        Setting { is_valid, ..self }
    }

    const fn with_checkbox(self, unchecked: &'static str) -> Setting {
        Setting { unchecked: Some(unchecked), ..self }
    }
}

fn set_theme(settings: &mut Settings, name: &str) {
    settings.theme = Theme::from_name(name).unwrap_or_default();
}

fn stored_rules(settings: &Settings) -> String {
    settings.rules.as_deref().unwrap_or_default().join("\n")
}

/// Returns `text` if a condition holds, otherwise an empty text.
fn mark(is_set: bool, text: &str) -> String {
    if is_set { text.to_owned() } else { String::new() }
}

/// Settings that apply to all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub dialog: Dialog,
    pub theme: Theme,
    /// Template of links to source files. See [`source_links::expand_template`]. No links are shown if it is invalid.
    pub template: String,
    /// Path prefix that is omitted from displayed locations.
    pub hidden_prefix: String,
    /// Local folder that replaces `hidden_prefix` in links. If empty, the prefix is not replaced.
    pub local_folder: String,
    /// True if data about opened files must not be stored for the next visit.
    pub no_cache: bool,
    /// The rules for internal frames as typed. `None` if they have not been edited.
    pub(crate) typed_rules: Option<String>,
    /// The rules for internal frames in use. `None` for the default rules.
    pub(crate) rules: Option<Vec<String>>,
    /// Version of the settings that affect the display. Incremented whenever one of them changes.
    pub version: u32,
    /// Version of the rules in use. Incremented whenever they change.
    pub(crate) rules_version: u32,
    /// Id of the load whose worker last received rules, and `rules_version` of these rules.
    pub(crate) last_sent: Option<(u32, u32)>,
}

impl Settings {
    /// Returns the rules for internal frames as shown in the dialog, one per line.
    pub fn rules_text(&self) -> String {
        match &self.typed_rules {
            Some(text) => text.clone(),
            None => self.rules.as_ref().map_or_else(|| DEFAULT_RULES.join("\n"), |rules| rules.join("\n")),
        }
    }

    /// Returns an error message about the typed rules. Empty if they are valid.
    pub fn wrong_rules(&self) -> String {
        let lines = self.typed_rules.as_deref().map(trimmed_lines);
        let error = lines.and_then(|lines| InternalRules::parse(&lines).err());
        error.map_or_else(String::new, |error| error.to_string())
    }

    /// Returns an error message about the template. Empty if it is valid.
    pub fn wrong_template(&self) -> String {
        source_links::check_template(&self.template).err().map_or_else(String::new, |error| error.to_string())
    }

    /// Returns an example of a link, shown in the dialog. Empty if the template yields no link.
    pub fn sample_link(&self) -> String {
        let file = [self.hidden_prefix.trim_end_matches(['/', '\\']), "/train.py"].concat();
        let file = if self.hidden_prefix.is_empty() { "/home/me/train.py" } else { &file };
        self.link(file, "42").unwrap_or_default()
    }

    /// Returns the location of a frame as shown in rows, such as `train.py:42`. Empty if the frame has no location.
    pub fn location(&self, file: &str, line: &str) -> String {
        source_links::location(file, line, &self.hidden_prefix)
    }

    /// Returns the link that opens the source code of a frame.
    ///
    /// # Errors
    /// Returns an error if the template or the frame's location does not allow a link.
    pub fn link(&self, file: &str, line: &str) -> Result<String, SourceLinkError> {
        let local = self.local_folder.trim_end_matches(['/', '\\']);
        let relative = source_links::strip_folder(file, &self.hidden_prefix).filter(|_| !local.is_empty());
        match relative {
            Some(rest) => source_links::expand_template(&self.template, &[local, "/", rest].concat(), line),
            None => source_links::expand_template(&self.template, file, line),
        }
    }

    /// Formats the settings for storage: a line for each setting that has not its default, and for each rule.
    pub(crate) fn to_stored(&self) -> String {
        let (mut text, defaults) = (FIRST_LINE.to_owned(), Settings::default());
        for setting in SETTINGS {
            let value = (setting.get)(self);
            if value != (setting.get)(&defaults) {
                value.lines().for_each(|line| text.extend(["\n", setting.name, "=", line]));
            }
        }
        text
    }

    /// Loads the stored settings. Unknown and invalid entries are skipped.
    pub(crate) fn load(&mut self, text: &str) {
        let mut lines = text.lines();
        if text.len() > MAX_STORED || lines.next() != Some(FIRST_LINE) {
            return;
        }
        let entries: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('=')).collect();
        for setting in SETTINGS {
            let values = entries.iter().filter(|(name, _)| *name == setting.name).map(|(_, value)| *value);
            let text = values.collect::<Vec<_>>().join("\n");
            if !text.is_empty() && (setting.is_valid)(&text) {
                (setting.set)(self, &text);
            }
        }
        self.finish_rules();
        self.version = self.version.wrapping_add(1);
    }

    /// Replaces the rules for internal frames. `None` restores the defaults.
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
        System = "system",
        Light = "light",
        Dark = "dark",
    }
}

impl Theme {
    /// Returns the id of the theme's button in the settings dialog.
    pub const fn control(self) -> &'static str {
        match self {
            Theme::System => "theme-system",
            Theme::Light => "theme-light",
            Theme::Dark => "theme-dark",
        }
    }
}

/// State of the settings dialog or the rules dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    #[default]
    Closed,
    Open,
}

/// User input in the settings dialog, or the result of reading the stored settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsAction {
    /// A setting was changed. Holds its name and its value as text.
    Changed(&'static str, String),
    /// Editing of the rules for internal frames was finished. The field lost focus.
    RulesFinished,
    /// Resetting the rules for internal frames to the defaults was requested.
    DefaultRules,
    /// The stored settings were read from the browser's storage.
    Loaded(String),
    /// The browser has closed the settings dialog.
    Closed,
}

fn trimmed_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// Trims a path, removes its control characters, and truncates it to the maximum length.
fn clean_folder(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_FOLDER / 4).collect()
}
