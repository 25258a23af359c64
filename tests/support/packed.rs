//! Compresses files and embeds them in HTML.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

/// Returns a gzip file with one member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a zstd file with one frame.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Returns an HTML page as written by PyTorch's `trace_plot`.
pub(crate) fn html(bytes: &[u8]) -> Vec<u8> {
    format!(
        "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nimport {{add_local_files}} from \
         \"https://cdn.jsdelivr.net/MemoryViz.js\"\nconst local_files = [{{\"name\": \"snapshot.pickle\", \"base64\": \
         \"{}\"}}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n",
        BASE64_STANDARD.encode(bytes)
    )
    .into_bytes()
}
