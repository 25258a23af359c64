//! Resuming an interrupted download: decides whether the rest of the file can be requested, and builds the messages.
//!
//! The rest is requested with a plain `Range: bytes=N-` header, which browsers send to other origins without a
//! preflight. `If-Range` would need one, so the page compares the headers of the new response with those of the first
//! (RFC 9110, sections 13 to 15). Responses of other origins always expose `Content-Length` and `Last-Modified`, but
//! `ETag`, `Content-Range` and `Content-Encoding` only if the server lists them in `Access-Control-Expose-Headers`. A
//! missing header therefore proves nothing.

use base::units::Bytes;

/// Delay before each retry, in milliseconds. After the last one, the download fails.
pub const PAUSES_MS: [u32; 5] = [500, 1000, 2000, 4000, 8000];

/// Status and headers of an HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// `Content-Encoding`.
    pub coding: Option<String>,
    /// `Content-Length`: number of transferred bytes, after compression.
    pub length: Option<u64>,
    /// `X-Uncompressed-Length`: number of decoded bytes. `memscape serve` sends it with files that it compresses.
    pub uncompressed: Option<u64>,
    /// `Accept-Ranges`.
    pub ranges: Option<String>,
    /// `ETag`.
    pub tag: Option<String>,
    /// `Last-Modified`.
    pub modified: Option<String>,
    /// `Content-Range`.
    pub part: Option<String>,
}

/// Reason why a download cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The transfer is compressed, so an offset in the decoded data is not an offset in the transfer.
    Coded,
    /// The server sends no length, or neither `ETag` nor `Last-Modified` to identify the version of the file.
    Unnamed,
    /// The server does not support range requests.
    NoParts,
    Changed,
    OtherPart,
    /// Every retry failed. Holds the status of the last response, if there was one.
    Gone(Option<u16>),
}

impl Answer {
    /// Names of the headers that are read.
    pub const HEADERS: [&str; 7] = [
        "content-encoding",
        "content-length",
        "x-uncompressed-length",
        "accept-ranges",
        "etag",
        "last-modified",
        "content-range",
    ];

    /// Creates a response from a status and the values of [`Answer::HEADERS`].
    pub fn of(status: u16, headers: [Option<String>; 7]) -> Answer {
        let [coding, length, uncompressed, ranges, tag, modified, part] = headers;
        let number = |text: Option<String>| text.and_then(|text| text.trim().parse().ok());
        let coding = coding.filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"));
        let (length, uncompressed) = (number(length), number(uncompressed));
        Answer { status, coding, length, uncompressed, ranges, tag, modified, part }
    }

    /// Returns the `ETag` or `Last-Modified` that identifies this version of the file. `None` if the server sends
    /// neither.
    pub fn version(&self) -> Option<String> {
        let tag = self.tag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag));
        tag.or(self.modified.as_deref()).map(str::to_owned)
    }

    /// Returns the number of decoded bytes, if known. The `Content-Length` of a compressed transfer is not that number.
    pub fn total(&self) -> Option<u64> {
        self.uncompressed.or(self.length.filter(|_| self.coding.is_none()))
    }

    /// Checks by the first response whether the data from offset `at` on can be requested.
    ///
    /// # Errors
    /// Returns the reason if it cannot.
    pub fn can_go_on(&self, at: u64) -> Result<(), Why> {
        match self {
            _ if self.coding.is_some() || self.length.is_some_and(|length| at > length) => Err(Why::Coded),
            _ if self.ranges.as_deref().is_some_and(|ranges| ranges.trim().eq_ignore_ascii_case("none")) => {
                Err(Why::NoParts)
            }
            _ if self.length.is_none() || (self.strong_tag().is_none() && self.modified.is_none()) => Err(Why::Unnamed),
            _ => Ok(()),
        }
    }

    /// Checks whether `next`, the response to a request from offset `at` on, continues the same file.
    ///
    /// # Errors
    /// Returns the reason if it does not. After [`Why::Gone`], a retry may succeed.
    pub fn goes_on(&self, next: &Answer, at: u64) -> Result<(), Why> {
        match next.status {
            206 => {}
            // Nothing was received before, so this is the complete file.
            200 if at == 0 => {}
            200 => return Err(Why::NoParts),
            // The range does not exist any more: the file is shorter now.
            416 => return Err(Why::Changed),
            status => return Err(Why::Gone(Some(status))),
        }
        if next.coding.is_some() {
            return Err(Why::Coded);
        }
        let differ = |one: Option<&str>, other: Option<&str>| one.zip(other).map(|(one, other)| one != other);
        let tags = differ(self.strong_tag(), next.tag.as_deref());
        let times = differ(self.modified.as_deref(), next.modified.as_deref());
        if tags == Some(true) || times == Some(true) {
            return Err(Why::Changed);
        }
        if tags.or(times).is_none() {
            return Err(Why::Unnamed);
        }
        let whole = self.length.unwrap_or_default();
        let part = next.part.as_deref().map(part);
        if part
            .is_some_and(|part| part.is_none_or(|(first, last, _)| first != at || last.checked_add(1) != Some(whole)))
        {
            return Err(Why::OtherPart);
        }
        if part.flatten().is_some_and(|(.., of)| of.is_some_and(|of| of != whole)) {
            return Err(Why::Changed);
        }
        if next.length.is_some_and(|length| length != whole.saturating_sub(at)) {
            return Err(Why::OtherPart);
        }
        Ok(())
    }

    /// Returns the `ETag` unless it is weak. Weak tags do not guarantee identical bytes.
    fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}

/// Parses a `Content-Range` such as `bytes 200-999/1000`: first byte, last byte, and total length if known.
fn part(text: &str) -> Option<(u64, u64, Option<u64>)> {
    let (range, of) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let of = if of == "*" { None } else { Some(of.parse().ok()?) };
    Some((first.parse().ok()?, last.parse().ok()?, of))
}

/// Returns the message that the connection was lost and the download resumes.
pub fn going_on(at: u64) -> String {
    format!("Connection lost at {}. Resuming.", Bytes(at))
}

/// Returns the message that the connection was lost and the download cannot be resumed.
pub fn given_up(name: &str, at: u64, why: Why) -> String {
    let cause = match why {
        Why::Coded => "the server compresses it, so the download cannot be resumed".to_owned(),
        Why::Unnamed => "the server sends no length, ETag or Last-Modified to resume with".to_owned(),
        Why::NoParts => "the server does not support range requests".to_owned(),
        Why::Changed => "the file on the server has changed".to_owned(),
        Why::OtherPart => "the server sent a different range".to_owned(),
        Why::Gone(Some(status)) => format!("the server answered every retry with status {status}"),
        Why::Gone(None) => "the server could not be reached again".to_owned(),
    };
    format!("{name} stopped at {}: {cause}. Open the link again, or download the file and drop it here.", Bytes(at))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/url/resume.rs"]
mod tests;
