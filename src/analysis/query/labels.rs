//! Parses the parts of search queries that refer to streams and pools.

use super::{Query, QueryError};

/// Parses `stream:0x55d0` or `pool:0,1`. Returns `None` if the text has another form.
pub(super) fn parse(text: &str) -> Option<Result<Query, QueryError>> {
    if let Some(stream) = text.strip_prefix("stream:") {
        return Some(number(stream).map(Query::Stream).ok_or(QueryError::Stream));
    }
    let pool = text.strip_prefix("pool:")?.trim().trim_start_matches('(').trim_end_matches(')').split_once(',');
    let pool = pool.and_then(|(first, second)| number(first).zip(number(second)));
    Some(pool.map(Query::Pool).ok_or(QueryError::Pool))
}

/// Parses a decimal number, or a hexadecimal number with the prefix `0x`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')),
        None => text.parse().ok(),
    };
    number.filter(|_| !text.starts_with('+'))
}
