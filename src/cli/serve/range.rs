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
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn gzip_is_for_who_takes_it() {
        let gzip = |value| takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]));
        assert!(gzip("gzip") && gzip("br, GZIP;q=0.5"));
        assert!(!gzip("gzip;q=0") && !gzip("gzip; q=0.000") && !gzip("identity"));
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
