//! The layers that files come packed in.

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

/// One member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One frame.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let digit = |at: usize| char::from(digits[(word >> (18 - 6 * at)) as usize % 64]);
        text.extend((0..4).map(|at| if at <= three.len() { digit(at) } else { '=' }));
    }
    text
}

/// A page as `trace_plot` writes it.
pub(crate) fn html(bytes: &[u8]) -> Vec<u8> {
    format!(
        "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nimport {{add_local_files}} from \
         \"https://cdn.jsdelivr.net/MemoryViz.js\"\nconst local_files = [{{\"name\": \"snapshot.pickle\", \"base64\": \
         \"{}\"}}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n",
        base64(bytes)
    )
    .into_bytes()
}
