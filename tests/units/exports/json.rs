//! Hand-written JSON output is valid JSON.

use super::*;

#[test]
fn escaped_text_parses_back() {
    for given in ["", "plain", "\"quoted\" \\ back", "tab\tnew\nline\u{0}\u{1f}", "größer · 日本 \u{1F600}", "\\"]
    {
        let mut out = Vec::new();
        text(&mut out, given).unwrap();
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), given);
    }
}

#[test]
fn list_values_are_separated_by_commas() {
    let written = |values: &[i32]| {
        let mut out = Vec::new();
        numbers(&mut out, values).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!([written(&[]), written(&[1]), written(&[1, -2])], ["[]", "[1]", "[1,-2]"]);
}
