//! The JSON reader: random values in random chunks, truncated input, limits and invalid JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::pickle_tree;

use memscape::json::{ErrorKind, JsonError, Limits, Parser};
use pickle_tree::{Trees, hexadecimal, quoted};
use proptest::prelude::*;

type Outcome = Result<String, JsonError<String>>;

fn text_of_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, limits: Limits) -> Outcome {
    let mut machine = Parser::new(Trees::default(), limits);
    for chunk in chunks {
        machine.feed(chunk)?;
    }
    machine.finish().map(|(trees, root)| trees.text(root))
}

fn text(json: &str) -> Outcome {
    text_of_chunks([json.as_bytes()], Limits::default())
}

fn message(json: &str) -> String {
    text(json).expect_err(json).to_string()
}

/// A value as JSON text and as the text that the reader gives for it.
#[derive(Clone, Debug)]
struct Pair {
    json: String,
    text: String,
}

fn pair(json: impl ToString, text: impl ToString) -> Pair {
    Pair { json: json.to_string(), text: text.to_string() }
}

fn string(value: &str) -> Pair {
    pair(serde_json::to_string(value).unwrap(), quoted(value.as_bytes()))
}

/// Encodes every character as a `\u` escape, with surrogate pairs where necessary.
fn escaped(value: &str) -> Pair {
    let json: String = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    pair(format!("\"{json}\""), quoted(value.as_bytes()))
}

fn integer(value: i128) -> Pair {
    match i64::try_from(value) {
        Ok(small) => pair(value, small),
        Err(_) => pair(value, hexadecimal(&value.to_le_bytes())),
    }
}

fn values() -> impl Strategy<Value = Pair> {
    let leaf = prop_oneof![
        Just(pair("null", "None")),
        any::<bool>().prop_map(|value| pair(value, if value { "True" } else { "False" })),
        any::<i128>().prop_map(|value| integer(value >> 40)),
        any::<i64>().prop_map(|value| integer(value.into())),
        (0..1000i128).prop_map(integer),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| pair(serde_json::to_string(&value).unwrap(), format!("{value:?}"))),
        any::<String>().prop_map(|value| string(&value)),
        any::<String>().prop_map(|value| escaped(&value)),
        "[ -~]{0,40}".prop_map(|value| string(&value)),
    ];
    let blank = "[ \n\t\r]{0,20}";
    leaf.prop_recursive(5, 60, 8, move |inner| {
        let list = (prop::collection::vec(inner.clone(), 0..8), blank).prop_map(|(items, blank)| {
            let json: Vec<String> = items.iter().map(|item| format!("{blank}{}{blank}", item.json)).collect();
            let text: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            pair(format!("[{blank}{}]", json.join(",")), format!("[{}]", text.join(", ")))
        });
        let dict = (prop::collection::btree_map("[a-z]{1,6}", inner, 0..8), blank).prop_map(|(pairs, blank)| {
            let json: Vec<String> =
                pairs.iter().map(|(key, value)| format!("{blank}\"{key}\"{blank}:{blank}{}", value.json)).collect();
            let mut text: Vec<String> = pairs.iter().map(|(key, value)| format!("'{key}': {}", value.text)).collect();
            text.sort();
            pair(format!("{{{}{blank}}}", json.join(",")), format!("{{{}}}", text.join(", ")))
        });
        prop_oneof![list, dict]
    })
}

proptest! {
    #[test]
    fn random_values_parse_in_any_chunks(value in values(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        prop_assert_eq!(text(&value.json), Ok(value.text.clone()));
        let bytes = value.json.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
        prop_assert_eq!(text_of_chunks(pieces, Limits::default()), Ok(value.text.clone()));
        prop_assert_eq!(text_of_chunks(bytes.chunks(1), Limits::default()), Ok(value.text));
    }

    #[test]
    fn truncated_container_reports_unexpected_end(value in values()) {
        prop_assume!(value.json.starts_with(['[', '{']));
        for length in 0..value.json.len() {
            let error = text_of_chunks([&value.json.as_bytes()[..length]], Limits::default()).unwrap_err();
            prop_assert_eq!((error.offset, error.kind), (length as u64, ErrorKind::UnexpectedEnd));
        }
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(
        b"[]{},:\"\\ \n0123456789eE+-.truefalsn".as_slice())], 0..200)) {
        let whole = text_of_chunks([bytes.as_slice()], Limits::default());
        if let Err(error) = &whole {
            prop_assert!(error.offset <= bytes.len() as u64);
        }
        prop_assert_eq!(text_of_chunks(bytes.chunks(1), Limits::default()), whole);
    }
}

