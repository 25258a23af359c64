//! Tests of `src/history/container/mod.rs`, a module of its: they reach what is private there.

use super::*;

/// Unpacked for real it would take half an hour.
#[test]
fn all_that_is_unpacked_has_a_limit() {
    let mut container = Container::default();
    // A stored block of sixteen bytes that goes on with another one.
    let blocks = [b"\0\x10\0\xef\xff".to_vec(), vec![0x80; 16]].concat().repeat(2);
    container.feed([&b"\x1f\x8b\x08\0\0\0\0\0\0\0"[..], &blocks].concat());
    while container.content().is_none() {
        assert!(container.pull().unwrap().is_some());
    }
    container.fed = 1 << 40;
    container.layers[0].written = MOST_UNPACKED - 16;
    container.layers[0].output.take(32);
    container.file.add(blocks);
    let error = container.pull().unwrap_err();
    assert_eq!(error.to_string(), "1099511627776 bytes of gzip decompress to more than 1 TiB: not a snapshot");
}
