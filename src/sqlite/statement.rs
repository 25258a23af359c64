//! Checks that a query is a single statement that only reads, before SQLite parses it.

use crate::error::Error;

/// First keywords of SQLite's statements that do more than read (<https://www.sqlite.org/lang.html>).
#[rustfmt::skip]
const NOT_ALLOWED: [&str; 19] = [
    "ALTER", "ANALYZE", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DETACH", "DROP", "END", "INSERT", "PRAGMA",
    "REINDEX", "RELEASE", "REPLACE", "ROLLBACK", "SAVEPOINT", "UPDATE", "VACUUM",
];

/// Checks that a text is a single statement and does not start with a keyword of [`NOT_ALLOWED`]. A statement that
/// still writes, such as a `WITH` that ends in `DELETE`, is rejected by SQLite's authorizer later, and a misspelled
/// keyword by its parser.
pub(crate) fn check(sql: &str) -> Result<(), Error> {
    let (first, rest) = split_word(skip_whitespace(sql));
    if first.is_empty() && skip_whitespace(sql).is_empty() {
        return Err(Error::NoStatement);
    }
    let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let read = match first {
        explain if is(explain, "EXPLAIN") => {
            let (query, behind) = split_word(skip_whitespace(rest));
            let (plan, behind) = split_word(skip_whitespace(behind));
            if is(query, "QUERY") && is(plan, "PLAN") { split_word(skip_whitespace(behind)).0 } else { query }
        }
        first => first,
    };
    if let Some(keyword) = NOT_ALLOWED.iter().find(|keyword| is(read, keyword)) {
        return Err(Error::NotAllowed((*keyword).to_owned()));
    }
    let behind = after_statement(sql);
    if skip_whitespace(behind.trim_start_matches([';', ' ', '\n', '\r', '\t'])).is_empty() {
        Ok(())
    } else {
        Err(Error::MultipleStatements)
    }
}

/// Skips leading whitespace and comments.
fn skip_whitespace(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches([' ', '\n', '\r', '\t', '\u{c}', ';', '\u{feff}']);
        text = match text.get(..2) {
            Some("--") => text.split_once('\n').map_or("", |(_, rest)| rest),
            Some("/*") => text.get(2..).and_then(|inner| inner.split_once("*/")).map_or("", |(_, rest)| rest),
            _ => return text,
        };
    }
}

/// Splits a text after its first word.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns the text after the first semicolon outside of strings and comments.
fn after_statement(sql: &str) -> &str {
    let mut rest = skip_whitespace(sql);
    while let Some(c) = rest.chars().next() {
        let close = match c {
            ';' => return rest.get(1..).unwrap_or_default(),
            '\'' | '"' | '`' => Some(c),
            '[' => Some(']'),
            _ => None,
        };
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if let Some(close) = close {
            // A doubled quote ends one text and starts the next.
            rest = rest.split_once(close).map_or("", |(_, rest)| rest);
        }
        if rest.starts_with("--") || rest.starts_with("/*") {
            rest = skip_comment(rest);
        }
    }
    ""
}

/// Skips the comment at the start of a text, but not a semicolon behind the comment.
fn skip_comment(text: &str) -> &str {
    match text.strip_prefix("/*") {
        Some(inner) => inner.split_once("*/").map_or("", |(_, rest)| rest),
        None => text.split_once('\n').map_or("", |(_, rest)| rest),
    }
}

#[cfg(test)]
#[path = "../../tests/units/sqlite/statement.rs"]
mod tests;
