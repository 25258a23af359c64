//! What a request wants of a file: a range of bytes, and whether packed.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, RANGE};

/// Bytes of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// From here on, to there or to the end.
    From(u64, Option<u64>),
    /// The last so many.
    Last(u64),
}

impl Range {
    /// The range that a request asks for; none without it, and where it asks twice.
    pub(super) fn asked(headers: &HeaderMap) -> Option<Range> {
        let mut values = headers.get_all(RANGE).iter();
        let range = values.next()?.to_str().ok()?;
        if values.next().is_some() { None } else { Range::of(range) }
    }

    /// One range of bytes. Several, or another unit, are none: then the whole is sent, as RFC 9110 allows.
    pub(super) fn of(value: &str) -> Option<Range> {
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

/// Whether the client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.any(|value| value.split(',').any(is_gzip))
}

/// Whether an entry of `Accept-Encoding` is gzip, and not to say that it is not taken.
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
