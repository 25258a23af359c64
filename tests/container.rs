//! Compressed containers: nesting, chunk sizes, trailing bytes and unsupported formats.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::packed;

use flate2::{Compression, write::GzEncoder};
use memscape::container::{Container, ContainerError, MAX_PIECE_BYTES};
use packed::{gzip, html, zstd};
use std::io::Write;

fn unpack(file: &[u8], chunk: usize) -> Result<Vec<u8>, ContainerError> {
    let mut container = Container::default();
    let mut all = Vec::new();
    for piece in file.chunks(chunk) {
        container.feed(piece.to_vec());
        while let Some(bytes) = container.pull()? {
            assert!(bytes.len() <= MAX_PIECE_BYTES);
            all.extend_from_slice(bytes);
        }
    }
    container.finish_input();
    while let Some(bytes) = container.pull()? {
        all.extend_from_slice(bytes);
    }
    assert_eq!(container.bytes_read(), file.len() as u64);
    Ok(all)
}

/// Builds a skippable zstd frame.
fn skippable_frame(bytes: &[u8]) -> Vec<u8> {
    [&0x184d_2a53u32.to_le_bytes(), &(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

#[test]
fn nested_containers_unpack_with_any_chunk_size() {
    let pickle: Vec<u8> =
        [0x80, 4].into_iter().chain((0..100_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8)).collect();
    let mut two_members = gzip(&pickle[..70_000]);
    two_members.extend(gzip(&pickle[70_000..]));
    let two_frames =
        [skippable_frame(b"first"), zstd(&pickle[..70_000]), skippable_frame(b""), zstd(&pickle[70_000..])].concat();
    let files = [
        pickle.clone(),
        gzip(&pickle),
        gzip(&gzip(&two_members)),
        two_members,
        zstd(&pickle),
        gzip(&zstd(&gzip(&two_frames))),
        two_frames,
        html(&pickle),
        gzip(&html(&pickle)),
        html(&html(&zstd(&pickle))),
    ];
    for chunk in [1, 2, 3, 1000, 1 << 20] {
        for file in &files {
            assert!(unpack(file, chunk).unwrap() == pickle, "chunks of {chunk}");
        }
    }
    assert_eq!(unpack(&[0x80], 1).unwrap(), [0x80]);
}

#[test]
fn gzip_header_with_optional_fields_is_parsed() {
    let pickle = [0x80, 4, b'N', b'.'];
    let plain = gzip(&pickle);
    let mut full = vec![0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3];
    full.extend(*b"\x02\x00exname\0a comment\0hc");
    full.extend(&plain[10..]);
    let mut with_empty_extra = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 0, 0];
    with_empty_extra.extend(&plain[10..]);
    for chunk in [1, 7, 100] {
        assert_eq!(unpack(&full, chunk).unwrap(), pickle);
        assert_eq!(unpack(&with_empty_extra, chunk).unwrap(), pickle);
    }
}

#[test]
fn trailing_bytes_are_ignored() {
    let pickle = [0x80, 4, b'N', b'.'];
    for garbage in [&[0; 512][..], b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\xff", b"\x28\xb5", b"hello", b"\n"] {
        for packed in [gzip(&pickle), zstd(&pickle), html(&pickle)] {
            let file = [&packed, garbage].concat();
            for chunk in [1, 3, 1000] {
                assert_eq!(unpack(&file, chunk).unwrap(), pickle, "{garbage:?}");
            }
        }
    }
}

#[test]
fn json_with_whitespace_or_byte_order_mark_is_detected() {
    let blanks = "\n".repeat(3000) + "{}";
    for (file, content) in [("\u{feff}{ }", "{ }"), ("  []", "  []"), ("{", "{"), (&blanks, &blanks)] {
        for chunk in [1, 2, 1000] {
            assert_eq!(unpack(file.as_bytes(), chunk).unwrap(), content.as_bytes());
        }
    }
}

#[test]
fn unsupported_formats_report_error() {
    let whole = gzip(&[0x80, 4, b'.']);
    let mut wrong_check = whole.clone();
    let at = wrong_check.len() - 5;
    wrong_check[at] ^= 1;
    let five_times = (0..5).fold(vec![0x80, 4, b'.'], |bytes, _| gzip(&bytes));
    let frame = zstd(&[0x80, 4, b'N', b'.'].repeat(100));
    let mut wrong_sum = frame.clone();
    *wrong_sum.last_mut().unwrap() ^= 1;
    let page = html(&[0x80, 4, b'N', b'.']);
    let cut_page = &page[..page.len() - 85];
    let cases: [(&[u8], &str); 18] = [
        (&zstd(b""), "the zstd stream is empty"),
        (
            &frame[..frame.len() - 1],
            &format!("the file is cut off after {} bytes, inside the zstd stream", frame.len() - 1),
        ),
        (&wrong_sum, &format!("the zstd stream is damaged near byte {}", frame.len())),
        (
            b"\x28\xb5\x2f\xfd\x00\x90 and more than sixteen bytes",
            "cannot decompress the zstd stream: it needs a window of more than 128 MiB",
        ),
        (
            b"\x28\xb5\x2f\xfd\x21\x07\x01 and more than sixteen bytes",
            "cannot decompress the zstd stream: it needs a dictionary that is not in the file",
        ),
        (
            b"<html>const local_files = [];",
            "this is an HTML page without a snapshot (PyTorch's pages contain one since 2.1), not a PyTorch memory snapshot",
        ),
        (cut_page, &format!("the file is cut off after {} bytes, inside the HTML stream", cut_page.len())),
        (b"<p>\"base64\": \"gA*", "the HTML stream is damaged near byte 17"),
        (b"", "the file is empty"),
        (&gzip(b""), "the gzip stream is empty"),
        (b"\x89PNG\r\n\x1a\n", "this is a PNG image, not a PyTorch memory snapshot"),
        (&gzip(b"\x89PNG\r\n"), "this is a PNG image, not a PyTorch memory snapshot"),
        (b"PK\x03\x04 and more", "this is a zip archive, not a PyTorch memory snapshot"),
        (b"hello", "this is not a PyTorch memory snapshot: it begins with 0x68, a pickle with 0x80"),
        (&whole[..12], "the file is cut off after 12 bytes, inside the gzip stream"),
        (b"\x1f\x8bgarbage that is no deflate", "the gzip stream is damaged near byte 28"),
        (&wrong_check, "the gzip stream is damaged near byte 23"),
        (&five_times, "more than 4 nested layers of compression: not a snapshot"),
    ];
    for (file, text) in cases {
        assert_eq!(unpack(file, 1 << 20).unwrap_err().to_string(), text);
    }
}

#[test]
fn decompression_bomb_reports_error() {
    let zeros = vec![0; 16 << 20];
    let mut bytes = vec![0x80, 4];
    bytes.extend(&zeros);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&bytes).unwrap();
    for _ in 0..16 {
        encoder.write_all(&zeros).unwrap();
    }
    let error = unpack(&encoder.finish().unwrap(), 1 << 20).unwrap_err();
    assert!(matches!(error, ContainerError::Bomb { layer: "gzip", .. }), "{error}");
}
