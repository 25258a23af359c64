//! Unit tests of `src/ui/text/size_text.rs`.

use super::*;

#[test]
fn size_is_understood_with_and_without_unit() {
    let cases = [
        ("300 MiB", 314_572_800),
        ("300mib", 314_572_800),
        ("1.5 GiB", 1_610_612_736),
        ("80 GB", 80_000_000_000),
        ("4k", 4096),
        ("512 B", 512),
        ("314,572,800 B", 314_572_800),
        ("16.0\u{a0}KiB", 16_384),
        ("0", 0),
        ("4096", 4096),
    ];
    for (text, bytes) in cases {
        assert_eq!(parse(text, DefaultUnit::Byte), Some(Some(bytes)), "{text}");
    }
    assert_eq!(parse("2", DefaultUnit::Gib), Some(Some(2 << 30)));
    assert_eq!(parse("  ", DefaultUnit::Byte), Some(None));
    for text in ["x", "1 parsec", "-1", "NaN", "inf", "1e99", "5 MiB/s", "MiB"] {
        assert_eq!(parse(text, DefaultUnit::Byte), None, "{text}");
        assert_eq!(understood(text, DefaultUnit::Byte), "", "{text}");
    }
    assert_eq!(understood("300 MiB", DefaultUnit::Gib), "314,572,800 B");
    assert_eq!((parse_size("0").is_err(), parse_size(""), parse_size("2")), (true, Ok(None), Ok(Some(2 << 30))));
}

#[test]
fn size_is_written_so_that_it_can_be_typed() {
    for (bytes, text) in [(300 << 20, "300 MiB"), (314_572_801, "314,572,801 B"), (512, "512 B"), (0, "0 B")] {
        assert_eq!(typed(bytes), text);
        assert_eq!(parse(text, DefaultUnit::Byte), Some(Some(bytes)), "{text}");
    }
}
