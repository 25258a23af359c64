//! Unit tests of `src/analysis/query.rs`.

use super::*;
use base::units::Bytes;
use proptest::prelude::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn size(text: &str) -> (u64, u64) {
    match Query::parse(text) {
        Ok(Query::Size(least, most)) => (least, most),
        other => panic!("{text}: {other:?}"),
    }
}

fn wrong(text: &str) -> QueryError {
    Query::parse(text).expect_err(text)
}

#[test]
fn numbers_and_addresses_are_parsed() {
    for (text, number) in [("#0", 0), (" #123 ", 123), ("# 1,234,567", 1_234_567), ("#4294967295", u32::MAX)] {
        assert!(matches!(Query::parse(text), Ok(Query::Number(found)) if found == number), "{text}");
    }
    for text in ["#", "#x", "#-1", "#4294967296", "#99999999999999999999999", "#1.5", "#,"] {
        assert_eq!(wrong(text), QueryError::Number, "{text}");
    }
    for (text, address) in [("0x7f00", 0x7f00), ("0X7F00", 0x7f00), ("0xffffffffffffffff", u64::MAX), ("0x0", 0)] {
        assert!(matches!(Query::parse(text), Ok(Query::Address(found)) if found == address), "{text}");
    }
    assert!(matches!(Query::parse("0x7f00..0x7F10"), Ok(Query::Addresses(0x7f00, 0x7f10))));
    for text in ["0x1..", "0x2..0x1", "0x1..0x1", "0x1..2", "0x..0x1"] {
        assert_eq!(wrong(text), QueryError::Address, "{text}");
    }
    for text in ["0x", "0xg", "0x+1", "0x10000000000000000", "0x7f 00"] {
        assert_eq!(wrong(text), QueryError::Address, "{text}");
    }
}

#[test]
fn size_comparisons_are_parsed() {
    let cases = [
        ("=512", (512, 512)),
        ("= 2MiB", (2 * MIB, 2 * MIB)),
        ("=1.5k", (1536, 1536)),
        ("=1,024", (1024, 1024)),
        ("=0", (0, 0)),
        ("<1KiB", (0, 1023)),
        ("<=1kib", (0, 1024)),
        (">1GiB", (GIB + 1, u64::MAX)),
        (">= 1G", (GIB, u64::MAX)),
        (">0.3K", (308, u64::MAX)),
        (">=0.3K", (308, u64::MAX)),
        ("<0.3K", (0, 307)),
        ("<=0.3K", (0, 307)),
        (">2T", ((2 << 40) + 1, u64::MAX)),
        ("size>1GiB", (GIB + 1, u64::MAX)),
        ("size <= 1KiB", (0, KIB)),
        ("size 1MiB..64MiB", (MIB, 64 * MIB)),
        ("=18446744073709551615", (u64::MAX, u64::MAX)),
    ];
    for (text, expected) in cases {
        assert_eq!(size(text), expected, "{text}");
    }
    assert_eq!(wrong("=1.3KiB"), QueryError::Fraction);
    assert_eq!(wrong("<0"), QueryError::EmptyRange);
    assert_eq!(wrong(">18446744073709551615"), QueryError::EmptyRange);
    assert_eq!(wrong(">5MB"), QueryError::Unit('M'));
    for text in
        ["=", ">", "<", ">=", "==5", "<>5", "=5 apples", "=1.2.3", "=.5.", "=five", ">5e3", ">99999999999999999999"]
    {
        assert_eq!(wrong(text), QueryError::Size, "{text}");
    }
}

#[test]
fn ranges_include_both_ends() {
    let cases = [
        ("1MiB..64MiB", (MIB, 64 * MIB)),
        ("1 MiB .. 64 MiB", (MIB, 64 * MIB)),
        ("512..", (512, u64::MAX)),
        ("..64KiB", (0, 64 * KIB)),
        ("5..5", (5, 5)),
        ("0.3K..0.4K", (308, 409)),
    ];
    for (text, expected) in cases {
        assert_eq!(size(text), expected, "{text}");
    }
    assert_eq!(wrong("2..1"), QueryError::EmptyRange);
    assert_eq!(wrong("1GB..2GB"), QueryError::Unit('G'));
    assert_eq!(wrong("1..2x"), QueryError::Size);
}

#[test]
fn plain_size_matches_all_sizes_displayed_alike() {
    assert_eq!(size("2MiB"), (2 * MIB, 2 * MIB));
    assert_eq!(size("512 B"), (512, 512));
    assert_eq!(size("1.5GiB"), (3 * GIB / 2, 3 * GIB / 2));
    let (least, most) = size("38.1 MiB");
    assert_eq!((least, most), ((38.05 * MIB as f64).ceil() as u64, (38.15 * MIB as f64) as u64));
    assert_eq!(size("10.0 MiB").0, (9.995 * MIB as f64).ceil() as u64, "smaller sizes are displayed as 9.99 MiB");
    assert_eq!(wrong("5 MB"), QueryError::Unit('M'));
}