#[test]
fn nan_and_infinity_are_parsed() {
    assert_eq!(text("[NaN, Infinity, -Infinity, -0, -0.0]").unwrap(), "[NaN, inf, -inf, 0, -0.0]");
    assert_eq!(text(r#"["\ud800", "\udfff\ud800"]"#).unwrap(), r"['\xed\xa0\x80', '\xed\xbf\xbf\xed\xa0\x80']");
    assert_eq!(text("18446744073709551615").unwrap(), "0x00ffffffffffffffff");
    assert_eq!(text(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap(), "{'a': 3, 'b': 2}", "the last of equal keys wins");
}

#[test]
fn errors_have_path_and_offset() {
    let cases = [
        ("", "the JSON is cut off (at byte 0)"),
        ("[1, 2", "the JSON is cut off (at byte 5)"),
        ("[1, ]", "[1]: expected a value, found ']' (at byte 4)"),
        (r#"{"a": 1,}"#, "expected a key in quotes, found '}' (at byte 8)"),
        (r#"{"a" 1}"#, "a: expected ':', found '1' (at byte 5)"),
        (r#"{"a": [1, {"b": nil}]}"#, "a[1].b: invalid JSON value 'nil' (at byte 16)"),
        ("[1 2]", "[1]: expected ',' or ']', found '2' (at byte 3)"),
        ("[1}", "[1]: expected ',' or ']', found '}' (at byte 2)"),
        (r#"{"a":1]"#, "expected ',' or '}', found ']' (at byte 6)"),
        ("{} {}", "expected the end of the file, found '{' (at byte 3)"),
        ("{}\0", "expected the end of the file, found 0x00 (at byte 2)"),
        ("{a: 1}", "expected a key in quotes or '}', found 'a' (at byte 1)"),
        ("[,]", "[0]: expected a value or ']', found ',' (at byte 1)"),
        ("// no\n1", "expected a value, found '/' (at byte 0)"),
        ("\"a\nb\"", "unescaped control character 0x0a in a string (at byte 2)"),
        (r#"["\x41"]"#, "[0]: invalid escape in a string (at byte 1)"),
        (r#"{"a": ["refuse me"]}"#, "a[0]: refused (at byte 7)"),
        (r#"{"a": "refuse me"}"#, "a: refused (at byte 6)"),
        (r#"[0, {"never finished": 1}]"#, "[1]: this dict can't be (at byte 24)"),
        ("01", "invalid JSON value '01' (at byte 0)"),
    ];
    for (json, expected) in cases {
        assert_eq!(message(json), expected, "{json}");
        let byte_by_byte = text_of_chunks(json.as_bytes().chunks(1), Limits::default()).unwrap_err();
        assert_eq!(byte_by_byte.to_string(), expected, "{json}, byte by byte");
    }
}

#[test]
fn limits_apply_before_whole_value_arrives() {
    let limits = Limits { string_bytes: 100, atom_bytes: 20, nesting: 5 };
    let cases = [
        ("[".repeat(6), "[0][0][0][0][0]: more than 5 nested containers: not a snapshot (at byte 5)"),
        (format!("[\"{}", "x".repeat(200)), "[0]: more than 100 bytes in one string: not a snapshot (at byte 1)"),
        (format!("[{}", "1".repeat(30)), "[0]: more than 20 characters in one number: not a snapshot (at byte 1)"),
    ];
    for (json, expected) in cases {
        for chunk in [1, 7, 1000] {
            let error = text_of_chunks(json.as_bytes().chunks(chunk), limits).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
    let most = "[".repeat(5) + &"]".repeat(5);
    assert_eq!(text_of_chunks([most.as_bytes()], limits).unwrap(), most);
}

#[test]
fn too_deep_nesting_reports_error() {
    assert!(message(&"[".repeat(3_000_000)).contains("more than 4096 nested containers"));
}
