//! Contents of the help dialog: keys and gestures in groups, the search syntax, and a text filter.

use crate::features::command::{CURSOR, Command, FILES, MOVE, PAGE, PLOT, SEARCH, VIEWS};
use crate::shell::commands;
use crate::shell::keys::GESTURES;
use crate::state::binding::{KeyScope, key_text};
use crate::text::tab::Tab;

/// Title of the first group, which lists the essential commands.
pub const START_TITLE: &str = "Start here";
/// Title of the group with the search syntax.
pub const SYNTAX_TITLE: &str = "What you can search for";

/// Titles of the groups that do not belong to a tab, in the order of the dialog. The groups of the tabs follow.
const GROUPS: [&str; 7] = [MOVE, CURSOR, PLOT, SEARCH, VIEWS, FILES, PAGE];

/// Essential commands, listed in the first group.
const ESSENTIAL: [Command; 10] = [
    commands::palette::TOGGLE,
    commands::FIND,
    commands::GO_TO_PEAK,
    commands::FIT_BOTH,
    commands::UNDO_VIEW,
    commands::TOGGLE_RANGE,
    commands::show(Tab::Insights),
    commands::show(Tab::CallTree),
    commands::COPY_LINK,
    commands::OPEN_FILE,
];

/// Examples of search queries, each with its meaning.
const SEARCH_SYNTAX: &[(&[&str], &str)] = &[
    (&["train.py:23"], "Part of any frame of the stack: file:line function"),
    (&["@train.py:23"], "Part of the call site only: the innermost frame of your own code"),
    (&["@category activation"], "A category of the category rules"),
    (&["/linear|conv/i"], "A regular expression over each frame; i ignores case"),
    (&["38.1 MiB"], "Every size that is displayed like this"),
    (&["=512", ">1GiB", "1MiB..64MiB"], "Exact sizes and ranges of sizes, in bytes if there is no unit"),
    (&["0x7f00a400"], "Every allocation that covered this address"),
    (&["#123"], "The allocation with this number"),
    (&["\"…\""], "Exactly this text, matching case"),
];

/// A group of rows in the help dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub title: &'static str,
    pub rows: Vec<Row>,
}

/// A row of the help dialog: keys, gestures or search examples, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub keys: Vec<String>,
    pub text: &'static str,
}

/// Returns the groups, reduced to the rows that match the filter. The search syntax comes last. A row matches if it
/// contains all words of the filter, ignoring ASCII case.
pub fn groups(filter: &str) -> Vec<Group> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_ascii_lowercase).collect();
    let row = |command: Command| Row { keys: keys_text(command), text: command.title };
    let mut groups = Vec::new();
    if words.is_empty() {
        groups.push(Group { title: START_TITLE, rows: ESSENTIAL.map(row).into() });
    }
    let tabs = KeyScope::all().filter(|(scope, _)| !matches!(scope, KeyScope::Page | KeyScope::Timeline));
    for title in GROUPS.into_iter().chain(tabs.map(|(_, title)| title)) {
        let gestures = if title == MOVE { GESTURES } else { &[] };
        let gestures = gestures.iter().map(|(gesture, text)| Row { keys: vec![(*gesture).to_owned()], text });
        let keys = commands::all().filter(|command| !command.keys.is_empty() && command.group == title).map(row);
        groups.push(Group { title, rows: gestures.chain(keys).collect() });
    }
    let searches = SEARCH_SYNTAX
        .iter()
        .map(|(examples, text)| Row { keys: examples.iter().map(|example| (*example).to_owned()).collect(), text });
    groups.push(Group { title: SYNTAX_TITLE, rows: searches.collect() });
    for group in &mut groups {
        let title = group.title;
        group.rows.retain(|row| {
            let text = [title, " ", row.text, " ", &row.keys.join(" ")].concat().to_ascii_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        });
    }
    groups.retain(|group| !group.rows.is_empty());
    groups
}

/// Formats the keys of a command for display.
pub(crate) fn keys_text(command: Command) -> Vec<String> {
    command.keys.iter().map(|key| key_text(key)).collect()
}

#[cfg(test)]
#[path = "../../../tests/units/ui/help.rs"]
mod tests;
