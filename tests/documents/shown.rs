//! Compares the output shown in `console` blocks. A block has a command after `$` and its output. A last line `...`
//! stands for the rest.

use super::markdown::words;
use super::workshop::{Workshop, root};
use super::{assert_none, document, names};
use std::fs;

/// Returns the output as a document shows it, cut to the number of lines in `old` if that ends with `...`.
fn cut_to_shown(output: &str, old: &[&str]) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    match old {
        [first @ .., "..."] => {
            let kept = lines.iter().take(first.len()).map(|line| format!("{line}\n"));
            kept.chain(["...\n".to_owned()]).collect()
        }
        _ => lines.iter().map(|line| format!("{line}\n")).collect(),
    }
}

#[test]
fn documented_output_matches_command_output() {
    let workshop = Workshop::new("shown");
    let mut errors = Vec::new();
    let mut count = 0;
    for name in names() {
        let document = document(&name);
        let mut text = fs::read_to_string(root().join(&name)).unwrap();
        for block in document.blocks.iter().filter(|block| block.language == "console") {
            let mut now = String::new();
            for part in block.text.split("$ ").skip(1) {
                count += 1;
                let lines: Vec<&str> = part.lines().collect();
                let command = words(lines[0]);
                assert_eq!(command[0], "memscape", "{name}:{}: {}", block.line, lines[0]);
                let output =
                    workshop.memscape(&command[1..], "").unwrap_or_else(|error| panic!("{}: {error}", lines[0]));
                now += &format!("$ {}\n{}", lines[0], cut_to_shown(&output, &lines[1..]));
            }
            if now != block.text {
                errors.push(format!("{name}:{}: shown\n{}printed\n{now}", block.line, block.text));
                text = text.replacen(&block.text, &now, 1);
            }
        }
        if std::env::var_os("MEMSCAPE_BLESS").is_some() && !errors.is_empty() {
            fs::write(root().join(name), text).unwrap();
            errors.clear();
        }
    }
    assert_none(&errors);
    assert!(count >= 2, "{count} outputs were compared");
}

#[test]
fn omitted_lines_are_not_compared() {
    assert_eq!(cut_to_shown("a\nb \nc\n", &["x", "y", "..."]), "a\nb\n...\n");
    assert_eq!(cut_to_shown("a\nb\n", &["x"]), "a\nb\n");
}
