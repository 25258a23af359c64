//! Unit tests of `src/analysis/internal.rs`.

use super::*;

fn named(rule: &str, name: &str) -> bool {
    match parse_rule(rule, 0) {
        Ok(Some(Rule::Name(text, edges))) => is_named(name.as_bytes(), text.as_bytes(), edges),
        other => panic!("{rule}: {other:?}"),
    }
}

#[test]
fn star_matches_any_prefix_or_suffix_of_name() {
    assert!(named("name:_call_impl", "_call_impl") && !named("name:_call_impl", "_wrapped_call_impl"));
    assert!(named("name:*_call_impl", "_wrapped_call_impl") && !named("name:*_call_impl", "_call_impl_"));
    assert!(named("name:at::*", "at::_ops::mul") && !named("name:at::*", "xat::_ops"));
    assert!(named("name: *mul* ", "at::mul_Tensor") && !named("name:*mul*", "at::add"));
}

#[test]
fn file_rule_matches_windows_paths() {
    let windows = br"C:\venv\Lib\site-packages\torch\functional.py";
    assert!(is_in_file(windows, b"site-packages/torch/") && is_in_file(windows, br"site-packages\torch"));
    assert!(!is_in_file(windows, b"site-packages/torchvision/") && is_in_file(b"/a/torch/b.py", b"/torch/"));
}

#[test]
fn invalid_rule_reports_its_line() {
    let error = |lines: &[&str]| InternalRules::parse(lines).map_err(|error| (error.line, error.cause)).err();
    assert_eq!(error(&["native", "", "  file:/torch/ "]), None);
    assert_eq!(error(&["native", "torch"]), Some((2, RuleProblem::Unknown)));
    assert_eq!(error(&["path:x"]), Some((1, RuleProblem::Unknown)));
    assert_eq!(error(&["", "", "file:"]), Some((3, RuleProblem::Empty)));
    assert_eq!(error(&["name:**"]), Some((1, RuleProblem::Empty)));
    assert_eq!(error(&[&"x".repeat(1001)]), Some((1, RuleProblem::TooMany)));
    assert_eq!(error(&vec!["native"; 1001]), Some((1001, RuleProblem::TooMany)));
    assert_eq!(InternalRules::parse_leniently(&["?", "native"]), InternalRules::parse_leniently(&["native"]));
    assert_eq!(error(DEFAULT_RULES), None);
}
