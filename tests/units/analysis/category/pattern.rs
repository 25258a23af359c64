//! Unit tests of `src/analysis/category/pattern.rs`.

use super::*;
use proptest::prelude::*;

#[test]
fn literal_alternatives_need_no_regex() {
    let is_list = |text: &str| matches!(Pattern::new(text), Ok(Pattern::Texts(_)));
    for text in ["forward", "^step$|^__init__$", r"adam\.py$", "", "a|", "^$", r"\^\$\|", "a:b<c>"] {
        assert!(is_list(text), "{text}");
    }
    for text in ["a.py", "a*", "(a)", "[ab]", r"\d", r"\<a", "a^b", "a$b", "^^a"] {
        assert!(!is_list(text), "{text}");
    }
    assert!(Pattern::new("(").is_err() && Pattern::new(r"\").is_err());
}

proptest! {
    #[test]
    fn literal_search_matches_same_texts_as_regex(pattern in "[ab$^|.\\\\_<>!]{0,8}", text in "[ab$^._<>!]{0,8}") {
        if let (Ok(pattern), Ok(slow)) = (Pattern::new(&pattern), Expression::new(&pattern, CaseMode::Sensitive)) {
            prop_assert_eq!(pattern.matches(&text), slow.matches(&text));
        }
    }
}
