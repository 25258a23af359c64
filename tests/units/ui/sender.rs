//! Unit tests of `src/ui/text/sender.rs`.

use super::*;

#[test]
fn only_the_exact_origin_is_trusted() {
    let stored = add_trusted(&add_trusted("", "https://a.example"), "http://b.example:81");
    assert_eq!(stored, "http://b.example:81\nhttps://a.example");
    for origin in ["https://a.example", "http://b.example:81"] {
        assert!(is_trusted(&stored, origin), "{origin}");
    }
    for origin in ["http://a.example", "https://a.example:1", "http://b.example:8", "http://b.example:812", "null", ""]
    {
        assert!(!is_trusted(&stored, origin), "{origin}");
    }
    assert!(!is_trusted("", ""));
}

#[test]
fn trusting_again_moves_origin_to_front_and_oldest_is_dropped() {
    let stored = add_trusted("https://b\nhttps://a", "https://a");
    assert_eq!(stored, "https://a\nhttps://b");
    let mut stored = String::new();
    for number in 0..=MAX_TRUSTED {
        stored = add_trusted(&stored, &format!("https://{number}"));
    }
    assert_eq!(stored.lines().count(), MAX_TRUSTED);
    assert!(!is_trusted(&stored, "https://0") && is_trusted(&stored, "https://1"));
}

#[test]
fn origins_that_cannot_be_named_are_not_remembered() {
    for origin in ["null", "", "https://a\nhttps://b", "https://a;b", "vscode-webview://x"] {
        assert!(!can_be_trusted(origin), "{origin}");
    }
    assert!(can_be_trusted("https://a.example:8443"));
}

#[test]
fn question_names_origin_title_and_size() {
    assert_eq!(question("https://a.example", "run 7", 1, 2048), "https://a.example sends “run 7” (1 file, 2.00 KiB).");
    assert_eq!(question("null", "x", 3, 5), "A page without an address of its own sends “x” (3 files, 5 B).");
}

#[test]
fn names_are_cut_and_have_no_control_characters() {
    assert_eq!(short_name("rank0\n.pickle\u{7}"), "rank0.pickle");
    assert_eq!(short_name(&"ä".repeat(1000)).chars().count(), MAX_NAME_CHARS);
}

#[test]
fn view_replaces_placeholder_of_link() {
    assert_eq!(
        link_to_view("https://a/run?memory={view}#x", "v=1&tab=flame"),
        "https://a/run?memory=v%3D1%26tab%3Dflame#x"
    );
    assert_eq!(link_to_view("https://a/run", "v=1"), "https://a/run");
}
