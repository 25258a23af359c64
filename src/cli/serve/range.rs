//! Parses the `Range` and `Accept-Encoding` headers.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, RANGE};

/// A range of bytes, with inclusive ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// From a first to a last offset, or to the end of the file.
    From(u64, Option<u64>),
    /// The last bytes of the file. Contains their number.
    Last(u64),
}

impl Range {
    /// Returns the range in a request, or `None` if its `Range` header is missing, invalid or repeated.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Range> {
        let mut values = headers.get_all(RANGE).iter();
        let range = values.next()?.to_str().ok()?;
        if values.next().is_some() { None } else { Range::parse(range) }
    }

    /// Parses a single byte range. Returns `None` for several ranges or other units. The whole file is then sent, as
    /// RFC 9110 allows.
    pub(super) fn parse(value: &str) -> Option<Range> {
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

    /// Returns start and exclusive end of the range in a file of `length` bytes, or `None` if the range is outside the
    /// file.
    pub(super) fn resolve(self, length: u64) -> Option<(u64, u64)> {
        match self {
            Range::From(first, last) => {
                (first < length).then(|| (first, last.map_or(length, |last| last.saturating_add(1).min(length))))
            }
            Range::Last(count) => (count > 0 && length > 0).then(|| (length.saturating_sub(count), length)),
        }
    }
}

/// Returns true if the client accepts gzip-compressed responses.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.any(|value| value.split(',').any(is_gzip))
}

/// Returns true if an entry of `Accept-Encoding` is gzip with a quality above 0.
fn is_gzip(entry: &str) -> bool {
    let mut words = entry.split(';').map(str::trim);
    let is_gzip = words.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
    let is_refused = |word: &str| {
        let quality = word.strip_prefix("q=").or_else(|| word.strip_prefix("Q="));
        quality.is_some_and(|it| it.trim_matches(['0', '.']).is_empty())
    };
    is_gzip && !words.any(is_refused)
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/range.rs"]
mod tests;
