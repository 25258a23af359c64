//! Responses that contain a snapshot: converted to columns, as the unchanged file with HTTP compression, or as a byte
//! range, with which the page resumes an interrupted download. Most of the time to open a snapshot is spent on the
//! transfer (tests/bench/serve.rs).

use super::decoded_cache::{DecodedCache, FileVersion, Peer};
use super::range::{Range, takes_gzip};
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE, LOCATION};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;
use tokio::io::AsyncReadExt;
use ui::features::save_page::compression;

/// Number of bytes read at a time.
const READ_BYTES: u64 = 256 << 10;

/// Response header that enables HTTP compression. Its value is the uncompressed length in bytes.
pub(super) const UNCOMPRESSED_LENGTH: &str = "x-uncompressed-length";

/// Responds with the file at `path`, or with status 404 and the error.
pub(super) fn snapshot(
    path: &Path,
    method: &Method,
    headers: &HeaderMap,
    peer: &Peer,
    columns: &DecodedCache,
) -> Response {
    match try_snapshot(path, method, headers, peer, columns) {
        Ok(response) => response,
        Err(error) => text_response(StatusCode::NOT_FOUND, format!("cannot read the file: {error}\n")),
    }
}

fn try_snapshot(
    path: &Path,
    method: &Method,
    request_headers: &HeaderMap,
    peer: &Peer,
    columns: &DecodedCache,
) -> io::Result<Response> {
    // Opening a named pipe would block until it has a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let (length, tag) = (metadata.len(), etag(&metadata));
    let octets = (CONTENT_TYPE, "application/octet-stream".to_owned());
    let mut headers = vec![octets.clone(), (ACCEPT_RANGES, "bytes".to_owned())];
    headers.extend(tag.clone().map(|tag| (ETAG, tag)));
    // If the file has changed since the client's `If-Range`, send the whole new file.
    let known = request_headers.get(IF_RANGE).map(|known| known.to_str().unwrap_or_default().replace("-gzip", ""));
    let is_same = known.is_none_or(|known| tag.is_some_and(|tag| tag == known));
    if let Some(range) = Range::from_headers(request_headers).filter(|_| is_same) {
        let Some((from, to)) = range.resolve(length) else {
            let refused = text_response(
                StatusCode::RANGE_NOT_SATISFIABLE,
                "the range is beyond the end of the file\n".to_owned(),
            );
            return Ok(with_headers([(CONTENT_RANGE, format!("bytes */{length}"))], refused));
        };
        file.seek(SeekFrom::Start(from))?;
        headers.push((CONTENT_RANGE, format!("bytes {from}-{}/{length}", to.saturating_sub(1))));
        headers.push((CONTENT_LENGTH, (to - from).to_string()));
        return Ok(with_headers(headers, (StatusCode::PARTIAL_CONTENT, body(file, to - from)).into_response()));
    }
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut first)?;
    let is_packed = compression(&first).is_some();
    if takes_gzip(request_headers)
        && method == Method::GET
        && let Some(state) = FileVersion::from_metadata(path, &metadata)
        && let Some(columns) = columns.get(&state, is_packed, peer)?
    {
        // Ranges are not supported here: the columns would have to be created again, and they are short.
        return Ok(with_headers([octets, (ACCEPT_RANGES, "none".to_owned())], columns.into_response()));
    }
    file.rewind()?;
    headers.push((CONTENT_LENGTH, length.to_string()));
    let mut response = with_headers(headers, body(file, length).into_response());
    if !is_packed {
        response.headers_mut().insert(UNCOMPRESSED_LENGTH, length.into());
    }
    Ok(response)
}

/// Adds headers to a response.
fn with_headers(
    headers: impl IntoIterator<Item = (axum::http::HeaderName, String)>,
    mut response: Response,
) -> Response {
    for (name, value) in headers {
        if let Ok(value) = value.try_into() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Returns a plain text response.
pub(super) fn text_response(status: StatusCode, text: String) -> Response {
    (status, text).into_response()
}

/// Returns the ETag of a file's current version, or `None` if the system does not report modification times.
pub(super) fn etag(metadata: &Metadata) -> Option<String> {
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos()))
}

/// Returns a response that leads to another address.
pub(super) fn redirect(address: &str) -> Response {
    (StatusCode::FOUND, [(LOCATION, address)]).into_response()
}

/// Streams the first `length` bytes of a file. Bytes that are appended later are not sent. If the file becomes shorter,
/// the stream fails, and the client detects an incomplete body.
fn body(file: File, length: u64) -> Body {
    let file = tokio::fs::File::from_std(file);
    Body::from_stream(stream::try_unfold((file, length), async |(mut file, left)| {
        if left == 0 {
            return Ok(None);
        }
        let mut piece = Vec::with_capacity(left.min(READ_BYTES) as usize);
        match (&mut file).take(left.min(READ_BYTES)).read_buf(&mut piece).await? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            count => Ok(Some((Bytes::from(piece), (file, left.saturating_sub(count as u64))))),
        }
    }))
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/sending.rs"]
mod tests;
