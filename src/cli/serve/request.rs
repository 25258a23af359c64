//! The head of a request, read strictly: what is not plainly one request for one thing is refused (RFC 9112).

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A browser's heads are about a thousand bytes; ours has no cookies.
const LONGEST_HEAD: usize = 16 << 10;
/// How long a client may take over its head: on a loopback it comes at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    /// Whether the body is left out.
    pub(super) method: Method,
    /// Without its leading slash, query and fragment; still percent-encoded.
    pub(super) path: String,
    /// The `Host` line: who the client thinks we are.
    pub(super) host: String,
    /// Whether it takes gzip.
    pub(super) gzip: bool,
    /// Which bytes it wants; all without.
    pub(super) range: Option<Range>,
    /// The state of the file that the range is of, as an `ETag` told it.
    pub(super) if_range: Option<String>,
}

/// What is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Method {
    /// The whole answer is sent.
    #[default]
    Get,
    /// Its head alone.
    Head,
}

/// Bytes of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// From here on, to there or to the end.
    From(u64, Option<u64>),
    /// The last so many.
    Last(u64),
}

impl Range {
    /// One range of bytes. Several, or another unit, are none: then the whole is sent, as RFC 9110 allows.
    fn of(value: &str) -> Option<Range> {
        let number = |digits: &str| digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        match value.strip_prefix("bytes=")?.trim().split_once('-')? {
            ("", last) => Some(Range::Last(number(last)?)),
            (first, "") => Some(Range::From(number(first)?, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Range::From(first, Some(last)))
            }
        }
    }

    /// The first byte and the one behind the last, of so many; `None` where the file has none of them.
    pub(super) fn within(self, length: u64) -> Option<(u64, u64)> {
        match self {
            Range::From(first, last) => {
                (first < length).then(|| (first, last.map_or(length, |last| last.saturating_add(1).min(length))))
            }
            Range::Last(count) => (count > 0 && length > 0).then(|| (length.saturating_sub(count), length)),
        }
    }
}

/// Why a request is refused: a status line, and a sentence for people.
pub(super) type Refusal = (&'static str, &'static str);

const UNCLEAR: Refusal = ("400 Bad Request", "this is no request that is understood here\n");

/// Reads a head; `None` where the client says nothing, or too slowly.
///
/// # Errors
/// The system's.
pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Result<Asked, Refusal>>> {
    let deadline = Instant::now() + PATIENCE;
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Ok(None);
        }
        // The end may lie across two pieces.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(piece.get(..count).unwrap_or_default());
        let end = head.get(from..).and_then(|new| new.windows(4).position(|four| four == b"\r\n\r\n"));
        if let Some(end) = end {
            return Ok(Some(parsed(head.get(..from + end).unwrap_or_default())));
        }
        if head.len() > LONGEST_HEAD {
            let text = "the head of this request is too long\n";
            return Ok(Some(Err(("431 Request Header Fields Too Large", text))));
        }
    }
}

/// Reads a head without the empty line at its end.
fn parsed(head: &[u8]) -> Result<Asked, Refusal> {
    let head = str::from_utf8(head).map_err(|_| UNCLEAR)?;
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = words.as_slice() else { return Err(UNCLEAR) };
    let minor = version.strip_prefix("HTTP/1.").filter(|minor| ["0", "1"].contains(minor));
    let minor = minor.ok_or(("505 HTTP Version Not Supported", "only HTTP/1.1\n"))?;
    let mut asked = Asked::default();
    let (mut hosts, mut ranges) = (0, 0);
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(UNCLEAR)?;
        // A blank before the colon, or a line that goes on the one before, has fooled servers into reading two different requests.
        if name.is_empty() || name.bytes().any(|it| !it.is_ascii_graphic()) || value.contains(['\r', '\n', '\0']) {
            return Err(UNCLEAR);
        }
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => {
                hosts += 1;
                value.clone_into(&mut asked.host);
            }
            "accept-encoding" => asked.gzip |= value.split(',').any(takes_gzip),
            "range" => {
                ranges += 1;
                asked.range = Range::of(value);
            }
            "if-range" => asked.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    if hosts != 1 {
        return Err(("400 Bad Request", "a request has one Host\n"));
    }
    if ranges > 1 {
        asked.range = None;
    }
    // Chunks, which gzip on the fly needs, came with 1.1.
    asked.gzip &= minor == "1";
    asked.method = match *method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => return Err(("405 Method Not Allowed", "only GET and HEAD\n")),
    };
    // `http://…` and `*` are for proxies: nobody who opens this page needs them.
    let path = target.strip_prefix('/').ok_or(UNCLEAR)?;
    path.split(['?', '#']).next().unwrap_or_default().clone_into(&mut asked.path);
    Ok(asked)
}

