//! Unit tests of `src/history/pickle/error.rs`.

use super::*;

#[test]
fn message_has_path_cause_and_offset() {
    let kind: ErrorKind<String> = ErrorKind::Builder("expected an integer, found a string".into());
    let mut error = PickleError { offset: 1234, opcode: Some("SETITEMS"), path: "a[0].b".into(), kind };
    assert_eq!(error.to_string(), "a[0].b: expected an integer, found a string (SETITEMS at byte 1234)");
    (error.path, error.opcode, error.kind) = (String::new(), None, ErrorKind::UnexpectedEnd);
    assert_eq!(error.to_string(), "the pickle is cut off after 1,234 bytes: the dump did not finish");
}

#[test]
fn every_error_kind_has_a_message() {
    let sentences: [(ErrorKind<&str>, &str); 13] = [
        (ErrorKind::NotANumber("1_0".into()), "'1_0' is not a number"),
        (ErrorKind::UnknownOpcode(0x0a), "invalid pickle opcode 0x0a"),
        (ErrorKind::Protocol(6), "pickle protocol 6 is not supported, the newest is 5"),
        (ErrorKind::Frame(u64::MAX), "invalid frame length: 18,446,744,073,709,551,615 bytes"),
        (ErrorKind::TooFewValues, "too few values on the stack"),
        (ErrorKind::NoMark, "no MARK on the stack"),
        (ErrorKind::KeyWithoutValue, "the last key has no value"),
        (
            ErrorKind::NotAnOpenList,
            "items appended to something that is not a list, or to a list that was already used",
        ),
        (ErrorKind::NotAnOpenDict, "items added to something that is not a dict, or to a dict that was already used"),
        (ErrorKind::ContainsItself, "a container contains itself"),
        (ErrorKind::EmptyMemoSlot(7), "memo slot 7 is read but was never written"),
        (ErrorKind::Limit { what: "bytes in one string", max: 4 }, "more than 4 bytes in one string: not a snapshot"),
        (
            ErrorKind::Unsupported(UnsupportedReason::Code),
            "imports or calls code: a snapshot contains none, and memscape never runs any",
        ),
    ];
    for (kind, sentence) in sentences {
        assert_eq!(kind.to_string(), sentence);
    }
}
