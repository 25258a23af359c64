//! Unit tests of `src/history/container/mod.rs`.

use super::*;

/// Sets the counters near the limit, because decompressing 1 TiB would take half an hour.
#[test]
fn decompressed_size_is_limited() {
    let mut container = Container::default();
    // Two stored deflate blocks of 16 bytes, neither of them marked as the last.
    let blocks = [b"\0\x10\0\xef\xff".to_vec(), vec![0x80; 16]].concat().repeat(2);
    container.feed([&b"\x1f\x8b\x08\0\0\0\0\0\0\0"[..], &blocks].concat());
    while container.content().is_none() {
        assert!(container.pull().unwrap().is_some());
    }
    container.fed = 1 << 40;
    container.layers[0].written = MAX_UNPACKED_BYTES - 16;
    container.layers[0].output.consume(32);
    container.file.add(blocks);
    let error = container.pull().unwrap_err();
    assert_eq!(error.to_string(), "1099511627776 bytes of gzip decompress to more than 1 TiB: not a snapshot");
}
