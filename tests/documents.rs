//! Runs the commands and code in README.md, SKILL.md, CONTRIBUTING.md, the manual and `--help`, and compares the output
//! they show.
//!
//! `MEMSCAPE_BLESS=1 cargo test --test native documents::` rewrites the output in the files.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod classified;
mod links;
mod manual;
mod markdown;
mod menus;
mod protocol;
mod python;
mod shown;
mod tasks;
mod workshop;

use classified::{EXEMPT_LANGUAGES, Session};
use markdown::{Document, words};
use std::fs;
use workshop::{PROGRAM, Workshop, has_python, root};

/// Returns the paths of the documents, relative to the root: those at the top level and the pages of the manual.
fn names() -> Vec<String> {
    let entries = fs::read_dir(root().join("www/docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let files = entries.map(|name| format!("www/docs/{}", name.to_str().unwrap()));
    let mut pages: Vec<String> = files.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    ["README.md", "SKILL.md", "CONTRIBUTING.md"].map(str::to_owned).into_iter().chain(pages).collect()
}

fn document(name: &str) -> Document {
    Document::new(name, &fs::read_to_string(root().join(name)).unwrap())
}

fn documents() -> Vec<Document> {
    names().iter().map(|name| document(name)).collect()
}

/// Panics with all errors, if there are any.
fn assert_none(errors: &[String]) {
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Languages of blocks that other tests of this module run.
const RUN_ELSEWHERE: [&str; 4] = ["console", "json", "python", "sql"];

#[test]
fn commands_in_documents_run() {
    let mut session = Session::new("commands");
    let mut errors = Vec::new();
    for document in documents() {
        for block in &document.blocks {
            if block.language == "sh" {
                for (line, command) in (block.line + 1..).zip(block.text.lines()) {
                    errors.extend(
                        session
                            .check(command)
                            .err()
                            .map(|error| format!("{}:{line}: {command}: {error}", document.name)),
                    );
                }
            } else if !RUN_ELSEWHERE.contains(&&*block.language)
                && !EXEMPT_LANGUAGES.iter().any(|(language, _)| *language == block.language)
            {
                errors.push(format!("{}:{}: nothing runs blocks of {:?}", document.name, block.line, block.language));
            }
        }
        for span in &document.spans {
            if ["memscape ", "./run ", "cargo "].iter().any(|start| span.text.starts_with(start)) {
                let result = session.check_span(&span.text);
                errors.extend(
                    result.err().map(|error| format!("{}:{}: {}: {error}", document.name, span.line, span.text)),
                );
            }
        }
    }
    errors.extend(session.unused());
    assert_none(&errors);
    assert!(session.commands_run > 40, "{} commands were run", session.commands_run);
}

#[test]
fn failing_or_unknown_commands_are_errors() {
    let mut session = Session::new("wrong");
    for wrong in ["docker run memscape", "memscape oom MISSING", "memscape bogus FILE", "memscape oom FILE --bogus"] {
        assert!(session.check(wrong).is_err(), "{wrong}");
    }
    for wrong in ["memscape bogus", "memscape oom --bogus"] {
        assert!(session.check_span(wrong).is_err(), "{wrong}");
    }
    for right in ["memscape oom", "memscape html --sql", "memscape oom FILE", "# a comment"] {
        assert_eq!(session.check_span(right), Ok(()), "{right}");
    }
}

#[test]
fn commands_in_help_run() {
    let mut session = Session::new("help");
    let mut errors = Vec::new();
    for command in session.commands() {
        let mut help = session.workshop.command(PROGRAM);
        help.args([&*command, "--help"]);
        if command == "run" && !has_python() {
            continue;
        }
        let output = session.workshop.output(help, "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.to_lowercase().contains("usage:"), "{command}: {text}");
        // In a list of examples each line is a command. Elsewhere commands are quoted or only named.
        let examples = text.lines().map(str::trim).filter(|line| line.starts_with("memscape "));
        let quoted: Vec<&str> = text.split('"').skip(1).step_by(2).filter(|it| it.starts_with("memscape ")).collect();
        for example in examples {
            errors.extend(session.check(example).err().map(|error| format!("{command} --help: {example}: {error}")));
        }
        for example in quoted {
            errors
                .extend(session.check_span(example).err().map(|error| format!("{command} --help: {example}: {error}")));
        }
        let named = text.split(&[' ', '\n'][..]).collect::<Vec<_>>();
        for pair in named.windows(2).filter(|pair| pair[0] == "memscape") {
            let name = pair[1].trim_end_matches(|it: char| !it.is_alphanumeric());
            if !(session.commands().iter().any(|known| known == name) || classified::PROSE.contains(&name)) {
                errors.push(format!("{command} --help names a command memscape {name}, which does not exist"));
            }
        }
    }
    assert_none(&errors);
}

#[test]
fn queries_in_documents_run() {
    let workshop = Workshop::new("sql");
    let mut errors = Vec::new();
    let mut count = 0;
    for document in documents() {
        for block in document.blocks.iter().filter(|block| block.language == "sql") {
            for (line, query) in (block.line + 1..).zip(block.text.lines()) {
                count += 1;
                let words = ["sql", "FILE", query].map(str::to_owned);
                errors.extend(
                    workshop.memscape(&words, "").err().map(|error| format!("{}:{line}: {error}", document.name)),
                );
            }
        }
    }
    assert_none(&errors);
    assert!(count >= 4, "{count} queries were run");
}

#[test]
fn manual_lists_all_sql_tables() {
    let page = document("www/docs/queries.md");
    let rows = page.paragraphs.iter().skip_while(|it| it.text != "| table | rows |");
    let first_cells = rows.take_while(|it| it.text.starts_with('|')).filter_map(|it| it.text.split('|').nth(1));
    let named: Vec<&str> = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let named: Vec<&str> = named.iter().map(|it| it.split('(').next().unwrap()).collect();
    let mut known = memscape::sql::TABLES.map(|table| table.name).to_vec();
    let mut sorted = named.clone();
    known.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(sorted, known);
    let count = format!("{} ready-made queries", memscape::sql::EXAMPLE_QUERIES.len());
    assert!(page.paragraphs.iter().any(|it| it.text.contains(&count)), "{} does not say {count:?}", page.name);
}
