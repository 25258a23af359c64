//! Unit tests of `src/pack/main.rs`.

use super::{OWN_ADDRESS, without_own_address};

#[test]
fn own_address_is_removed_from_glue() {
    let glue = format!("let script_src; if (document.currentScript !== null) {{ {OWN_ADDRESS} }} rest");
    let without = without_own_address(&glue).unwrap();
    assert_eq!(without, "let script_src; if (document.currentScript !== null) {  } rest");
}

#[test]
fn glue_without_exactly_one_address_is_an_error() {
    let again = [OWN_ADDRESS, OWN_ADDRESS].concat();
    for glue in ["let script_src = import.meta.url;", &again] {
        assert!(without_own_address(glue).unwrap_err().contains("not once"), "{glue}");
    }
}
