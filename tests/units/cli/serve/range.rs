//! Unit tests of `src/cli/serve/range.rs`.

use super::*;
use axum::http::HeaderValue;

#[test]
fn gzip_is_sent_only_if_accepted() {
    let gzip = |value| takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]));
    assert!(gzip("gzip") && gzip("br, GZIP;q=0.5"));
    assert!(!gzip("gzip;q=0") && !gzip("gzip; q=0.000") && !gzip("identity"));
}

#[test]
fn range_is_clamped_to_file_size() {
    let within = |value: &str| Range::parse(value).map(|range| range.resolve(100));
    assert_eq!(within("bytes=10-19"), Some(Some((10, 20))));
    assert_eq!(within("bytes=10-"), Some(Some((10, 100))));
    assert_eq!(within("bytes=10-18446744073709551615"), Some(Some((10, 100))));
    assert_eq!(within("bytes=-30"), Some(Some((70, 100))));
    assert_eq!(within("bytes=-300"), Some(Some((0, 100))));
    assert_eq!((within("bytes=100-"), within("bytes=-0")), (Some(None), Some(None)));
    assert_eq!(Range::Last(1).resolve(0), None);
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
        assert_eq!(Range::parse(wrong), None, "{wrong}");
    }
}
