//! Tests of `src/cli/serve/mod.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn tokens_differ() {
    let (one, other) = (token().unwrap(), token().unwrap());
    assert!(one != other && one.len() == 32 && one.bytes().all(|it| it.is_ascii_hexdigit()));
}
