//! Syntax highlighting and completion of SQL queries.

use crate::catalog::Catalog;
use crate::functions::FUNCTIONS;
use protocol::sql::{Completion, Token, TokenClass};

/// Maximum number of suggestions.
const MAX_WORDS: usize = 12;

const KEYWORDS: [&str; 66] = [
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COLLATE",
    "CROSS",
    "CURRENT",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FROM",
    "FULL",
    "GLOB",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INTERSECT",
    "IS",
    "ISNULL",
    "JOIN",
    "LAST",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATERIALIZED",
    "NATURAL",
    "NOT",
    "NOTNULL",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PLAN",
    "PRECEDING",
    "QUERY",
    "RANGE",
    "RECURSIVE",
    "RIGHT",
    "ROW",
    "ROWS",
    "SELECT",
    "THEN",
    "UNBOUNDED",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
];

const MORE_KEYWORDS: [&str; 2] = ["WINDOW", "WITH"];

const SQL_FUNCTIONS: [&str; 31] = [
    "abs",
    "avg",
    "coalesce",
    "count",
    "dense_rank",
    "first_value",
    "format",
    "group_concat",
    "ifnull",
    "iif",
    "instr",
    "lag",
    "last_value",
    "lead",
    "length",
    "lower",
    "max",
    "min",
    "nth_value",
    "ntile",
    "nullif",
    "printf",
    "rank",
    "replace",
    "round",
    "row_number",
    "substr",
    "sum",
    "total",
    "trim",
    "upper",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().chain(&MORE_KEYWORDS).any(|keyword| keyword.eq_ignore_ascii_case(word))
}

fn own_functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().filter_map(|(call, _)| call.split('(').next())
}

/// Splits a query into contiguous tokens, including whitespace.
pub fn tokens(catalog: &Catalog, sql: &str) -> Vec<Token> {
    let tables: Vec<_> = catalog.tables().collect();
    let is_known = |word: &str| {
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        tables.iter().any(|(name, columns)| is(name) || columns.iter().any(|column| is(column.name)))
    };
    tokens_with(sql, &is_known)
}

/// Same as [`tokens`], except that `is_known` decides which words are names of tables or columns.
pub(crate) fn tokens_with(sql: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut from = 0;
    while let Some(rest) = sql.get(from..).filter(|rest| !rest.is_empty()) {
        let (length, class) = first_token(rest, is_known);
        let to = from + length.max(1);
        tokens.push(Token { from, to, class });
        from = to;
    }
    tokens
}

/// Returns the length and the syntax class of the first token.
fn first_token(rest: &str, is_known: &dyn Fn(&str) -> bool) -> (usize, TokenClass) {
    let first = rest.chars().next().unwrap_or(' ');
    let until = |end: &str, skip: usize| {
        rest.get(skip..).and_then(|rest| rest.find(end)).map_or(rest.len(), |at| skip + at + end.len())
    };
    let while_is = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
    match first {
        '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), TokenClass::Comment),
        '/' if rest.starts_with("/*") => (until("*/", 2), TokenClass::Comment),
        '\'' => (until("'", 1), TokenClass::Text),
        '"' => (until("\"", 1), TokenClass::Plain),
        _ if first.is_ascii_digit() => (while_is(|c| is_word(c) || c == '.'), TokenClass::Number),
        _ if is_word(first) => {
            let length = while_is(is_word);
            let (word, behind) = rest.split_at(length);
            let is_called = behind.trim_start().starts_with('(');
            let is_function = |name: &&str| name.eq_ignore_ascii_case(word);
            let class = match word {
                _ if is_called && own_functions().any(|name| is_function(&name)) => TokenClass::Function,
                _ if is_called && SQL_FUNCTIONS.iter().any(is_function) => TokenClass::Function,
                // `between` is a table if it is called, otherwise a keyword.
                _ if is_keyword(word) && !(is_called && is_known(word)) => TokenClass::Keyword,
                _ if is_known(word) => TokenClass::Known,
                _ => TokenClass::Plain,
            };
            (length, class)
        }
        _ => (first.len_utf8(), TokenClass::Plain),
    }
}

/// Returns suggestions for the word that ends at the byte offset `cursor`.
pub fn completions(catalog: &Catalog, sql: &str, cursor: usize) -> Completion {
    let before = sql.get(..cursor).unwrap_or(sql);
    let from = before.rfind(|c| !is_word(c)).map_or(0, |at| at + before.get(at..).map_or(1, first_length));
    let typed = before.get(from..).unwrap_or_default();
    let pieces = tokens(catalog, sql);
    let is_inside = |token: &&Token| token.from < cursor && cursor <= token.to;
    let inside = pieces.iter().find(is_inside).map(|token| token.class);
    let is_member = before.get(..from).is_some_and(|before| before.ends_with('.'));
    if matches!(inside, Some(TokenClass::Text | TokenClass::Comment | TokenClass::Number))
        || (typed.is_empty() && !is_member)
    {
        return Completion { from, words: Vec::new() };
    }
    let tables: Vec<_> = catalog.tables().collect();
    let named = |name: &str| {
        let word = |token: &Token| sql.get(token.from..token.to).is_some_and(|word| word.eq_ignore_ascii_case(name));
        pieces.iter().any(|token| token.class == TokenClass::Known && word(token))
    };
    let (mentioned, others): (Vec<_>, Vec<_>) = tables.iter().partition(|(name, _)| named(name));
    let columns = |tables: &[&(&'static str, Vec<sqlite::Column>)]| {
        let columns = tables.iter().flat_map(|(_, columns)| columns.iter().map(|column| column.name));
        columns.collect::<Vec<_>>()
    };
    // After `a.` only columns make sense. The alias `a` is not resolved.
    let mut words = columns(&mentioned);
    if !is_member {
        words.extend(tables.iter().map(|(name, _)| *name));
        words.extend(own_functions().chain(SQL_FUNCTIONS));
        words.extend(KEYWORDS.iter().chain(&MORE_KEYWORDS));
    }
    words.extend(columns(&others));
    let starts = |word: &&str| word.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    let mut found: Vec<String> = Vec::new();
    for word in words.into_iter().filter(|word| starts(word) && word.len() > typed.len()) {
        if found.len() < MAX_WORDS && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    Completion { from, words: found }
}

fn first_length(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}
