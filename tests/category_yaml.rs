//! Category rules as YAML: output of PyYAML and hand-written YAML parse like the same rules in JSON. Errors report
//! their line.

use memscape::protocol::CategorySet;
use memscape::yaml;

fn parsed(text: &str) -> CategorySet {
    yaml::parse(text).unwrap_or_else(|errors| panic!("{errors:?} in\n{text}"))
}

/// Returns the errors of an invalid text, each with its line.
fn errors(text: &str) -> Vec<String> {
    yaml::parse(text).expect_err(text).iter().map(ToString::to_string).collect()
}

#[test]
fn pyyaml_output_parses() {
    for text in PYYAML_OUTPUTS {
        assert_eq!(parsed(text), parsed(RULES), "{text}");
    }
}

#[test]
fn hand_written_yaml_parses_like_json() {
    let cases = [
        ("{a: b, c: 'd, e'}", r#"{"a": "b", "c": "d, e"}"#),
        ("[{category: a, name: b}]", r#"[{"category": "a", "name": "b"}]"#),
        (
            "rules: [{name: a, pattern: b}, # first\n {name: c, pattern: d}]",
            r#"{"rules": [{"name": "a", "pattern": "b"}, {"name": "c", "pattern": "d"}]}"#,
        ),
        ("a: >-\n  b\n  c\nd: |\n  e\n  f\n", r#"{"a": "b c", "d": "e\nf\n"}"#),
        ("a: b\n  c\nd: 'e\n  f'\n", r#"{"a": "b c", "d": "e f"}"#),
        ("a: b # comment\nc: 'd' # comment\ne: f#g\n", r#"{"a": "b", "c": "d", "e": "f#g"}"#),
        (r#"a: "\x41\u00e9\U0001F600\t\\d""#, r#"{"a": "Aé😀\t\\d"}"#),
        ("\u{feff}a: b", r#"{"a": "b"}"#),
        ("\u{feff}{\"a\": \"b\"}", r#"{"a": "b"}"#),
        ("%YAML 1.2\n---\na: b\n...\n", r#"{"a": "b"}"#),
        ("a: &x b\nc: *x", r#"{"a": "b", "c": "b"}"#),
        (
            "- &x {category: a, name: b, least: 2}\n- {<<: *x, name: c}",
            r#"[{"category": "a", "name": "b", "least": 2}, {"category": "a", "name": "c", "least": 2}]"#,
        ),
        (
            "- &x {category: a}\n- &y {category: b, name: c}\n- <<: [*x, *y]",
            r#"[{"category": "a"}, {"category": "b", "name": "c"}, {"category": "a", "name": "c"}]"#,
        ),
        ("a: !!str 12\n13: 'true'\ntrue: \"14\"", r#"{"a": "12", "13": "true", "true": "14"}"#),
        ("? a\n: b\n", r#"{"a": "b"}"#),
        ("a: b\r\nc: d\r\n", r#"{"a": "b", "c": "d"}"#),
    ];
    for (yaml, json) in cases {
        assert_eq!(parsed(yaml), parsed(json), "{yaml}");
    }
}

#[test]
fn invalid_yaml_reports_error_with_line() {
    let cases = [
        ("x: y\na: b: c", "line 2: mapping values are not allowed in this context"),
        ("a: b\n---\nc: d", "line 2: more than one document"),
        ("a: b\n...\nc: d", "line 3: more than one document"),
        ("- &x {category: a}\n- &y [*y]", "line 2: an alias inside its own anchor"),
        ("a: b\nc: *x", "line 2: while parsing node, found unknown anchor"),
        ("a: !!python/name:os.system b", "line 1: unsupported tag tag:yaml.org,2002:!python/name:os.system"),
        ("a: !path b", "line 1: unsupported tag !path"),
        ("? [a]\n: b", "line 1: a key must be a string"),
        ("- {<<: a, category: b}", "line 1: \"<<\" must be a mapping"),
        ("a: null", "line 1: \"a\" must be a string"),
        ("a: 12", "line 1: \"a\" must be a string"),
        ("\na: [b", "line 2: while parsing a flow sequence, expected ',' or ']'"),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(text), [expected], "{text}");
    }
}

#[test]
fn hostile_yaml_is_parsed_or_rejected_quickly() {
    let mut laughs = "- &a0 {category: a}\n".to_owned();
    for level in 1..12 {
        laughs += &format!("- &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    assert_eq!(errors(&laughs), ["line 6: aliases expand to more than 100,000 values"]);
    let many: String = (0..2000).map(|_| "- *x\n").collect();
    let large: String = (0..200).map(|key| format!("k{key}: v, ")).collect();
    let errors = errors(&format!("- &x {{{large}}}\n{many}"));
    assert!(errors[0].ends_with("aliases expand to more than 100,000 values"), "{errors:?}");
    for unit in [
        "[", "{", "- ", "? ", "a: {", "[a, ", "{a: ", "&a ", "!a ", "*a ", "'", "\"", "|\n", "\n ", "\t", "---\n", "#",
        "- a\n", "a:\n", "%A\n",
    ] {
        let _ = yaml::parse(&unit.repeat(200_000));
        let _ = yaml::parse(&["a: ", &unit.repeat(200_000)].concat());
    }
}

/// The same rules as JSON. [`WRITTEN`] is what PyYAML 6.0.3 writes for them.
const RULES: &str = r####"{"rules": [{"name": "nccl", "pattern": "nccl.*", "description": "what \"NCCL\" takes\nand more: # all\n", "priority": 2}, {"name": "na\u00efve", "pattern": "caf\u00e9|it's \ud83d\ude00", "description": "word word word word word word word word word word word word word word word word word word word word word word word word \\d"}, {"name": "yes", "pattern": "- a: b", "description": "*x"}, {"name": "12", "pattern": "\t\u0007|\u2028", "description": ""}]}"####;

const PYYAML_OUTPUTS: &[&str] = &[
    // safe_dump(rules)
    r####"rules:
- description: 'what "NCCL" takes

    and more: # all

    '
  name: nccl
  pattern: nccl.*
  priority: 2
- description: word word word word word word word word word word word word word word
    word word word word word word word word word word \d
  name: "na\xEFve"
  pattern: "caf\xE9|it's \U0001F600"
- description: '*x'
  name: 'yes'
  pattern: '- a: b'
- description: ''
  name: '12'
  pattern: "\t\a|\L"
"####,
    // safe_dump(rules, default_flow_style=True)
    r####"{rules: [{description: 'what "NCCL" takes

        and more: # all

        ', name: nccl, pattern: nccl.*, priority: 2}, {description: word word word
        word word word word word word word word word word word word word word word
        word word word word word word \d, name: "na\xEFve", pattern: "caf\xE9|it's\
        \ \U0001F600"}, {description: '*x', name: 'yes', pattern: '- a: b'}, {description: '',
      name: '12', pattern: "\t\a|\L"}]}
"####,
    // safe_dump(rules, default_flow_style=None, width=30)
    r####"rules:
- {description: 'what "NCCL" takes

    and more: # all

    ', name: nccl, pattern: nccl.*,
  priority: 2}
- {description: word word word word
    word word word word word word
    word word word word word word
    word word word word word word
    word word \d, name: "na\xEF\
    ve", pattern: "caf\xE9|it's\
    \ \U0001F600"}
- {description: '*x', name: 'yes',
  pattern: '- a: b'}
- {description: '', name: '12',
  pattern: "\t\a|\L"}
"####,
    // safe_dump(rules, allow_unicode=True, indent=4, explicit_start=True, explicit_end=True)
    r####"---
rules:
-   description: 'what "NCCL" takes

        and more: # all

        '
    name: nccl
    pattern: nccl.*
    priority: 2
-   description: word word word word word word word word word word word word word
        word word word word word word word word word word word \d
    name: naïve
    pattern: café|it's 😀
-   description: '*x'
    name: 'yes'
    pattern: '- a: b'
-   description: ''
    name: '12'
    pattern: "\t\a|\L"
...
"####,
    // safe_dump(rules, default_style='"')
    r####""rules":
- "description": "what \"NCCL\" takes\nand more: # all\n"
  "name": "nccl"
  "pattern": "nccl.*"
  "priority": !!int "2"
- "description": "word word word word word word word word word word word word word\
    \ word word word word word word word word word word word \\d"
  "name": "na\xEFve"
  "pattern": "caf\xE9|it's \U0001F600"
- "description": "*x"
  "name": "yes"
  "pattern": "- a: b"
- "description": ""
  "name": "12"
  "pattern": "\t\a|\L"
"####,
    // safe_dump(rules, default_style="'", sort_keys=False)
    r####"'rules':
- 'name': 'nccl'
  'pattern': 'nccl.*'
  'description': 'what "NCCL" takes

    and more: # all

    '
  'priority': !!int '2'
- 'name': "na\xEFve"
  'pattern': "caf\xE9|it's \U0001F600"
  'description': 'word word word word word word word word word word word word word
    word word word word word word word word word word word \d'
- 'name': 'yes'
  'pattern': '- a: b'
  'description': '*x'
- 'name': '12'
  'pattern': "\t\a|\L"
  'description': ''
"####,
    // safe_dump(rules, default_style='|')
    r####""rules":
- "description": |
    what "NCCL" takes
    and more: # all
  "name": |-
    nccl
  "pattern": |-
    nccl.*
  "priority": !!int |-
    2
- "description": |-
    word word word word word word word word word word word word word word word word word word word word word word word word \d
  "name": "na\xEFve"
  "pattern": "caf\xE9|it's \U0001F600"
- "description": |-
    *x
  "name": |-
    yes
  "pattern": |-
    - a: b
- "description": ""
  "name": |-
    12
  "pattern": "\t\a|\L"
"####,
    // safe_dump(rules, default_style='>', width=40)
    r####""rules":
- "description": >
    what "NCCL" takes

    and more: # all
  "name": >-
    nccl
  "pattern": >-
    nccl.*
  "priority": !!int >-
    2
- "description": >-
    word word word word word word word word
    word word word word word word word word
    word word word word word word word word
    \d
  "name": "na\xEFve"
  "pattern": "caf\xE9|it's \U0001F600"
- "description": >-
    *x
  "name": >-
    yes
  "pattern": >-
    - a: b
- "description": ""
  "name": >-
    12
  "pattern": "\t\a|\L"
"####,
    // safe_dump(rules, canonical=True)
    r####"---
!!map {
  ? !!str "rules"
  : !!seq [
    !!map {
      ? !!str "description"
      : !!str "what \"NCCL\" takes\nand more: # all\n",
      ? !!str "name"
      : !!str "nccl",
      ? !!str "pattern"
      : !!str "nccl.*",
      ? !!str "priority"
      : !!int "2",
    },
    !!map {
      ? !!str "description"
      : !!str "word word word word word word word word word word word word word word\
        \ word word word word word word word word word word \\d",
      ? !!str "name"
      : !!str "na\xEFve",
      ? !!str "pattern"
      : !!str "caf\xE9|it's \U0001F600",
    },
    !!map {
      ? !!str "description"
      : !!str "*x",
      ? !!str "name"
      : !!str "yes",
      ? !!str "pattern"
      : !!str "- a: b",
    },
    !!map {
      ? !!str "description"
      : !!str "",
      ? !!str "name"
      : !!str "12",
      ? !!str "pattern"
      : !!str "\t\a|\L",
    },
  ],
}
"####,
];
