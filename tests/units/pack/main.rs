//! Unit tests of `src/pack/main.rs`.

use super::{OWN_URL_STATEMENT, remove_own_url};

#[test]
fn own_url_is_removed_from_glue_script() {
    let glue = format!("let script_src; if (document.currentScript !== null) {{ {OWN_URL_STATEMENT} }} rest");
    let without = remove_own_url(&glue).unwrap();
    assert_eq!(without, "let script_src; if (document.currentScript !== null) {  } rest");
}

#[test]
fn glue_script_with_no_or_several_own_urls_is_an_error() {
    let again = [OWN_URL_STATEMENT, OWN_URL_STATEMENT].concat();
    for glue in ["let script_src = import.meta.url;", &again] {
        assert!(remove_own_url(glue).unwrap_err().contains("not once"), "{glue}");
    }
}