/// Whether an entry of `Accept-Encoding` is gzip, and not to say that it is not taken.
fn takes_gzip(entry: &str) -> bool {
    let mut words = entry.split(';').map(str::trim);
    let is_gzip = words.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
    let is_refused = |word: &str| {
        let quality = word.strip_prefix("q=").or_else(|| word.strip_prefix("Q="));
        quality.is_some_and(|it| it.trim_matches(['0', '.']).is_empty())
    };
    is_gzip && !words.any(is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> &'static str {
        parsed(head.as_bytes()).map_or_else(|(status, _)| status, |_| "200 OK")
    }

    #[test]
    fn a_browser_is_understood() {
        let head = "GET /token/3/a%20b.pickle?x#y HTTP/1.1\r\nhost:localhost:8765\r\nAccept-Encoding: gzip, deflate, br\r\n\
                    RANGE: bytes=7-\r\nIf-Range: \"12-34\"";
        let expected = Asked {
            method: Method::Get,
            path: "token/3/a%20b.pickle".to_owned(),
            host: "localhost:8765".to_owned(),
            gzip: true,
            range: Some(Range::From(7, None)),
            if_range: Some("\"12-34\"".to_owned()),
        };
        assert_eq!(parsed(head.as_bytes()), Ok(expected));
    }

    #[test]
    fn what_is_not_plainly_one_request_is_refused() {
        for head in [
            "",
            "GET",
            "GET /",
            "GET  / HTTP/1.1\r\nHost: a",
            "GET / HTTP/1.1 x\r\nHost: a",
            "GET x HTTP/1.1\r\nHost: a",
            "GET http://localhost/ HTTP/1.1\r\nHost: localhost",
            "OPTIONS * HTTP/1.1",
            "GET / HTTP/1.1",
            "GET / HTTP/1.0",
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil",
            "GET / HTTP/1.1\r\nHost : localhost",
            "GET / HTTP/1.1\r\nHost: localhost\r\n folded: x",
            "GET / HTTP/1.1\r\nHost: localhost\nX: y",
            "GET / HTTP/1.1\r\nHost: localhost\r\nnothing",
        ] {
            assert_eq!(status(head), "400 Bad Request", "{head:?}");
        }
        assert_eq!(parsed(b"GET /\xff HTTP/1.1\r\nHost: a").map_err(|(status, _)| status), Err("400 Bad Request"));
        assert_eq!(status("GET / HTTP/2.0\r\nHost: a"), "505 HTTP Version Not Supported");
        assert_eq!(status("POST / HTTP/1.1\r\nHost: a"), "405 Method Not Allowed");
        assert_eq!(status("HEAD / HTTP/1.0\r\nHost: a"), "200 OK");
    }

    #[test]
    fn gzip_is_for_who_takes_it() {
        let gzip = |version: &str, value: &str| {
            let head = format!("GET / HTTP/1.{version}\r\nHost: a\r\nAccept-Encoding: {value}");
            parsed(head.as_bytes()).unwrap().gzip
        };
        assert!(gzip("1", "gzip") && gzip("1", "br, GZIP;q=0.5"));
        assert!(!gzip("1", "gzip;q=0") && !gzip("1", "gzip; q=0.000") && !gzip("1", "identity") && !gzip("0", "gzip"));
    }

    #[test]
    fn ranges_lie_within_the_file() {
        let within = |value: &str| Range::of(value).map(|range| range.within(100));
        assert_eq!(within("bytes=10-19"), Some(Some((10, 20))));
        assert_eq!(within("bytes=10-"), Some(Some((10, 100))));
        assert_eq!(within("bytes=10-18446744073709551615"), Some(Some((10, 100))));
        assert_eq!(within("bytes=-30"), Some(Some((70, 100))));
        assert_eq!(within("bytes=-300"), Some(Some((0, 100))));
        assert_eq!((within("bytes=100-"), within("bytes=-0")), (Some(None), Some(None)));
        assert_eq!(Range::Last(1).within(0), None);
        for wrong in [
            "10-",
            "bytes=",
            "bytes=-",
            "bytes=9-5",
            "bytes=1-2,5-6",
            "bytes=+1-",
            "bytes=99999999999999999999-",
            "lines=1-2",
        ] {
            assert_eq!(Range::of(wrong), None, "{wrong}");
        }
    }
}
