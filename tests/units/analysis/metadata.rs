//! Unit tests of `src/analysis/metadata.rs`.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::{category, entries, value_of};

fn read(text: &str) -> Option<Vec<(String, String)>> {
    entries(text)
}

#[test]
fn json_object_is_split_into_entries() {
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
    assert_eq!(read(&many), None, "too many keys for metadata");
}

#[test]
fn last_duplicate_key_wins() {
    assert_eq!(value_of(r#"{"name": "a", "name": "b"}"#, "name").unwrap(), "b");
    assert_eq!(value_of(r#"{"name": ""}"#, "name"), None);
    assert_eq!(value_of("name", "name"), None);
}

#[test]
fn category_is_suffix_of_name() {
    assert_eq!(category("cut_cross_entropy::linear.gradient"), Some("gradient"));
    assert_eq!(category("Optimizer state"), Some("optimizer_state"));
    assert_eq!(category("cut_cross_entropy::logits"), None);
}
