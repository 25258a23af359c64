//! Unit tests of `src/pack/main.rs`.

use super::{OWN_URL, remove_own_url};

#[test]
fn own_address_is_removed_from_glue() {
    let glue = format!("let script_src; if (document.currentScript !== null) {{ {OWN_URL} }} rest");
    let without = remove_own_url(&glue).unwrap();
    assert_eq!(without, "let script_src; if (document.currentScript !== null) {  } rest");
}

#[test]
fn glue_without_exactly_one_address_is_an_error() {
    let again = [OWN_URL, OWN_URL].concat();
    for glue in ["let script_src = import.meta.url;", &again] {
        assert!(remove_own_url(glue).unwrap_err().contains("not once"), "{glue}");
    }
}
