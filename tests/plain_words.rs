//! Counts words and sentence shapes in comments and names that make code hard to read.

use super::{Source, rust_files, sources};
use regex_lite::Regex;
use std::fmt::Write;

/// Maximum number of hits in `src` and `tests`. Lower it when the count falls; never raise it.
const MAX_HITS: usize = 30;

/// Patterns in comments.
const IN_COMMENTS: [(&str, &str); 14] = [
    ("told, tells, telling", r"\b(told|tells|telling)\b"),
    ("hears, heard", r"\b(hears|heard)\b"),
    ("sought, seeks", r"\b(sought|seeks)\b"),
    ("anew, heed, thereof", r"\b(anew|heed\w*|thereof|whereof|therein)\b"),
    ("allocations that are born or die", r"\b(born|dies|died)\b"),
    ("whoever, nobody, somebody", r"\b(whoever|nobody|somebody|anybody)\b"),
    ("is to be, shall", r"\b(is|are) to be\b|\bshall\b"),
    ("that there is", r"\bthat there (is|are)\b"),
    ("sentences with 'Which of'", r"//[/!] +Which of\b"),
    ("sentences with 'What'", r"//[/!] +What \b"),
    ("sentences with 'Whether' or 'How'", r"//[/!] +(Whether|How) "),
    ("where there is none, where that", r"\bwhere there (is|are) (none|no)\b|\bwhere that\b"),
    ("as it is said", r"\bas (it )?(is|was) (said|told|asked)\b"),
    ("of it, of which, by which, in which", r"\bof it\b|\b(of|by|in|on|from) which\b"),
];

/// Patterns in code.
const IN_CODE: [(&str, &str); 6] = [
    ("MOST_, LONGEST_, LEAST_, … in names of bounds", r"\bconst (MOST|LONGEST|LEAST|LARGEST|SMALLEST)_\w+"),
    ("born and died in names", r"(born|died)"),
    ("functions that tell or hear", r"\bfn (told|tell|hear|heard|sought|astray|came|said|walk_on)\w*\b"),
    ("begin, said, told, heard as constructors", r"\bfn (begin|said|told|heard)\("),
    ("participles as types", r"\b(struct|enum) (Told|Asked|Held|Place|Sought|Why|Whole|Said)\b"),
    ("tests named by a relative clause", r"\bfn (what|who|whoever|nobody|where|that|those)_\w+\(\)"),
];

#[test]
fn comments_and_names_use_plain_words() {
    let compile = |(name, pattern): &(&'static str, &str)| (*name, Regex::new(pattern).unwrap());
    let in_comments: Vec<_> = IN_COMMENTS.iter().map(compile).collect();
    let in_code: Vec<_> = IN_CODE.iter().map(compile).collect();
    let (mut hits, mut report) = (0, String::new());
    let tests = rust_files("tests").into_iter().filter(|file| !file.name.ends_with("plain_words.rs"));
    for Source { name, text } in sources().into_iter().chain(tests) {
        for (at, line) in text.lines().enumerate() {
            let comment_at = line.find("//").filter(|_| !line.contains("://"));
            let (code, comment) = line.split_at(comment_at.unwrap_or(line.len()));
            let found = in_comments.iter().filter(|(_, pattern)| pattern.is_match(comment));
            for (rule, _) in found.chain(in_code.iter().filter(|(_, pattern)| pattern.is_match(code))) {
                hits += 1;
                writeln!(report, "{name}:{}: {rule}: {}", at + 1, line.trim()).unwrap();
            }
        }
    }
    assert!(hits <= MAX_HITS, "{hits} hits, at most {MAX_HITS} are allowed; say it in other words:\n{report}");
    // A limit far above the count would let new hits in.
    assert!(hits + 5 >= MAX_HITS, "only {hits} hits are left: set MAX_HITS to {hits}");
}

#[test]
fn rules_find_their_examples() {
    for (text, rule) in
        [("/// What it holds.", 9), ("// Nobody is told of it, by which it ends.", 13), ("// It is told.", 0)]
    {
        assert!(Regex::new(IN_COMMENTS[rule].1).unwrap().is_match(text), "{text}");
    }
    for (text, rule) in [("const MOST_ROWS: usize = 3;", 0), ("let born = 1;", 1), ("fn what_is_left_stays() {", 5)] {
        assert!(Regex::new(IN_CODE[rule].1).unwrap().is_match(text), "{text}");
    }
    assert!(!Regex::new(IN_COMMENTS[9].1).unwrap().is_match("/// Returns what it holds."));
}
