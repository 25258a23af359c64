//! Unit tests of `src/ui/url/resume.rs`.

use super::*;

fn first() -> Answer {
    let text = |text: &str| Some(text.to_owned());
    Answer { status: 200, length: Some(1000), tag: text("\"a\""), modified: text("Mon"), ..Answer::default() }
}

fn rest() -> Answer {
    Answer { status: 206, length: Some(800), part: Some("bytes 200-999/1000".into()), ..first() }
}

#[test]
fn download_resumes_with_rest_of_same_file() {
    assert_eq!((first().can_go_on(200), first().goes_on(&rest(), 200)), (Ok(()), Ok(())));
    // Headers that are visible across origins without CORS exposure.
    let plain = |answer: Answer| Answer { tag: None, part: None, ..answer };
    assert_eq!(plain(first()).goes_on(&plain(rest()), 200), Ok(()));
    let of_any = Answer { part: Some("bytes 200-999/*".into()), ..rest() };
    assert_eq!(first().goes_on(&of_any, 200), Ok(()));
}

#[test]
fn download_without_bytes_restarts() {
    assert_eq!(first().goes_on(&first(), 0), Ok(()));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(first().goes_on(&Answer { tag: text("\"b\""), ..first() }, 0), Err(Why::Changed));
    assert_eq!(first().goes_on(&Answer { length: Some(800), ..first() }, 0), Err(Why::OtherPart));
}

#[test]
fn download_that_cannot_resume_reports_reason() {
    let text = |text: &str| Some(text.to_owned());
    let may = |answer: Answer| answer.can_go_on(200);
    assert_eq!(may(Answer { coding: text("gzip"), ..first() }), Err(Why::Coded));
    assert_eq!(may(Answer { length: Some(100), ..first() }), Err(Why::Coded), "a content coding that CORS hides");
    assert_eq!(may(Answer { ranges: text("none"), ..first() }), Err(Why::NoParts));
    assert_eq!(may(Answer { length: None, ..first() }), Err(Why::Unnamed));
    assert_eq!(may(Answer { tag: text("W/\"a\""), modified: None, ..first() }), Err(Why::Unnamed));
    for (next, why) in [
        (Answer { status: 200, ..rest() }, Why::NoParts),
        (Answer { status: 416, ..rest() }, Why::Changed),
        (Answer { status: 503, ..rest() }, Why::Gone(Some(503))),
        (Answer { coding: text("gzip"), ..rest() }, Why::Coded),
        (Answer { tag: text("\"b\""), ..rest() }, Why::Changed),
        (Answer { modified: text("Tue"), ..rest() }, Why::Changed),
        (Answer { tag: None, modified: None, ..rest() }, Why::Unnamed),
        (Answer { part: text("bytes 0-999/1000"), ..rest() }, Why::OtherPart),
        (Answer { part: text("bytes 200-899/1000"), ..rest() }, Why::OtherPart),
        (Answer { part: text("bytes 200-999/2000"), ..rest() }, Why::Changed),
        (Answer { part: text("lines 1-2"), ..rest() }, Why::OtherPart),
        (Answer { part: text("bytes 200-18446744073709551615/*"), ..rest() }, Why::OtherPart),
        (Answer { length: Some(801), ..rest() }, Why::OtherPart),
    ] {
        assert_eq!(first().goes_on(&next, 200), Err(why), "{next:?}");
        assert!(given_up("a.pickle", 200, why).contains("drop it here"));
    }
}

#[test]
fn total_counts_uncompressed_bytes() {
    let head = |coding: &str, length: &str, uncompressed: Option<&str>| {
        let text = |text: &str| Some(text.to_owned());
        let headers = [text(coding), text(length), uncompressed.map(str::to_owned), None, None, None, None];
        Answer::of(200, headers).total()
    };
    assert_eq!(head("identity", "12", None), Some(12));
    assert_eq!(head("gzip", "12", None), None);
    assert_eq!(head("gzip", "12", Some("34")), Some(34));
    assert_eq!(head("identity", "12, 12", None), None, "not a number");
}
