//! Resumes an interrupted download: checks whether the rest of the file can be requested, and builds messages for the
//! user.
//!
//! The rest is requested with a plain `Range: bytes=N-` header, which browsers send to other origins without a
//! preflight request. `If-Range` would require a preflight, so the page itself compares the headers of the new response
//! with those of the first one (RFC 9110, sections 13 to 15). Responses of other origins always expose `Content-Length`
//! and `Last-Modified`, but they expose `ETag`, `Content-Range` and `Content-Encoding` only if the server lists them in
//! `Access-Control-Expose-Headers`. Therefore, a server may have sent a header that the page cannot see.

use base::units::Bytes;

/// Delays before the retries, in milliseconds. If the last retry fails, the download fails.
pub const PAUSES_MS: [u32; 5] = [500, 1000, 2000, 4000, 8000];

/// Status and headers of an HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    pub status: u16,
    /// `Content-Encoding` header: the compression of the transfer.
    pub encoding: Option<String>,
    /// `Content-Length` header: the number of transferred bytes, after compression.
    pub length: Option<u64>,
    /// `X-Uncompressed-Length` header: the number of decoded bytes. `memscape serve` sends it with files that it
    /// compresses.
    pub uncompressed: Option<u64>,
    /// `Accept-Ranges` header: `bytes` if the server supports range requests.
    pub ranges: Option<String>,
    /// `ETag` header: identifies the version of the file.
    pub etag: Option<String>,
    /// `Last-Modified` header: the time at which the file was changed.
    pub modified: Option<String>,
    /// `Content-Range` header: the transferred range and the total length.
    pub content_range: Option<String>,
}

/// Reason why a download cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeError {
    /// The transfer is compressed, so an offset in the decoded data does not correspond to an offset in the transfer.
    Compressed,
    /// The server does not send the length of the file, or sends neither `ETag` nor `Last-Modified`, which identify the
    /// version of the file.
    NoVersion,
    /// The server does not support range requests.
    NoRanges,
    Changed,
    WrongRange,
    /// All retries failed. Holds the HTTP status of the last response, if there was one.
    Unreachable(Option<u16>),
}

impl ResponseHead {
    /// Names of the headers that are read, in the order that [`ResponseHead::new`] expects.
    pub const HEADERS: [&str; 7] = [
        "content-encoding",
        "content-length",
        "x-uncompressed-length",
        "accept-ranges",
        "etag",
        "last-modified",
        "content-range",
    ];

    /// Creates a response head from a status and the values of the headers in [`ResponseHead::HEADERS`].
    pub fn new(status: u16, headers: [Option<String>; 7]) -> ResponseHead {
        let [coding, length, uncompressed, ranges, etag, modified, content_range] = headers;
        let number = |text: Option<String>| text.and_then(|text| text.trim().parse().ok());
        let encoding = coding.filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"));
        let (length, uncompressed) = (number(length), number(uncompressed));
        ResponseHead { status, encoding, length, uncompressed, ranges, etag, modified, content_range }
    }

    /// Returns the `ETag` or `Last-Modified` that identifies this version of the file. `None` if the server sends
    /// neither.
    pub fn version(&self) -> Option<String> {
        let tag = self.etag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag));
        tag.or(self.modified.as_deref()).map(str::to_owned)
    }

    /// Returns the total number of decoded bytes, if known. The `Content-Length` of a compressed transfer does not
    /// count decoded bytes.
    pub fn total(&self) -> Option<u64> {
        self.uncompressed.or(self.length.filter(|_| self.encoding.is_none()))
    }

    /// Checks, from the first response, whether the rest of the file from offset `at` can be requested.
    ///
    /// # Errors
    /// Returns the reason if it cannot be requested.
    pub fn can_resume(&self, at: u64) -> Result<(), ResumeError> {
        match self {
            _ if self.encoding.is_some() || self.length.is_some_and(|length| at > length) => {
                Err(ResumeError::Compressed)
            }
            _ if self.ranges.as_deref().is_some_and(|ranges| ranges.trim().eq_ignore_ascii_case("none")) => {
                Err(ResumeError::NoRanges)
            }
            _ if self.length.is_none() || (self.strong_tag().is_none() && self.modified.is_none()) => {
                Err(ResumeError::NoVersion)
            }
            _ => Ok(()),
        }
    }

    /// Checks whether `next`, the response to a request for the bytes from offset `at`, continues the same file.
    ///
    /// # Errors
    /// Returns the reason if it does not. After [`ResumeError::Unreachable`], a retry may succeed.
    pub fn check_rest(&self, next: &ResponseHead, at: u64) -> Result<(), ResumeError> {
        match next.status {
            206 => {}
            // Nothing was received before, so this is the complete file.
            200 if at == 0 => {}
            200 => return Err(ResumeError::NoRanges),
            // The range does not exist any more: the file is shorter now.
            416 => return Err(ResumeError::Changed),
            status => return Err(ResumeError::Unreachable(Some(status))),
        }
        if next.encoding.is_some() {
            return Err(ResumeError::Compressed);
        }
        let differ = |one: Option<&str>, other: Option<&str>| one.zip(other).map(|(one, other)| one != other);
        let tags = differ(self.strong_tag(), next.etag.as_deref());
        let times = differ(self.modified.as_deref(), next.modified.as_deref());
        if tags == Some(true) || times == Some(true) {
            return Err(ResumeError::Changed);
        }
        if tags.or(times).is_none() {
            return Err(ResumeError::NoVersion);
        }
        let whole = self.length.unwrap_or_default();
        let part = next.content_range.as_deref().map(parse_content_range);
        if part
            .is_some_and(|part| part.is_none_or(|(first, last, _)| first != at || last.checked_add(1) != Some(whole)))
        {
            return Err(ResumeError::WrongRange);
        }
        if part.flatten().is_some_and(|(.., total)| total.is_some_and(|total| total != whole)) {
            return Err(ResumeError::Changed);
        }
        if next.length.is_some_and(|length| length != whole.saturating_sub(at)) {
            return Err(ResumeError::WrongRange);
        }
        Ok(())
    }

    /// Returns the `ETag`, unless it is weak. Weak tags do not guarantee identical bytes.
    fn strong_tag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}

/// Parses a `Content-Range` such as `bytes 200-999/1000`: first byte, last byte, and total length if known.
fn parse_content_range(text: &str) -> Option<(u64, u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((first.parse().ok()?, last.parse().ok()?, total))
}

/// Returns the message that the connection was lost and the download is being resumed. `at` is the number of bytes
/// received so far.
pub fn resuming_message(at: u64) -> String {
    format!("Connection lost at {}. Resuming.", Bytes(at))
}

/// Returns the message that the download of the file `name` cannot be resumed. `at` is the number of bytes received.
pub fn failure_message(name: &str, at: u64, error: ResumeError) -> String {
    let cause = match error {
        ResumeError::Compressed => "the server compresses it, so the download cannot be resumed".to_owned(),
        ResumeError::NoVersion => "the server sends no length, ETag or Last-Modified to resume with".to_owned(),
        ResumeError::NoRanges => "the server does not support range requests".to_owned(),
        ResumeError::Changed => "the file on the server has changed".to_owned(),
        ResumeError::WrongRange => "the server sent a different range".to_owned(),
        ResumeError::Unreachable(Some(status)) => format!("the server answered every retry with status {status}"),
        ResumeError::Unreachable(None) => "the server could not be reached again".to_owned(),
    };
    format!("{name} stopped at {}: {cause}. Open the link again, or download the file and drop it here.", Bytes(at))
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/url/resume.rs"]
mod tests;
