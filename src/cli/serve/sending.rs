//! A snapshot on its way to the page: as columns, or packed where it is not, because the way is what takes the time
//! (tests/bench/serve.rs); or a range of it as it is, for a page that goes on where the way broke.

use super::columns::{Columns, State};
use super::http::Response;
use super::peer::Peer;
use super::request::{Asked, Method, Range};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::SystemTime;

/// How much is read, and how much is packed, at a time: a chunk of the answer.
const READ: usize = 256 << 10;
const CHUNK: usize = 64 << 10;

/// The file at `path`, or what is wrong with it.
pub(super) fn snapshot(path: &Path, asked: &Asked, peer: &Peer, columns: &Columns) -> Response {
    match try_snapshot(path, asked, peer, columns) {
        Ok(response) => response,
        Err(error) => Response::text("404 Not Found", format!("it can't be read any more: {error}\n")),
    }
}

fn try_snapshot(path: &Path, asked: &Asked, peer: &Peer, columns: &Columns) -> io::Result<Response> {
    // To open a pipe would wait for somebody who writes into it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let (length, tag) = (metadata.len(), tag(&metadata));
    let mut headers = vec!["Content-Type: application/octet-stream".to_owned(), "Accept-Ranges: bytes".to_owned()];
    // A range of a file that is another by now would not fit what the page has.
    let is_same =
        asked.if_range.as_deref().is_none_or(|known| tag.iter().any(|tag| *tag == known.replace("-gzip", "")));
    if let Some(range) = asked.range.filter(|_| is_same) {
        headers.extend(tag.map(|tag| format!("ETag: {tag}")));
        return part(file, range, length, headers);
    }
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(4).read_to_end(&mut first)?;
    let is_packed = super::packing(&first).is_some();
    if asked.gzip
        && asked.method == Method::Get
        && let Some(state) = State::of(path, &metadata)
        && let Some(columns) = columns.of(&state, is_packed, peer)?
    {
        // Parts of it would have to be made anew, and it is short.
        let headers = ["Content-Type: application/octet-stream", "Accept-Ranges: none"].map(str::to_owned).to_vec();
        let length = Some(columns.len() as u64);
        return Ok(Response { status: "200 OK", headers, length, body: Box::new(move |out| out.write_all(&columns)) });
    }
    let source = io::Cursor::new(first).chain(file);
    if is_packed || !asked.gzip {
        headers.extend(tag.map(|tag| format!("ETag: {tag}")));
        let body = Box::new(move |out: &mut dyn Write| copied(source, length, out));
        return Ok(Response { status: "200 OK", headers, length: Some(length), body });
    }
    // Another body of the same file has another tag (RFC 9110, 8.8.3.3).
    headers.extend(tag.map(|tag| format!("ETag: {}-gzip\"", tag.trim_end_matches('"'))));
    headers.push("Content-Encoding: gzip".to_owned());
    headers.push("Vary: Accept-Encoding".to_owned());
    headers.push(format!("X-Uncompressed-Length: {length}"));
    let body = Box::new(move |out: &mut dyn Write| {
        let mut gzip = GzEncoder::new(BufWriter::with_capacity(CHUNK, out), Compression::fast());
        copied(source, length, &mut gzip)?;
        gzip.finish()?.flush()
    });
    Ok(Response { status: "200 OK", headers, length: None, body })
}

fn part(mut file: File, range: Range, length: u64, mut headers: Vec<String>) -> io::Result<Response> {
    let Some((from, to)) = range.within(length) else {
        let mut response = Response::text("416 Range Not Satisfiable", "the file is not so long\n");
        response.headers.push(format!("Content-Range: bytes */{length}"));
        return Ok(response);
    };
    file.seek(SeekFrom::Start(from))?;
    headers.push(format!("Content-Range: bytes {from}-{}/{length}", to.saturating_sub(1)));
    let body = Box::new(move |out: &mut dyn Write| copied(file, to - from, out));
    Ok(Response { status: "206 Partial Content", headers, length: Some(to - from), body })
}

