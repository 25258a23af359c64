//! The layers that files come packed in.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
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

/// A page as `trace_plot` writes it.
pub(crate) fn html(bytes: &[u8]) -> Vec<u8> {
    format!(
        "\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nimport {{add_local_files}} from \
         \"https://cdn.jsdelivr.net/MemoryViz.js\"\nconst local_files = [{{\"name\": \"snapshot.pickle\", \"base64\": \
         \"{}\"}}]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n",
        BASE64_STANDARD.encode(bytes)
    )
    .into_bytes()
}
