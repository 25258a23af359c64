//! Unit tests of `src/ui/text/fuzzy.rs`.

use super::*;

fn best<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let scored = names.iter().filter_map(|name| Some((match_name(typed, name)?.score, *name)));
    scored.fold(None, |best: Option<(i32, &str)>, one| best.filter(|it| it.0 >= one.0).or(Some(one))).map(|it| it.1)
}

#[test]
fn letters_match_in_order_ignoring_case() {
    assert!(match_name("pk", "Go to the peak").is_some());
    assert!(match_name("PEAK", "Go to the peak").is_some());
    assert_eq!(match_name("kp", "Go to the peak"), None);
    assert_eq!(match_name("peaks", "Go to the peak"), None);
    assert!(match_name("peak go", "Go to the peak").is_some(), "words match in any order");
    assert_eq!(match_name("peak x", "Go to the peak"), None, "every word has to match");
    assert_eq!(match_name("", "anything").map(|it| it.indices), Some(vec![]));
    assert!(match_name("x", "").is_none());
}

#[test]
fn word_starts_and_consecutive_letters_rank_higher() {
    let names = ["Page up", "Copy the selected page", "Go to the peak", "Zoom in horizontally"];
    assert_eq!(best("peak", &names), Some("Go to the peak"));
    assert_eq!(best("gtp", &names), Some("Go to the peak"));
    assert_eq!(best("page", &names), Some("Page up"), "at the start of the name");
    assert_eq!(best("zih", &names), Some("Zoom in horizontally"));
    assert_eq!(best("theme", &["Go to the menu", "Theme: dark"]), Some("Theme: dark"));
    assert_eq!(best("GPU 1", &["GPU 10", "GPU 1"]), Some("GPU 1"), "the shorter of two");
}

#[test]
fn best_scoring_positions_are_matched() {
    let places = |typed, name| {
        let mut places = match_name(typed, name).unwrap().indices;
        places.sort_unstable();
        places
    };
    assert_eq!(places("peak", "Go to the peak"), [10, 11, 12, 13]);
    assert_eq!(places("ee", "the peel"), [5, 6], "adjacent letters score higher");
    assert_eq!(places("gp", "Go to the peak"), [0, 10]);
}

#[test]
fn long_and_unusual_names_do_not_panic() {
    let long = "a".repeat(1_000_000);
    assert!(match_name("aaa", &long).is_some());
    assert_eq!(match_name(&long, "aaa"), None);
    for name in ["\u{202e}\0\n", "ß—🦀", "   "] {
        assert_eq!(match_name("q", name), None);
        assert!(match_name("   ", name).is_some());
    }
    assert!(match_name("🦀", "ß—🦀").is_some());
}
