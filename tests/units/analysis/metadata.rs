//! Tests of `src/analysis/metadata.rs`, a module of its: they reach what is private there.

#![allow(clippy::unwrap_used, reason = "how a test fails")]

use super::{category, entries, value_of};

fn read(text: &str) -> Option<Vec<(String, String)>> {
    entries(text)
}

#[test]
fn an_object_is_its_keys_and_texts() {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(read("{}"), Some(vec![]));
    assert_eq!(
        read(r#" {"pool": "kv cache","n":-7 , "deep": {"a": [1, "}"]}, "ok": true} "#),
        Some(vec![pair("pool", "kv cache"), pair("n", "-7"), pair("deep", r#"{"a": [1, "}"]}"#), pair("ok", "true")])
    );
    assert_eq!(read(r#"{"a\"b": "x\u00e9\n\\"}"#), Some(vec![pair("a\"b", "xé\n\\")]));
    for broken in [
        "",
        "plain",
        "[1]",
        "{",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a": 1,}"#,
        r#"{"a": 1} x"#,
        r#"{"a": "1}"#,
        r#"{"a": ]}"#,
    ] {
        assert_eq!(read(broken), None, "{broken}");
    }
    let many = ["{", &vec![r#""a": 1"#; 65].join(","), "}"].concat();
    assert_eq!(read(&many), None, "that is data");
}

#[test]
fn a_key_is_found_and_the_last_one_counts() {
    assert_eq!(value_of(r#"{"name": "a", "name": "b"}"#, "name").unwrap(), "b");
    assert_eq!(value_of(r#"{"name": ""}"#, "name"), None);
    assert_eq!(value_of("name", "name"), None);
}

#[test]
fn names_end_with_what_they_are_for() {
    assert_eq!(category("cut_cross_entropy::linear.gradient"), Some("gradient"));
    assert_eq!(category("Optimizer state"), Some("optimizer_state"));
    assert_eq!(category("cut_cross_entropy::logits"), None);
}
