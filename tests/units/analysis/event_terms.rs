//! Unit tests of `src/analysis/event_terms.rs`.

use super::*;
use proptest::prelude::*;

fn shown(text: &str) -> String {
    let one = |term: &EventTerm| match term {
        EventTerm::Actions(bits) => format!("actions {bits:b}"),
        EventTerm::Versioned(name) => format!("{:?} {:x} version {}", name.object, name.address, name.version),
        EventTerm::Query(query) => format!("{query:?}"),
    };
    match EventTerms::parse(text) {
        Ok(read) => read.terms.iter().map(one).collect::<Vec<_>>().join("; "),
        Err(wrong) => wrong.to_string(),
    }
}

#[test]
fn event_filter_terms_are_parsed() {
    let cases = [
        ("", ""),
        (" & ", ""),
        ("alloc", "actions 1"),
        ("alloc, oom", "actions 100000001"),
        ("allocate", "Frame(Text(\"allocate\"))"),
        ("\"alloc\"", "Frame(Exactly(\"alloc\"))"),
        ("7f89b4000000_0", "Any 7f89b4000000 version 0"),
        ("b'7f89b4000000_12", "Block 7f89b4000000 version 12"),
        ("s'bb_3", "Segment bb version 3"),
        ("0xbb_3", "Any bb version 3"),
        ("1000_1", "Any 1000 version 1"),
        ("add_1", "Frame(Text(\"add_1\"))"),
        ("abcdef_", "Frame(Text(\"abcdef_\"))"),
        ("0x7f00", "Address(32512)"),
        ("stream:0x10 & pool: (0, 1)", "Stream(16); Pool((0, 1))"),
        ("stream:default & stream:default stream & stream:stream 0x10", "Stream(0); Stream(0); Stream(16)"),
        (
            "pool:default & pool:default pool & pool:kv cache (MemPool (0, 2))",
            "Pool((0, 0)); Pool((0, 0)); Pool((0, 2))",
        ),
        (">1MiB & stream:0", "Size(1048577, 18446744073709551615); Stream(0)"),
        ("#12", "Number(12)"),
        ("#", "At character 1: Expected an allocation number after #, such as #123."),
        ("alloc &  stream:x", "At character 10: Invalid stream. Examples: stream:0, stream:0x55d0."),
        ("ä & pool:1", "At character 5: Invalid pool. Example: pool:0,1."),
        ("pool:1,2,3", "At character 1: Invalid pool. Example: pool:0,1."),
        ("stream:+1", "At character 1: Invalid stream. Examples: stream:0, stream:0x55d0."),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn too_many_terms_are_an_error() {
    let terms = |count: usize| EventTerms::parse(&vec!["a"; count].join(" & ")).map(|read| read.terms.len());
    assert_eq!(terms(16), Ok(16));
    let place = 16 * 4 + 1;
    assert_eq!(terms(17), Err(EventTermError { place, error: QueryError::TooManyTerms }));
    assert!(terms(100_000).is_err());
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(text in "[a-fbs'_0-9x:,() &#@/alloc]{0,24}") {
        let _ = EventTerms::parse(&text);
    }
}
