//! Unit tests of `src/ui/help.rs`.

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_key_is_in_one_group() {
    let groups = groups("");
    assert_eq!(groups[0].title, START_TITLE);
    assert_eq!(groups[0].rows.len(), ESSENTIAL.len(), "every essential command is listed");
    assert_eq!(groups.last().unwrap().title, SYNTAX_TITLE);
    let titles: BTreeSet<&str> = groups.iter().map(|group| group.title).collect();
    assert_eq!(titles.len(), groups.len(), "titles are unique");
    let shown: usize = groups[1..groups.len() - 1].iter().map(|group| group.rows.len()).sum();
    let keyed = commands::all().filter(|command| !command.keys.is_empty()).count();
    assert_eq!(shown, keyed + GESTURES.len());
    assert!(groups.iter().all(|group| group.rows.iter().all(|row| row.keys.iter().all(|key| !key.is_empty()))));
}

#[test]
fn filter_searches_titles_texts_and_keys() {
    let found = |filter: &str| -> Vec<(&str, &str)> {
        groups(filter).iter().flat_map(|group| group.rows.iter().map(|row| (group.title, row.text))).collect()
    };
    assert!(found("PEAK").contains(&(MOVE, "Go to the peak")));
    assert!(found("peak").iter().all(|(title, _)| *title != START_TITLE), "no duplicate lines while filtering");
    assert!(found("flame zoom").iter().all(|(title, _)| *title == "Flame graph"));
    assert_eq!(found("command palette"), [(PAGE, "Open the command palette")]);
    assert_eq!(found("f2"), [(PAGE, "Turn single-letter keys on or off")], "by its key");
    assert!(found("regular expression").iter().all(|(title, _)| *title == SYNTAX_TITLE));
    assert_eq!(found("no such thing"), []);
    assert_eq!(found("  "), found(""), "blank filter matches everything");
}

/// The titles of the commands follow VOICE.md.
#[test]
fn titles_follow_style_guide() {
    for command in commands::all() {
        let first = command.title.split(' ').next().unwrap();
        assert!(first.starts_with(char::is_uppercase), "{}: sentence case", command.title);
        let banned = ["born", "birth", "heed", "moment", "ask about", "likewise", "anew", "pending", "let be"];
        let lower = command.title.to_lowercase();
        assert!(banned.iter().all(|word| !lower.contains(word)), "{}", command.title);
        assert!(!command.title.ends_with('.'), "{}", command.title);
    }
}
