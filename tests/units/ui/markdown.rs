//! Unit tests of `src/ui/text/markdown.rs`.

use super::*;
use protocol::{SheetColumn, Statement, Threshold, Topic};

fn column(key: &str, label: &str) -> SheetColumn {
    SheetColumn { key: key.to_owned(), label: label.to_owned() }
}

#[test]
fn report_has_headings_summary_sentences_and_tables() {
    let row = |depth, name: &str, bytes, stack: &[&str]| SheetRow {
        depth,
        cells: vec![Cell::Bytes(bytes), Cell::Share { part: bytes, whole: 4096 }, Cell::Text(name.to_owned())],
        stack: stack.iter().map(|frame| (*frame).to_owned()).collect(),
        ..SheetRow::default()
    };
    let report = Report {
        topic: Topic::Leaks,
        statements: vec![
            Statement {
                tone: Tone::Alarm,
                text: "f_1 grows by 2,048 B a step.".to_owned(),
                evidence: None,
                ..Statement::default()
            },
            Statement { tone: Tone::Good, text: "No free is late.".to_owned(), evidence: None, ..Statement::default() },
            Statement { tone: Tone::Fact, text: "It is so.".to_owned(), evidence: None, ..Statement::default() },
        ],
        sheets: vec![
            Sheet {
                key: "grows".to_owned(),
                title: "What grows".to_owned(),
                note: "Requested bytes.".to_owned(),
                threshold: Some(Threshold {
                    key: "steps".to_owned(),
                    label: "in at least".to_owned(),
                    unit: "steps".to_owned(),
                    value: 3,
                }),
                columns: vec![column("requested", "requested"), column("share", "share"), column("site", "call site")],
                rows: vec![
                    row(0, "a.py:1 f_1", 2048, &["at::empty()", "a.py:1 f_1", "b.py:2 ```"]),
                    row(1, "a|`b`", 512, &[]),
                ],
                left_out: 2,
                total: vec![Cell::Bytes(4096)],
            },
            Sheet { title: "Else".to_owned(), ..Sheet::default() },
        ],
        headline: None,
    };
    let expected = "\
## Leaks & waste: run\\_1.pickle · GPU 0

- **!** f\\_1 grows by 2,048 B a step.
- ✓ No free is late.
- It is so.

### What grows

Requested bytes.

in at least 3 steps

| requested | share | call site |
| --: | --: | --- |
| 2,048 B (2.00 KiB) | 50.0 % | `a.py:1 f_1` |
| \u{2003}512 B | 12.5 % | `` a\\|`b` `` |
| 4,096 B (4.00 KiB) |  |  |

and 2 more

<details><summary>Stacks of the first rows (largest allocation of each)</summary>

`a.py:1 f_1`:

````
a.py:1 f_1
b.py:2 ```
````

</details>

### Else

None.
";
    assert_eq!(markdown(&report, "run_1.pickle · GPU 0"), expected);
}

#[test]
fn names_are_escaped() {
    let escaped = |words: &str| {
        let mut text = String::new();
        write_escaped(&mut text, words);
        text
    };
    assert_eq!(escaped("<img src=x>"), r"\<img src=x\>");
    assert_eq!(escaped("[a](b) **c** | `d`\n# e"), "\\[a\\](b) \\*\\*c\\*\\* \\| \\`d\\`\u{fffd}\\#\u{200b} e");
    assert_eq!(escaped("@me https://x www.x"), "@\u{200b}me https:\\//x www\\.x");
    let spanned = |name: &str| {
        let mut text = String::new();
        write_code(&mut text, name);
        text
    };
    assert_eq!(spanned("a``b|c"), r"```a``b\|c```");
    assert_eq!(spanned("`"), "`` ` ``");
    assert_eq!(spanned("a\nb\u{2028}"), "`a\u{fffd}b\u{fffd}`");
    assert_eq!(spanned(""), "");
}
