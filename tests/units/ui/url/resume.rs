//! Unit tests of `src/ui/text/url/resume.rs`.

use super::*;

fn first() -> ResponseHead {
    let text = |text: &str| Some(text.to_owned());
    ResponseHead {
        status: 200,
        length: Some(1000),
        etag: text("\"a\""),
        modified: text("Mon"),
        ..ResponseHead::default()
    }
}

fn rest() -> ResponseHead {
    ResponseHead { status: 206, length: Some(800), content_range: Some("bytes 200-999/1000".into()), ..first() }
}

#[test]
fn download_resumes_with_rest_of_same_file() {
    assert_eq!((first().can_resume(200), first().check_rest(&rest(), 200)), (Ok(()), Ok(())));
    // Headers that are visible across origins without CORS exposure.
    let plain = |answer: ResponseHead| ResponseHead { etag: None, content_range: None, ..answer };
    assert_eq!(plain(first()).check_rest(&plain(rest()), 200), Ok(()));
    let of_any = ResponseHead { content_range: Some("bytes 200-999/*".into()), ..rest() };
    assert_eq!(first().check_rest(&of_any, 200), Ok(()));
}

#[test]
fn download_without_bytes_restarts() {
    assert_eq!(first().check_rest(&first(), 0), Ok(()));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(first().check_rest(&ResponseHead { etag: text("\"b\""), ..first() }, 0), Err(ResumeError::Changed));
    assert_eq!(first().check_rest(&ResponseHead { length: Some(800), ..first() }, 0), Err(ResumeError::WrongRange));
}

#[test]
fn download_that_cannot_resume_reports_reason() {
    let text = |text: &str| Some(text.to_owned());
    let may = |answer: ResponseHead| answer.can_resume(200);
    assert_eq!(may(ResponseHead { encoding: text("gzip"), ..first() }), Err(ResumeError::Compressed));
    assert_eq!(
        may(ResponseHead { length: Some(100), ..first() }),
        Err(ResumeError::Compressed),
        "a content coding that CORS hides"
    );
    assert_eq!(may(ResponseHead { ranges: text("none"), ..first() }), Err(ResumeError::NoRanges));
    assert_eq!(may(ResponseHead { length: None, ..first() }), Err(ResumeError::NoVersion));
    assert_eq!(may(ResponseHead { etag: text("W/\"a\""), modified: None, ..first() }), Err(ResumeError::NoVersion));
    for (next, why) in [
        (ResponseHead { status: 200, ..rest() }, ResumeError::NoRanges),
        (ResponseHead { status: 416, ..rest() }, ResumeError::Changed),
        (ResponseHead { status: 503, ..rest() }, ResumeError::Unreachable(Some(503))),
        (ResponseHead { encoding: text("gzip"), ..rest() }, ResumeError::Compressed),
        (ResponseHead { etag: text("\"b\""), ..rest() }, ResumeError::Changed),
        (ResponseHead { modified: text("Tue"), ..rest() }, ResumeError::Changed),
        (ResponseHead { etag: None, modified: None, ..rest() }, ResumeError::NoVersion),
        (ResponseHead { content_range: text("bytes 0-999/1000"), ..rest() }, ResumeError::WrongRange),
        (ResponseHead { content_range: text("bytes 200-899/1000"), ..rest() }, ResumeError::WrongRange),
        (ResponseHead { content_range: text("bytes 200-999/2000"), ..rest() }, ResumeError::Changed),
        (ResponseHead { content_range: text("lines 1-2"), ..rest() }, ResumeError::WrongRange),
        (ResponseHead { content_range: text("bytes 200-18446744073709551615/*"), ..rest() }, ResumeError::WrongRange),
        (ResponseHead { length: Some(801), ..rest() }, ResumeError::WrongRange),
    ] {
        assert_eq!(first().check_rest(&next, 200), Err(why), "{next:?}");
        assert!(failure_message("a.pickle", 200, why).contains("drop it here"));
    }
}

#[test]
fn total_length_is_in_uncompressed_bytes() {
    let head = |coding: &str, length: &str, uncompressed: Option<&str>| {
        let text = |text: &str| Some(text.to_owned());
        let headers = [text(coding), text(length), uncompressed.map(str::to_owned), None, None, None, None];
        ResponseHead::new(200, headers).total()
    };
    assert_eq!(head("identity", "12", None), Some(12));
    assert_eq!(head("gzip", "12", None), None);
    assert_eq!(head("gzip", "12", Some("34")), Some(34));
    assert_eq!(head("identity", "12, 12", None), None, "not a number");
}
