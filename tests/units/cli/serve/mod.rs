//! Unit tests of `src/cli/serve/mod.rs`.

use super::*;

#[test]
fn tokens_are_unique() {
    let (one, other) = (token().unwrap(), token().unwrap());
    assert!(one != other && one.len() == 32 && one.bytes().all(|it| it.is_ascii_hexdigit()));
}
