//! Unit tests of `src/cli/serve/snapshot_response.rs`.

use super::*;
use axum::http::HeaderValue;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, RANGE};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("memscape-sending-{name}-{}", std::process::id()));
    fs::write(&path, bytes).unwrap();
    path
}

fn snapshot(path: &Path, asked: &[(axum::http::HeaderName, &str)]) -> Response {
    let asked = asked.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
    let waiting = Arc::new(());
    let peer = Peer(Weak::clone(&Arc::downgrade(&waiting)));
    super::snapshot(path, &Method::GET, &asked.collect(), &peer, &DecodedCache::default())
}

fn body(response: Response) -> Result<Vec<u8>, axum::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(axum::body::to_bytes(response.into_body(), usize::MAX)).map(Vec::from)
}

fn header(response: &Response, name: axum::http::HeaderName) -> Option<&str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

#[test]
fn compressed_file_is_sent_unchanged() {
    for head in [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd", b"PK\x03\x04"] {
        let path = file("packed", head);
        let response = snapshot(&path, &[(ACCEPT_ENCODING, "gzip")]);
        assert_eq!((header(&response, CONTENT_LENGTH), header(&response, CONTENT_ENCODING)), (Some("4"), None));
        assert!(!response.headers().contains_key(UNCOMPRESSED_LENGTH));
        assert_eq!(body(response).unwrap(), head);
        fs::remove_file(path).unwrap();
    }
    let path = file("plain", &[b'x'; 300_000]);
    let response = snapshot(&path, &[(ACCEPT_ENCODING, "gzip")]);
    assert_eq!(response.headers().get(UNCOMPRESSED_LENGTH).unwrap(), "300000");
    assert!(body(response).unwrap() == [b'x'; 300_000]);
    fs::remove_file(path).unwrap();
}

#[test]
fn range_request_for_changed_file_returns_whole_file() {
    let path = file("range", b"0123456789");
    let range = (RANGE, "bytes=4-");
    let tag = header(&snapshot(&path, &[]), ETAG).unwrap().to_owned();
    let gzip = format!("{}-gzip\"", tag.trim_end_matches('"'));
    for if_range in [None, Some(tag.as_str()), Some(&gzip)] {
        let asked: Vec<_> = [range.clone()].into_iter().chain(if_range.map(|tag| (IF_RANGE, tag))).collect();
        let part = snapshot(&path, &asked);
        assert_eq!((part.status().as_u16(), header(&part, CONTENT_RANGE)), (206, Some("bytes 4-9/10")));
        assert!(!part.headers().contains_key(UNCOMPRESSED_LENGTH));
        assert_eq!(body(part).unwrap(), b"456789");
    }
    let beyond = snapshot(&path, &[(RANGE, "bytes=10-")]);
    assert_eq!((beyond.status().as_u16(), header(&beyond, CONTENT_RANGE)), (416, Some("bytes */10")));
    fs::write(&path, b"another state").unwrap();
    let whole = snapshot(&path, &[range, (IF_RANGE, &tag)]);
    assert_eq!((whole.status().as_u16(), body(whole).unwrap().as_slice()), (200, &b"another state"[..]));
    fs::remove_file(path).unwrap();
}

#[test]
fn file_truncated_while_sending_closes_connection() {
    let path = file("cut", &[b'x'; 1000]);
    let response = snapshot(&path, &[]);
    fs::write(&path, b"xxxx").unwrap();
    assert!(body(response).is_err());
    // A file that grew is sent with its old length.
    let response = snapshot(&path, &[]);
    fs::write(&path, b"xxxxyyyy").unwrap();
    assert_eq!(body(response).unwrap(), b"xxxx");
    fs::remove_file(&path).unwrap();
    assert_eq!(snapshot(&path, &[]).status().as_u16(), 404);
    assert_eq!(snapshot(&std::env::temp_dir(), &[]).status().as_u16(), 404);
}
