//! Unit tests of `src/protocol/message.rs`.

use super::*;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    flag: bool,
    numbers: (u8, [u16; 2]),
    signed: [i64; 2],
    small: i32,
    real: f64,
    text: Option<String>,
    pairs: Vec<(String, Option<(u64, u32)>)>,
    choices: Vec<Choice>,
    whole: Box<Whole>,
    nothing: Unit,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Choice {
    Nothing,
    Tuple(Whole, Vec<(u32, u32)>),
    Named { one: u8, other: Option<i64> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Whole(pub u32, String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

fn everything() -> Everything {
    Everything {
        flag: true,
        numbers: (255, [65_535, 1]),
        signed: [i64::MIN, -1],
        small: -7,
        real: -0.1,
        text: Some("größer".into()),
        pairs: vec![(String::new(), None), ("b".into(), Some((u64::MAX, u32::MAX)))],
        choices: vec![
            Choice::Nothing,
            Choice::Tuple(Whole(3, "x".into()), vec![(1, 2), (3, 4)]),
            Choice::Named { one: 9, other: Some(-2) },
            Choice::Named { one: 0, other: None },
        ],
        whole: Box::new(Whole(0, "…".into())),
        nothing: Unit,
    }
}

#[test]
fn encoded_message_decodes_to_equal_value() {
    assert_eq!(decode(&encode(&everything())), Some(everything()));
    let nan = f64::from_bits(0x7ff8_0000_0000_1234);
    assert_eq!(decode::<f64>(&encode(&nan)).map(f64::to_bits), Some(nan.to_bits()));
}

#[test]
fn truncated_or_overlong_message_is_rejected() {
    let mut bytes = encode(&everything());
    for end in 0..bytes.len() {
        assert_eq!(decode::<Everything>(&bytes[..end]), None, "{end}");
    }
    bytes.push(0);
    assert_eq!(decode::<Everything>(&bytes), None);
}

#[test]
fn unknown_variants_and_invalid_utf8_are_rejected() {
    assert_eq!(decode::<Choice>(&[3]), None);
    assert_eq!(decode::<bool>(&[2]), None);
    assert_eq!(decode::<Option<u8>>(&[2, 1]), None);
    assert_eq!(decode::<String>(&[1, 0xff]), None);
}

#[test]
fn huge_length_prefix_allocates_nothing() {
    let promise = encode(&u64::from(u32::MAX));
    assert_eq!(decode::<Vec<Everything>>(&promise), None);
    assert_eq!(decode::<Vec<[u64; 32]>>(&promise), None);
    assert_eq!(decode::<String>(&promise), None);
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), count: u32) {
        let _ = decode::<Everything>(&bytes);
        let promise = [&encode(&count)[..], &bytes].concat();
        if let Some(texts) = decode::<Vec<Vec<Whole>>>(&promise) {
            prop_assert_eq!(decode(&encode(&texts)), Some(texts));
        }
    }
}
