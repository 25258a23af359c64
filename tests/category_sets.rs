//! Parsing and writing of category rule sets: valid sets round-trip, and invalid ones report each error with its line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use memscape::protocol::CategorySet;
use memscape::yaml;
use proptest::prelude::*;

#[test]
fn built_in_sets_round_trip() {
    for name in ["default", "mosaic"] {
        let set = CategorySet::built_in_by_name(name).unwrap();
        assert!(set.name == name && set.rules.len() > 10, "{name} can't be read");
        assert_eq!(yaml::parse(&set.to_json()), Ok(set));
    }
}

#[test]
fn old_keys_of_rules_are_read() {
    let old = "{\"schema\": 1, \"rules\": [{\"category\": \"a\", \"told\": \"b\", \"born\": \"before\"}]}";
    let new = old.replace("told", "classified").replace("born", "allocated");
    assert_eq!(parsed(old), parsed(&new));
    assert_eq!(parsed(old).rules[0].classified.as_deref(), Some("b"));
}

fn parsed(text: &str) -> CategorySet {
    yaml::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Returns the errors of an invalid text, each with its line.
fn errors(text: &str) -> Vec<String> {
    yaml::parse(text).expect_err(text).iter().map(ToString::to_string).collect()
}

#[test]
fn mosaic_rules_parse_from_json_and_yaml() {
    let json = parsed("{\"nccl\": \"nccl.*\",\n \"attention\": \"_attn|flash\"}");
    let list = "
# Rules of ours
rules:
- name: nccl        # comes first
  pattern: 'nccl.*'
  description: \"what \\\"NCCL\\\" takes\"
  priority: 2
- name: attention
  pattern: _attn|flash
";
    let nested = "---\nrules:\n    -   name: 'nccl'\n        pattern: nccl.*\n    -\n        name: attention\n        pattern: \"_attn|flash\"\n";
    let mapping = "\"nccl\": nccl.*\nattention: _attn|flash # the rest\n";
    let plain = |set: &CategorySet| -> Vec<(String, Option<String>)> {
        set.rules.iter().map(|rule| (rule.category.clone(), rule.frame.clone())).collect()
    };
    for text in [list, nested, mapping] {
        assert_eq!(plain(&parsed(text)), plain(&json), "{text}");
    }
    assert_eq!(parsed(list).rules[0].note, "what \"NCCL\" takes");
    assert_eq!(json.categories(), ["nccl", "attention", "unknown"]);
    assert_eq!(parsed(&json.to_mosaic().unwrap()), json);
    assert_eq!(CategorySet::standard().to_mosaic(), Err(1), "the standard set cannot be written in Mosaic's format");
    assert_eq!(parsed("rules: forward"), parsed("{\"rules\": \"forward\"}"), "a category may be called rules");
}

#[test]
fn invalid_rules_report_error_with_line() {
    let text = "{\"schema\": 1,\n\"rules\": [\n{\"category\": \"a\", \"name\": \"(\"},\n{\"name\": \"x\", \"colour\": \"red\"},\n{\"category\": \"b\", \"most\": -1},\n3]}";
    let expected = [
        "line 3: invalid regular expression: found open group without closing ')'",
        "line 4: unknown key \"colour\"",
        "line 4: \"category\" is missing",
        "line 5: \"most\" must be a whole number below 2^32",
        "line 6: a rule must be an object",
    ];
    assert_eq!(errors(text), expected);
    assert_eq!(errors("{\n\"a\": \"b\",\n}"), ["line 3: expected a key in quotes, found '}'"]);
    assert_eq!(errors("{\"a\": "), ["line 1: the JSON is cut off"]);
    assert_eq!(errors("{\"schema\": 2, \"rules\": []}"), ["line 1: \"schema\" must be 1, the only supported version"]);
    assert_eq!(errors("a: b\n  c: d"), ["line 2: mapping values are not allowed in this context"]);
    assert_eq!(errors("a: [b]"), ["line 1: \"a\" must be a string"]);
    assert_eq!(errors("a: 'b"), ["line 1: while scanning a quoted scalar, found unexpected end of stream"]);
    assert_eq!(errors("a:\n\tb: c"), ["line 2: tabs disallowed within this context (block indentation)"]);
    assert_eq!(errors("forward"), ["line 1: rules must be a list, or categories with their patterns"]);
    assert_eq!(
        errors("rules:\n- name: a\n  pattern: '('"),
        ["line 3: invalid regular expression: found open group without closing ')'"]
    );
    assert_eq!(errors("{\"rules\": [{\"category\": \"a\", \"like\": {\"ratio\": \"0\"}}]}").len(), 2);
    assert!(errors("")[0].starts_with("line 1: "));
    let many = |count: usize| format!("[{}]", vec!["{\"category\": \"a\"}"; count].join(","));
    assert!(yaml::parse(&many(1000)).is_ok());
    assert_eq!(errors(&many(1001)), ["line 1: at most 1,000 rules"]);
    let names: Vec<String> = (0..64).map(|number| format!("{{\"category\": \"c{number}\"}}")).collect();
    assert_eq!(errors(&format!("[{}]", names.join(","))), ["line 1: at most 63 categories"]);
    assert!(errors(&"[".repeat(100_000))[0].contains("more than 16 nested containers"));
    assert!(errors(&format!("a: {}", "b".repeat(2000)))[0].contains("at most 1,000 bytes in a string"));
    let deep: String = (0..1000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(errors(&deep)[0].contains("nested too deep"));
}

mod arbitrary {
    //! Strategies for random rule sets.
    use memscape::protocol::category::{
        Birth, End, Looked, ModelCall, Order, Place, SizeCondition, StackKind, StackOrigin, Turn,
    };
    use memscape::protocol::{CategoryRule, CategorySet};
    use proptest::prelude::*;

    fn one_of<T: Copy + std::fmt::Debug + 'static>(words: &'static [(&'static str, T)]) -> impl Strategy<Value = T> {
        (0..words.len()).prop_map(|place| words[place].1)
    }

    fn likeness() -> impl Strategy<Value = SizeCondition> {
        let what = prop_oneof![
            "[a-z \"\\\\]{1,9}".prop_map(|it| (Some(it), None)),
            "[a-z|^$]{1,9}".prop_map(|it| (None, Some(it))),
        ];
        (what, 1u32..9, 1u32..99, prop::option::of(any::<u32>()), one_of(Place::WORDS)).prop_map(
            |((category, name), first, second, each, at)| SizeCondition {
                category,
                name,
                ratio: (first, second),
                each,
                at,
            },
        )
    }

    fn rule() -> impl Strategy<Value = CategoryRule> {
        let text = || prop::option::of("[a-zé\"\\\\ \n\u{1}]{1,9}");
        let pattern = || prop::option::of("[a-z|\"$é]{0,9}");
        let words = (prop::option::of(one_of(StackKind::WORDS)), prop::option::of(one_of(Birth::WORDS)));
        let more = (prop::option::of(one_of(End::WORDS)), prop::option::of(one_of(ModelCall::WORDS)));
        let of = (one_of(Looked::WORDS), one_of(StackOrigin::WORDS), one_of(Turn::WORDS));
        let numbers = (any::<u32>(), prop::option::of(any::<u32>()), prop::option::of(likeness()));
        (
            ("[a-zA-Zé\"\\\\]{1,9}", text()),
            (pattern(), pattern(), pattern()),
            (text(), text()),
            words,
            more,
            of,
            numbers,
        )
            .prop_map(
                |(
                    (category, note),
                    (name, file, frame),
                    (recorded, classified),
                    (stack, allocated),
                    (ends, model),
                    of,
                    (least, most, like),
                )| {
                    let has_pattern = name.is_some() || file.is_some() || frame.is_some();
                    let (frames, of, turn) = if has_pattern { of } else { Default::default() };
                    let note = note.unwrap_or_default();
                    CategoryRule {
                        category,
                        note,
                        name,
                        file,
                        frame,
                        frames,
                        of,
                        turn,
                        recorded,
                        classified,
                        stack,
                        allocated,
                        ends,
                        least,
                        most,
                        model,
                        like,
                    }
                },
            )
    }

    pub(super) fn set() -> impl Strategy<Value = CategorySet> {
        ("[a-z\"\\\\]{0,9}", one_of(Order::WORDS), prop::collection::vec(rule(), 0..12))
            .prop_map(|(name, order, rules)| CategorySet { name, order, rules })
    }
}

proptest! {
    #[test]
    fn random_sets_round_trip(set in arbitrary::set()) {
        prop_assert_eq!(yaml::parse(&set.to_json()), Ok(set.clone()));
        prop_assert_eq!(memscape::protocol::decode(&memscape::protocol::encode(&set)), Some(set.clone()));
        if let Ok(text) = set.to_mosaic() {
            let read = yaml::parse(&text).unwrap();
            prop_assert!(read.rules.iter().map(|rule| (&rule.category, &rule.frame)).eq(set.rules.iter().map(|rule| (&rule.category, &rule.frame))));
        }
    }

    #[test]
    fn random_text_does_not_panic(text in "[\\[\\]{}\",:a-c'# \n\t\\\\-]{0,60}") {
        let _ = yaml::parse(&text);
        let _ = yaml::parse(&["rules:\n", &text].concat());
    }
}
