//! A snapshot on its way to the page: as columns, or packed where it is not, because the way is what takes the time
//! (tests/bench/serve.rs); or a range of it as it is, for a page that goes on where the way broke.

use super::columns::{Columns, FileVersion, Peer};
use super::range::{Range, takes_gzip};
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;
use tokio::io::AsyncReadExt;
use ui::html::packing;

/// How much is read at a time.
const READ: u64 = 256 << 10;

/// What says that a body is to be packed on its way, and how long it is unpacked.
pub(super) const UNPACKED: &str = "x-uncompressed-length";

/// The file at `path`, or what is wrong with it.
pub(super) fn snapshot(path: &Path, method: &Method, asked: &HeaderMap, peer: &Peer, columns: &Columns) -> Response {
    match try_snapshot(path, method, asked, peer, columns) {
        Ok(response) => response,
        Err(error) => said(StatusCode::NOT_FOUND, format!("cannot read the file: {error}\n")),
    }
}

fn try_snapshot(
    path: &Path,
    method: &Method,
    asked: &HeaderMap,
    peer: &Peer,
    columns: &Columns,
) -> io::Result<Response> {
    // To open a pipe would wait for somebody who writes into it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let (length, tag) = (metadata.len(), tag(&metadata));
    let octets = (CONTENT_TYPE, "application/octet-stream".to_owned());
    let mut headers = vec![octets.clone(), (ACCEPT_RANGES, "bytes".to_owned())];
    headers.extend(tag.clone().map(|tag| (ETAG, tag)));
    // A range of a file that is another by now would not fit what the page has.
    let known = asked.get(IF_RANGE).map(|known| known.to_str().unwrap_or_default().replace("-gzip", ""));
    let is_same = known.is_none_or(|known| tag.is_some_and(|tag| tag == known));
    if let Some(range) = Range::asked(asked).filter(|_| is_same) {
        let Some((from, to)) = range.within(length) else {
            let refused =
                said(StatusCode::RANGE_NOT_SATISFIABLE, "the range is beyond the end of the file\n".to_owned());
            return Ok(with([(CONTENT_RANGE, format!("bytes */{length}"))], refused));
        };
        file.seek(SeekFrom::Start(from))?;
        headers.push((CONTENT_RANGE, format!("bytes {from}-{}/{length}", to.saturating_sub(1))));
        headers.push((CONTENT_LENGTH, (to - from).to_string()));
        return Ok(with(headers, (StatusCode::PARTIAL_CONTENT, body(file, to - from)).into_response()));
    }
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut first)?;
    let is_packed = packing(&first).is_some();
    if takes_gzip(asked)
        && method == Method::GET
        && let Some(state) = FileVersion::of(path, &metadata)
        && let Some(columns) = columns.of(&state, is_packed, peer)?
    {
        // Parts of it would have to be made again, and it is short.
        return Ok(with([octets, (ACCEPT_RANGES, "none".to_owned())], columns.into_response()));
    }
    file.rewind()?;
    headers.push((CONTENT_LENGTH, length.to_string()));
    let mut response = with(headers, body(file, length).into_response());
    if !is_packed {
        response.headers_mut().insert(UNPACKED, length.into());
    }
    Ok(response)
}

/// A response with these headers instead of its own.
fn with(headers: impl IntoIterator<Item = (axum::http::HeaderName, String)>, mut response: Response) -> Response {
    for (name, value) in headers {
        if let Ok(value) = value.try_into() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A short text.
pub(super) fn said(status: StatusCode, text: String) -> Response {
    (status, text).into_response()
}

/// What tells one state of a file from another; none where the system does not say when it was changed.
pub(super) fn tag(metadata: &Metadata) -> Option<String> {
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos()))
}

/// So many bytes and no more: what is written behind them meanwhile does not count. Where there are fewer, as the file was cut
/// meanwhile, it fails, and the client sees that its body ends early.
fn body(file: File, length: u64) -> Body {
    let file = tokio::fs::File::from_std(file);
    Body::from_stream(stream::try_unfold((file, length), async |(mut file, left)| {
        if left == 0 {
            return Ok(None);
        }
        let mut piece = Vec::with_capacity(left.min(READ) as usize);
        match (&mut file).take(left.min(READ)).read_buf(&mut piece).await? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            count => Ok(Some((Bytes::from(piece), (file, left.saturating_sub(count as u64))))),
        }
    }))
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/sending.rs"]
mod tests;
