//! Unit tests of `src/history/pickle/memo.rs`.

use super::*;

#[test]
fn memo_counts_filled_slots() {
    let mut memo = Memo::new();
    let limits = Limits { memo_holes: 3, memo_slots: 10, ..Limits::default() };
    let put = |memo: &mut Memo<u8>, slot, value| memo.put::<()>(slot, value, &limits);
    assert_eq!(put(&mut memo, 2, 20), Ok(()));
    assert_eq!((memo.filled_slots(), memo.get(0), memo.get(2), memo.get(3)), (1, None, Some(20), None));
    assert_eq!(put(&mut memo, 1, 10), Ok(()));
    assert_eq!(put(&mut memo, 1, 11), Ok(()), "overwriting fills nothing");
    assert_eq!((memo.filled_slots(), memo.get(1), memo.get(0)), (2, Some(11), None));
    let far = put(&mut memo, 6, 60);
    assert_eq!(far, Err(ErrorKind::Limit { what: "skipped memo slots", max: 3 }));
    assert_eq!(put(&mut memo, 10, 0), Err(ErrorKind::Limit { what: "memo slots", max: 10 }));
    assert_eq!(put(&mut memo, 5, 50), Ok(()), "a gap of two slots is within the limit");
    assert_eq!(memo.filled_slots(), 3);
}
