//! Unit tests of `src/analysis/factor.rs`.

use super::*;

#[test]
fn factors_are_parsed_from_text() {
    for (text, parts) in [
        ("2x", (2, 1)),
        ("2", (2, 1)),
        ("x2", (2, 1)),
        ("×3", (3, 1)),
        ("0", (0, 1)),
        ("1.5x", (3, 2)),
        ("0.25", (1, 4)),
        (".5", (1, 2)),
        ("50%", (1, 2)),
        ("12.5%", (1, 8)),
        ("/8", (1, 8)),
        ("÷ 8", (1, 8)),
        ("6/8", (3, 4)),
        ("fp32->bf16", (1, 2)),
        ("BF16 -> int8", (1, 2)),
        ("float32->8bit", (1, 4)),
        ("bf16->fp32", (2, 1)),
    ] {
        assert_eq!(Factor::parse(text).map(Factor::parts), Some(parts), "{text}");
    }
    for text in [
        "",
        "x",
        "-1",
        "/0",
        "1/0",
        "2e3",
        "two",
        "1.2345678",
        "fp32->",
        "fp31->bf16",
        "9999999",
        "1/9999999",
        "1.2.3",
        ".",
    ] {
        assert_eq!(Factor::parse(text), None, "{text}");
    }
}

#[test]
fn scaled_size_is_rounded_up() {
    let [half, third] = [Factor::new(1, 2).unwrap(), Factor::new(1, 3).unwrap()];
    assert_eq!(half.product(third), Factor::new(1, 6));
    assert_eq!((third.scaled(10), Factor::ONE.scaled(10), Factor::ZERO.scaled(10)), (4, 10, 0));
    assert_eq!(Factor::new(16, 1).unwrap().scaled(u64::MAX), u64::MAX);
    assert_eq!([half, Factor::new(3, 2).unwrap(), Factor::ZERO].map(|it| it.to_string()), ["÷ 2", "× 3/2", "× 0"]);
}
