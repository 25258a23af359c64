//! Unit tests of `src/cli/terminal.rs`.

use super::*;

#[test]
fn long_line_is_wrapped_with_its_indent() {
    let text = "head\n  - The peak is 4.27 GiB, and the largest part is of activations of the model.\nend\n";
    let fitted = wrap_to(text, Some(40));
    assert_eq!(
        fitted,
        "head\n  - The peak is 4.27 GiB, and the\n    largest part is of activations of\n    the model.\nend\n"
    );
    assert_eq!(wrap_to(text, None), text);
    assert_eq!(wrap_to(text, Some(100)), text);
}

#[test]
fn number_and_unit_stay_on_one_line() {
    assert_eq!(wrap("The peak is 4.27 GiB (−30.0 %).", 16), ["The peak is", "4.27 GiB", "(−30.0 %)."]);
    assert_eq!(wrap("The peak is 4.27 GiB", 20), ["The peak is 4.27 GiB"]);
    assert_eq!(wrap("The share is 30 % of all", 15), ["The share is", "30 % of all"]);
    assert_eq!(wrap("4.27 GiB", 5), ["4.27", "GiB"], "not enough room for both");
}

#[test]
fn word_longer_than_a_line_is_broken() {
    for text in ["x".repeat(95), ["/home/".repeat(16), "漢".repeat(30)].concat(), " ".repeat(60) + "y z"] {
        let fitted = wrap_to(&text, Some(30));
        assert!(fitted.lines().all(|line| text_width(line) <= 30), "{fitted}");
        let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        assert_eq!(letters(&fitted), letters(&text));
    }
}

#[test]
fn control_characters_split_across_writes_do_not_reach_terminal() {
    let text =
        "a\u{1b}[31m\tb\r\u{7f}\u{9b}c\u{e9}d\u{c2}e\n漢\u{202e}€\u{2066}\u{2014}\u{202a}\u{202e}\u{2070}".as_bytes();
    for size in 1..=text.len() {
        let mut out = Vec::new();
        let mut guarded = SafeWriter::new(&mut out);
        text.chunks(size).for_each(|part| guarded.write_all(part).unwrap());
        let shown = String::from_utf8(out).unwrap();
        let expected = "a\u{fffd}[31m\tb\u{fffd}\u{fffd}\u{fffd}c\u{e9}d\u{c2}e\n漢\u{fffd}€\u{fffd}\u{2014}\u{fffd}\u{fffd}\u{2070}";
        assert_eq!(shown, expected, "{size}");
    }
}
