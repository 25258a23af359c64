//! Whether a text is one statement that reads, before SQLite's parser sees it.

use crate::error::Error;

/// What statements that read begin with.
const READING: [&str; 3] = ["SELECT", "VALUES", "WITH"];

/// Whether this is one statement that reads. What it reads, and whether a `WITH` ends in writing, SQLite's authorizer is asked.
pub(crate) fn check(sql: &str) -> Result<(), Error> {
    let (first, rest) = word(skip(sql));
    if first.is_empty() && skip(sql).is_empty() {
        return Err(Error::Nothing);
    }
    let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let read = match first {
        explain if is(explain, "EXPLAIN") => {
            let (query, behind) = word(skip(rest));
            let (plan, behind) = word(skip(behind));
            if is(query, "QUERY") && is(plan, "PLAN") { word(skip(behind)).0 } else { query }
        }
        first => first,
    };
    if !READING.iter().any(|reading| is(read, reading)) && !skip(sql).starts_with('(') {
        let named: String = read.chars().take(20).collect();
        let named = if named.is_empty() { "this".to_owned() } else { named.to_uppercase() };
        return Err(Error::Refused(named));
    }
    let behind = end(sql);
    if skip(behind.trim_start_matches([';', ' ', '\n', '\r', '\t'])).is_empty() { Ok(()) } else { Err(Error::Several) }
}

/// Without spaces and comments at its beginning.
fn skip(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches([' ', '\n', '\r', '\t', '\u{c}', ';', '\u{feff}']);
        text = match text.get(..2) {
            Some("--") => text.split_once('\n').map_or("", |(_, rest)| rest),
            Some("/*") => text.get(2..).and_then(|inner| inner.split_once("*/")).map_or("", |(_, rest)| rest),
            _ => return text,
        };
    }
}

/// Its first word, and what is behind it.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at(end)
}

/// What is behind the first semicolon that ends a statement.
fn end(sql: &str) -> &str {
    let mut rest = skip(sql);
    while let Some(sign) = rest.chars().next() {
        let close = match sign {
            ';' => return rest.get(1..).unwrap_or_default(),
            '\'' | '"' | '`' => Some(sign),
            '[' => Some(']'),
            _ => None,
        };
        rest = rest.get(sign.len_utf8()..).unwrap_or_default();
        if let Some(close) = close {
            // A doubled quote ends one text and begins the next.
            rest = rest.split_once(close).map_or("", |(_, rest)| rest);
        }
        if rest.starts_with("--") || rest.starts_with("/*") {
            rest = skip_comment(rest);
        }
    }
    ""
}

/// Without the comment at its beginning. A semicolon behind it stays.
fn skip_comment(text: &str) -> &str {
    match text.strip_prefix("/*") {
        Some(inner) => inner.split_once("*/").map_or("", |(_, rest)| rest),
        None => text.split_once('\n').map_or("", |(_, rest)| rest),
    }
}

#[cfg(test)]
#[path = "../../tests/units/sqlite/statement.rs"]
mod tests;