/// What tells one state of a file from another; none where the system does not say when it was changed.
fn tag(metadata: &Metadata) -> Option<String> {
    let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos()))
}

/// So many bytes and no more: what is written behind them meanwhile does not count.
///
/// # Errors
/// The system's, or there are fewer: the file was cut meanwhile. The client then sees that its body ends early.
fn copied(source: impl Read, length: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut source = source.take(length);
    let mut piece = vec![0; READ];
    let mut left = length;
    while left > 0 {
        let count = source.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out.write_all(piece.get(..count).unwrap_or_default())?;
        left = left.saturating_sub(count as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("memscape-sending-{name}-{}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        path
    }

    fn snapshot(path: &Path, asked: &Asked) -> Response {
        super::snapshot(path, asked, &Peer::default(), &Columns::default())
    }

    fn body(response: Response) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (response.body)(&mut bytes).map(|()| bytes)
    }

    fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
        response.headers.iter().find_map(|header| header.strip_prefix(name)?.strip_prefix(": "))
    }

    #[test]
    fn what_is_packed_is_sent_as_it_is() {
        let asked = Asked { gzip: true, ..Asked::default() };
        for head in [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd", b"PK\x03\x04"] {
            let path = file("packed", head);
            let response = snapshot(&path, &asked);
            assert_eq!((response.length, header(&response, "Content-Encoding")), (Some(4), None));
            assert_eq!(body(response).unwrap(), head);
            fs::remove_file(path).unwrap();
        }
        let path = file("plain", &[b'x'; 300_000]);
        let response = snapshot(&path, &asked);
        assert_eq!((response.length, header(&response, "X-Uncompressed-Length")), (None, Some("300000")));
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&*body(response).unwrap()).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == [b'x'; 300_000]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_range_is_of_the_state_that_was_seen() {
        let path = file("range", b"0123456789");
        let range = Some(Range::From(4, None));
        let whole = snapshot(&path, &Asked { gzip: true, ..Asked::default() });
        let tag = header(&whole, "ETag").unwrap().to_owned();
        assert!(tag.ends_with("-gzip\""), "{tag}");
        for if_range in [None, Some(tag.clone()), Some(tag.replace("-gzip", ""))] {
            let part = snapshot(&path, &Asked { range, if_range, gzip: true, ..Asked::default() });
            assert_eq!((part.status, header(&part, "Content-Range")), ("206 Partial Content", Some("bytes 4-9/10")));
            assert_eq!(header(&part, "Content-Encoding"), None);
            assert_eq!(body(part).unwrap(), b"456789");
        }
        let beyond = snapshot(&path, &Asked { range: Some(Range::From(10, None)), ..Asked::default() });
        assert_eq!(
            (beyond.status, header(&beyond, "Content-Range")),
            ("416 Range Not Satisfiable", Some("bytes */10"))
        );
        fs::write(&path, b"another state").unwrap();
        let whole = snapshot(&path, &Asked { range, if_range: Some(tag), ..Asked::default() });
        assert_eq!((whole.status, body(whole).unwrap().as_slice()), ("200 OK", &b"another state"[..]));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_ends_the_connection_early() {
        let path = file("cut", &[b'x'; 1000]);
        let responses = [true, false].map(|gzip| snapshot(&path, &Asked { gzip, ..Asked::default() }));
        fs::write(&path, b"xxxx").unwrap();
        assert!(responses.into_iter().all(|response| body(response).is_err()));
        // One that grew is sent as it was.
        let response = snapshot(&path, &Asked::default());
        fs::write(&path, b"xxxxyyyy").unwrap();
        assert_eq!(body(response).unwrap(), b"xxxx");
        fs::remove_file(&path).unwrap();
        assert_eq!(snapshot(&path, &Asked::default()).status, "404 Not Found");
        assert_eq!(snapshot(&std::env::temp_dir(), &Asked::default()).status, "404 Not Found");
    }
}