#[test]
fn input_without_special_syntax_is_a_text_search() {
    let cases = [
        ("train.py:233", "train.py:233"),
        ("  Linear.forward ", "Linear.forward"),
        ("<module>", "<module>"),
        ("<frozen importlib>", "<frozen importlib>"),
        ("../train.py", "../train.py"),
        ("a..b", "a..b"),
        ("1...2", "1...2"),
        ("..", ".."),
        ("/home/me/train.py", "/home/me/train.py"),
        ("//", "//"),
        ("233", "233"),
        ("2M", "2M"),
        ("2nd", "2nd"),
        ("size.py:3", "size.py:3"),
        ("size", "size"),
        ("sizes>1", "sizes>1"),
        ("std::vector<a>", "std::vector<a>"),
        ("\"", "\""),
        ("\"\"", "\"\""),
        ("ÄRGER", "ÄRGER"),
        ("@", "@"),
    ];
    for (text, expected) in cases {
        match Query::parse(text) {
            Ok(Query::Frame(FrameMatcher::Text(found))) => assert_eq!(found, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for (text, expected) in [("\"=512\"", "=512"), (" \"#1\" ", "#1"), ("\"a \"b\"", "a \"b")] {
        match Query::parse(text) {
            Ok(Query::Frame(FrameMatcher::Exactly(found))) => assert_eq!(found, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(wrong(" "), QueryError::Empty);
    assert_eq!(wrong(&"x".repeat(MAX_LENGTH + 1)), QueryError::TooLong);
    assert!(Query::parse(&"ä".repeat(MAX_LENGTH)).is_ok());
}

#[test]
fn slashes_delimit_a_regular_expression() {
    let matches = |text: &str, line: &str| match Query::parse(text) {
        Ok(Query::Frame(wording @ FrameMatcher::Expression(_))) => wording.matches(line),
        other => panic!("{text}: {other:?}"),
    };
    assert!(matches(r"/train\.py:\d+ step$/", "/home/me/train.py:233 step"));
    assert!(!matches("/Train/", "/home/me/train.py:233 step"));
    assert!(matches("/Train/i", "/home/me/train.py:233 step"));
    assert!(
        matches("/home/me/", "/home/me/train.py:233 step"),
        "a folder between slashes parses as an expression that matches the same"
    );
    assert!(matches!(wrong("/(/"), QueryError::Expression(_)));
    assert!(matches!(wrong("/((a{100}){100}){100}/"), QueryError::Expression(_)), "too large to be compiled");
    assert!(matches!(wrong(&format!("/{}a{}/", "(".repeat(99), ")".repeat(99))), QueryError::Expression(_)));
}

#[test]
fn at_sign_searches_call_site_or_category() {
    for (text, expected) in [("@train.py:1", "train.py:1"), ("@\"train.py:1 \"", "train.py:1 "), ("@@", "@")] {
        match Query::parse(text) {
            Ok(Query::Site(FrameMatcher::Text(found) | FrameMatcher::Exactly(found))) => {
                assert_eq!(found, expected, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    for (text, expected) in [
        ("@category activation", "activation"),
        (" @category  \"optimizer state\" ", "optimizer state"),
        ("@category optimizer state", "optimizer state"),
        ("@category \"", "\""),
    ] {
        assert!(matches!(Query::parse(text), Ok(Query::Category(found)) if found == expected), "{text}");
    }
    for text in ["@category", "@categorys", "@category:x"] {
        assert!(matches!(Query::parse(text), Ok(Query::Site(FrameMatcher::Text(_)))), "{text}");
    }
    assert!(matches!(Query::parse("@/train|test/i"), Ok(Query::Site(FrameMatcher::Expression(_)))));
    assert!(matches!(wrong("@/(/"), QueryError::Expression(_)));
}

#[test]
fn freed_and_never_freed_are_keywords() {
    assert!(matches!(Query::parse(" freed "), Ok(Query::Freed(true))));
    assert!(matches!(Query::parse("never-freed"), Ok(Query::Freed(false))));
    for text in ["\"freed\"", "freed.py", "never freed", "@freed", "Freed"] {
        assert!(!matches!(Query::parse(text), Ok(Query::Freed(_))), "{text}");
    }
}

#[test]
fn text_search_ignores_case() {
    let holds = |text: &str, line: &str| FrameMatcher::Text(text.to_owned()).matches(line);
    assert!(holds("TRAIN.PY:233", "/home/me/train.py:233 step") && holds("p", "step") && holds("ärger", "Der ärger"));
    assert!(!holds("steps", "step") && !holds("x", ""));
    let exactly = |text: &str, line: &str| FrameMatcher::Exactly(text.to_owned()).matches(line);
    assert!(exactly("Linear", "nn.py:3 Linear.forward") && !exactly("linear", "nn.py:3 Linear.forward"));
}

proptest! {
    #[test]
    fn displayed_size_parses_to_range_with_that_size(bytes in prop_oneof![0u64..5000, 1000u64..1 << 32, 1u64 << 30..1 << 44]) {
        let shown = Bytes(bytes).to_string();
        // A rounded size without decimals would parse as an exact size.
        prop_assume!(bytes < 1000 || shown.contains('.'));
        let (least, most) = size(&shown);
        prop_assert!((least..=most).contains(&bytes), "{bytes} reads {shown}: {least}..={most}");
        // Sizes just inside the bounds are displayed the same, except at ties and where the unit or the decimals
        // change.
        for edge in [least.saturating_add(1), most.saturating_sub(1)].into_iter().filter(|_| most > least + 2) {
            let other = Bytes(edge).to_string();
            let unit = |text: &str| text.split_once('.').map(|(_, decimals)| decimals.replace(|sign: char| sign.is_ascii_digit(), "0"));
            prop_assert!(other == shown || unit(&other) != unit(&shown), "{edge} reads {other}, not {shown}");
        }
    }

    #[test]
    fn arbitrary_query_does_not_panic(text in "[#=<>./0-9a-zKMGTiB\"x ()\\[\\]*+?\\\\-]{0,24}") {
        let _ = Query::parse(&text);
    }
}
