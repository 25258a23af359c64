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

/// Bytes around the limits of all rules: controls, continuation bytes, and first bytes.
const EDGES: [u8; 18] =
    [0x09, 0x0a, 0x1f, 0x61, 0x7f, 0x80, 0x81, 0x82, 0x9f, 0xa0, 0xa5, 0xa6, 0xa9, 0xaa, 0xae, 0xaf, 0xc2, 0xe2];

fn written(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut guarded = SafeWriter::new(&mut out);
    parts.iter().for_each(|part| guarded.write_all(part).unwrap());
    out
}

/// The rule of [`SafeWriter`], on the whole input: searches the prefixes of unsafe characters for each byte.
fn written_by_search(bytes: &[u8]) -> Vec<u8> {
    const PREFIXES: [&[u8]; 4] = [b"\xc2", b"\xe2", b"\xe2\x80", b"\xe2\x81"];
    let (mut safe, mut prefix) = (Vec::new(), Vec::new());
    for &byte in bytes {
        prefix.push(byte);
        if PREFIXES.contains(&prefix.as_slice()) {
            continue;
        }
        let is_continued = (0x80..=0xbf).contains(&byte);
        // A prefix that is not continued is dropped.
        let known = std::mem::take(&mut prefix);
        let known = if is_continued { known.as_slice() } else { &[byte] };
        match std::str::from_utf8(known) {
            _ if PREFIXES.contains(&known) => prefix = known.to_vec(),
            Ok(text) => safe.extend(text.replace(|it| is_unsafe(it) && !"\n\t".contains(it), REPLACEMENT).bytes()),
            Err(_) => safe.extend(known),
        }
    }
    safe
}

#[test]
fn safe_output_of_any_bytes_equals_search_of_prefixes() {
    let mut sequences = vec![Vec::new()];
    // The state is at most two bytes, so that four cover every transition.
    for length in 1..=4 {
        let shorter = sequences.iter().filter(|known| known.len() + 1 == length);
        let longer = shorter.flat_map(|known| EDGES.map(|edge| [known.as_slice(), &[edge]].concat()));
        sequences.extend(longer.collect::<Vec<_>>());
    }
    for bytes in sequences {
        let expected = written_by_search(&bytes);
        for middle in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(middle);
            assert_eq!(written(&[head, tail]), expected, "{bytes:x?} split at {middle}");
        }
    }
}
