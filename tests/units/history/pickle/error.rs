//! Tests of `src/history/pickle/error.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn the_place_stands_around_the_cause() {
    let kind: ErrorKind<String> = ErrorKind::Builder("expected an integer, found a string".into());
    let mut error = PickleError { offset: 1234, opcode: Some("SETITEMS"), path: "a[0].b".into(), kind };
    assert_eq!(error.to_string(), "a[0].b: expected an integer, found a string (SETITEMS at byte 1234)");
    (error.path, error.opcode, error.kind) = (String::new(), None, ErrorKind::UnexpectedEnd);
    assert_eq!(error.to_string(), "the file ends before the pickle does (at byte 1234)");
}

#[test]
fn every_kind_is_one_sentence() {
    let sentences: [(ErrorKind<&str>, &str); 13] = [
        (ErrorKind::NotANumber("1_0".into()), "'1_0' is not a number"),
        (ErrorKind::UnknownOpcode(0x0a), "0x0a is not a pickle instruction"),
        (ErrorKind::Protocol(6), "pickle protocol 6 is newer than 5, the newest known"),
        (ErrorKind::Frame(u64::MAX), "a frame of 18446744073709551615 bytes can't be"),
        (ErrorKind::TooFewValues, "too few values stand before it"),
        (ErrorKind::NoMark, "no MARK stands before it"),
        (ErrorKind::KeyWithoutValue, "the last key has no value"),
        (ErrorKind::NotAnOpenList, "the items are for something that is not a list, or a list changed after use"),
        (ErrorKind::NotAnOpenDict, "the items are for something that is not a dict, or a dict changed after use"),
        (ErrorKind::ContainsItself, "a container contains itself"),
        (ErrorKind::EmptyMemoSlot(7), "memo slot 7 is read but was never written"),
        (
            ErrorKind::Limit { what: "bytes in one string", most: 4 },
            "more than 4 bytes in one string, far beyond any snapshot",
        ),
        (
            ErrorKind::Refused(Refusal::Code),
            "it names code to be run; a snapshot has none, and nothing in a file is ever run",
        ),
    ];
    for (kind, sentence) in sentences {
        assert_eq!(kind.to_string(), sentence);
    }
}
