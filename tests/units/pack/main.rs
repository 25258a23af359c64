//! Tests of `src/pack/main.rs`: what of the built page changes when it becomes one file.

use super::{OWN_ADDRESS, without_own_address};

#[test]
fn glue_starts_without_an_address_of_its_own() {
    let glue = format!("let script_src; if (document.currentScript !== null) {{ {OWN_ADDRESS} }} rest");
    let without = without_own_address(&glue).unwrap();
    assert_eq!(without, "let script_src; if (document.currentScript !== null) {  } rest");
}

#[test]
fn glue_with_another_address_is_an_error() {
    let again = [OWN_ADDRESS, OWN_ADDRESS].concat();
    for glue in ["let script_src = import.meta.url;", &again] {
        assert!(without_own_address(glue).unwrap_err().contains("not once"), "{glue}");
    }
}
