//! Unit tests of `src/analysis/expression.rs`.

use super::*;
use proptest::prelude::*;

fn is_in(expression: &str, text: &str) -> bool {
    Expression::new(expression, CaseMode::Sensitive).expect(expression).matches(text)
}

#[test]
fn supported_regex_syntax_matches() {
    let cases = [
        (r"train\.py:\d+ step$", "/home/me/train.py:233 step", true),
        (r"train\.py:\d+ step$", "/home/me/train.py:233 steps", false),
        ("^/home|^/x", "/x/torch", true),
        ("^/home|^/y", "/x/home", false),
        ("(ab|cd)+e", "xabcdabe", true),
        ("^(ab|cd){2,3}$", "abcdab", true),
        ("^(ab|cd){2,3}$", "abcdabcd", false),
        ("^(ab|cd){2}$", "abcd", true),
        ("^a{2,}$", "aaaa", true),
        ("^a{2,}$", "a", false),
        ("[]x-]", "-", true),
        ("[^]x]", "]x", false),
        (r"[\d.]+ms", "1.5ms", true),
        (r"^[\D]$", "5", false),
        (r"^[^\W]$", "_", true),
        (r"\bstep\b", "a step.", true),
        (r"\bstep\b", "a steps", false),
        (r"\Bep", "step", true),
        ("^.*$", "ä ö", true),
        ("", "", true),
        ("a|", "b", true),
        ("x*?y", "y", true),
        ("(a*)*b", "aab", true),
        ("std::vector<int>", "std::vector<int>", true),
        (r"\<int\>", "std::vector<int>", true),
        (r"\<in\>", "std::vector<int>", false),
        ("^a{2}*$", "", true),
        ("^a{2}*$", "aaaa", true),
        ("^a{2}*$", "aaa", false),
        ("^[[:digit:]]$", "7", true),
        ("^[[:digit:]]$", "d]", false),
        ("(?i)TRAIN", "train.py", true),
        ("(?P<file>train|test)[.]py", "test.py", true),
        (r"^\x41$", "A", true),
    ];
    for (expression, text, expected) in cases {
        assert_eq!(is_in(expression, text), expected, "{expression} in {text}");
    }
    let folded = Expression::new("Tr[A-C]in", CaseMode::Insensitive).expect("valid expression");
    assert!(folded.matches("TRAIN") && folded.matches("train") && !folded.matches("trdin"));
    assert!(
        !Expression::new("ä", CaseMode::Insensitive).expect("valid expression").matches("Ä"),
        "only ASCII letters fold"
    );
}

#[test]
fn invalid_or_too_large_expressions_are_rejected() {
    let cases = [
        "(",
        ")",
        "a)",
        "[a",
        "[]",
        "*",
        "a|*",
        "a{",
        "a{2",
        "a{x}",
        "a{3,2}",
        "a{-1}",
        "[z-a]",
        r"[a-\d]",
        "\\",
        r"\1",
        r"\p{L}",
        r"[\b]",
        "(?=a)",
        "((a{100}){100}){100}",
        "(){99999999999}",
        "(?:){4000000000}",
        "a{1001}",
    ];
    for text in cases {
        assert!(Expression::new(text, CaseMode::Sensitive).is_err(), "{text}");
    }
    for text in ["(".repeat(10_000), "|".repeat(1_000_000), format!("a{}", "*".repeat(1000))] {
        assert!(Expression::new(&text, CaseMode::Sensitive).is_err(), "{} bytes", text.len());
    }
    assert_eq!(Expression::new(&"|".repeat(499), CaseMode::Sensitive).err(), None);
    assert_eq!(Expression::new("a{900}", CaseMode::Sensitive).err(), None);
}

#[test]
fn nested_quantifiers_take_linear_time() {
    let text = format!("{}b", "a".repeat(4000));
    let long_class: String =
        (0..160).filter_map(|at| char::from_u32(0x400 + 2 * at)).flat_map(|from| [from, '-', from]).collect();
    let repeated = |times: u32| format!("([{long_class}]|a){{0,{times}}}c");
    for hostile in ["^(a+)+$", "^(a|aa)*$", "^(a?){30}a{30}$", "(((a*)*)*)*c", "^(.{0,30}){8}x", &repeated(20)] {
        assert!(!is_in(hostile, &text), "{hostile}");
    }
    assert!(Expression::new(&repeated(150), CaseMode::Sensitive).is_err(), "it compiles to more than the limit");
}

#[test]
fn class_ranges_may_overlap_in_any_order() {
    for letter in 'a'..='z' {
        let expected = matches!(letter, 'b'..='g' | 'x');
        assert_eq!(is_in("^[xd-gb-ec-d]$", &letter.to_string()), expected, "{letter}");
        assert_eq!(is_in("^[^xd-gb-ec-d]$", &letter.to_string()), !expected, "{letter}");
    }
}

proptest! {
    #[test]
    fn arbitrary_expression_does_not_panic(text in r"[ab*+?{}()\[\]|^$.,0-9\\dwz:<>P-]{0,20}", in_text in "[ab1]{0,9}") {
        if let Ok(expression) = Expression::new(&text, CaseMode::Insensitive) {
            let _ = expression.matches(&in_text);
        }
    }
}
