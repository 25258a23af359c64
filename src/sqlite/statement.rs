//! Checks that a query is a single statement that only reads, before SQLite parses it.

use crate::error::Error;

/// First keywords of statements that may only read.
const READING: [&str; 3] = ["SELECT", "VALUES", "WITH"];

/// Checks that a text is a single statement and starts with a keyword for reading. A statement that still writes, such
/// as a `WITH` that ends in `DELETE`, is rejected by SQLite's authorizer later.
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
    if !READING.iter().any(|reading| is(read, reading)) && !skip_whitespace(sql).starts_with('(') {
        let named: String = read.chars().take(20).collect();
        let named = if named.is_empty() { "this".to_owned() } else { named.to_uppercase() };
        return Err(Error::NotAllowed(named));
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
