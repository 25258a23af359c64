//! Unit tests of `src/cli/embedded.rs`.

use super::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

fn of_file(name: &str, bytes: &[u8], most: usize) -> io::Result<Option<EmbeddedSnapshot>> {
    let path = std::env::temp_dir().join(format!("memscape-carried-{name}-{}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let carried = EmbeddedSnapshot::encode_file(&mut Input::open(&path).unwrap(), most);
    std::fs::remove_file(path).unwrap();
    carried
}

#[test]
fn compressed_file_is_embedded_unchanged() {
    let gzip = vec![0x1f, 0x8b, 8, 0, 1, 2, 3];
    let carried = EmbeddedSnapshot { raw_bytes: 7, encoding: "gzip", bytes: gzip.clone() };
    assert_eq!(of_file("gzip", &gzip, MAX_SNAPSHOT_BYTES).unwrap(), Some(carried));
    assert_eq!(of_file("larger", &gzip, 6).unwrap(), None);
    assert_eq!(of_file("zip", b"PK\x03\x04", MAX_SNAPSHOT_BYTES).unwrap(), None);
}

/// Base64 text of the page would compress badly.
#[test]
fn snapshot_is_extracted_from_memory_viz_page() {
    let pickle = [&b"\x80\x04]"[..], &b"N".repeat(3000), b"."].concat();
    let page = format!("<html>{{\"base64\": \"{}\"}}", BASE64_STANDARD.encode(&pickle));
    let carried = of_file("page", page.as_bytes(), MAX_SNAPSHOT_BYTES).unwrap().unwrap();
    let mut unpacked = Vec::new();
    io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*carried.bytes), &mut unpacked).unwrap();
    assert_eq!((carried.raw_bytes, carried.encoding), (pickle.len() as u64, "gzip"));
    assert!(unpacked == pickle);
    assert_eq!(of_file("packed", page.as_bytes(), carried.bytes.len() - 1).unwrap(), None);
}
