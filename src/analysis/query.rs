//! Parses search queries.
//!
//! ```text
//! query   = "#" number                   the allocation with this id (in order of allocation, from 0)
//!         | "0x" hexadecimal             allocations whose requested bytes contain this address
//!         | "0x" hexadecimal ".." "0x" hexadecimal              allocations that overlap this range of addresses
//!         | ["size"] ("=" | "<" | "<=" | ">" | ">=") size       by requested bytes
//!         | ["size"] [size] ".." [size]  from … to, both inclusive
//!         | size                         with a unit: all sizes that the page shows like this, `38.1 MiB`
//!         | frame                        allocations with a matching frame in their stack
//!         | "@" frame                    allocations with a matching call site
//!         | "freed"                      allocations that are freed in the trace
//!         | "never-freed"                allocations that are live at the end of the trace
//!         | "held:" frame                allocations that a matching Python object holds, as found by the recorder
//!         | "@category" name             allocations of this category, by its name or label, ignoring case, with or
//!                                        without quotes
//!         | "@metadata" frame            allocations with matching user metadata, or whose annotation matches
//!         | "stream:" stream             allocations on this stream: stream:0, stream:0x55d0, stream:default
//!         | "pool:" pool                 allocations in this pool: pool:0,1, pool:default, pool:MemPool (0, 1)
//! frame   = "/" expression "/" ["i"]     a regular expression over the frame ([`Expression`]); "i" ignores case
//!         | '"' text '"'                 a part of the frame, case-sensitive
//!         | text                         the same, ignoring case (of ASCII letters)
//! number  = digits, also with commas: 1,234
//! stream  = ["stream"] (digits | "0x" hexadecimal) | "default" ["stream"]
//! pool    = [name] ["("] number "," number [")"] | "default" ["pool"]
//! size    = number ["." digits] [unit]   bytes if there is no unit; units are powers of 1024:
//! unit    = B | K | M | G | T | KiB | MiB | GiB | TiB           (a size alone needs B or one of the long ones)
//! ```
//! The searched text of a frame is `file:line function`, or only the function if the frame has no file. Text that
//! starts like another form but is not valid as such (`<module>`, `../train.py`, `/home/me/train.py`) is a frame
//! search. Quotes force a frame search.

mod error;
mod labels;
mod size;

use super::expression::{CaseMode, Expression};
pub use error::QueryError;
use size::{Size, digits};

/// Search query that matches all allocations freed in the trace.
pub const FREED: &str = "freed";
/// Search query that matches all allocations that are live at the end of the trace.
pub const NEVER_FREED: &str = "never-freed";

/// Maximum length of a search query in characters.
pub const MAX_LENGTH: usize = 500;

/// A parsed search query.
#[derive(Clone, Debug)]
pub enum Query {
    Number(u32),
    /// Allocations whose requested bytes contain this address.
    Address(u64),
    /// Allocations that overlap an address range. Contains its inclusive start and exclusive end.
    Addresses(u64, u64),
    /// Allocations with requested bytes in this range, inclusive.
    Size(u64, u64),
    /// Allocations with a matching frame in their stack.
    Frame(FrameMatcher),
    /// Allocations with a matching call site.
    Site(FrameMatcher),
    /// Allocations whose holder matches, such as `__main__.HISTORY[0]`.
    HeldBy(FrameMatcher),
    /// Allocations in the category with this name or label, ignoring case.
    Category(String),
    /// Allocations whose metadata matches: that of the allocation, or of its newest `annotate` event.
    Metadata(FrameMatcher),
    Stream(u64),
    Pool((u64, u64)),
    /// Allocations that are freed in the trace (`true`), or that are live at the end of the trace (`false`).
    Freed(bool),
}

/// A condition on the text of a frame, `file:line function`, or on metadata.
#[derive(Clone, Debug)]
pub enum FrameMatcher {
    /// Contains this text, ignoring ASCII case.
    Text(String),
    Exactly(String),
    Expression(Expression),
}

impl FrameMatcher {
    /// Returns true if the text of a frame, or the text of metadata, matches.
    pub fn matches(&self, line: &str) -> bool {
        match self {
            FrameMatcher::Text(text) => contains(line.as_bytes(), text.as_bytes()),
            FrameMatcher::Exactly(text) => line.contains(text),
            FrameMatcher::Expression(expression) => expression.matches(line),
        }
    }
}

impl Query {
    /// Parses a search query. Surrounding whitespace is ignored.
    ///
    /// # Errors
    /// Returns an error if the text starts like one of the forms above but is invalid, or if it is empty or too long.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QueryError::Empty);
        }
        if text.chars().nth(MAX_LENGTH).is_some() {
            return Err(QueryError::TooLong);
        }
        if let Some(freed) = [(FREED, true), (NEVER_FREED, false)].into_iter().find(|&(word, _)| word == text) {
            return Ok(Query::Freed(freed.1));
        }
        if let Some(number) = text.strip_prefix('#') {
            let number = digits(number.trim()).and_then(|number| u32::try_from(number).ok());
            return number.map(Query::Number).ok_or(QueryError::Number);
        }
        if let Some(stream) = text.strip_prefix("stream:") {
            return labels::stream(stream).map(Query::Stream).ok_or(QueryError::Stream);
        }
        if let Some(pool) = text.strip_prefix("pool:") {
            return labels::pool(pool).map(Query::Pool).ok_or(QueryError::Pool);
        }
        if is_hexadecimal(text) {
            let Some((from, to)) = text.split_once("..") else {
                return address(text).map(Query::Address).ok_or(QueryError::Address);
            };
            let ends = address(from.trim()).zip(address(to.trim())).filter(|(from, to)| from < to);
            return ends.map(|(from, to)| Query::Addresses(from, to)).ok_or(QueryError::Address);
        }
        // `size.py` is plain text.
        let bounds = text.strip_prefix("size").map_or(text, str::trim_start);
        if let Some(compared) = parse_comparison(bounds) {
            return compared;
        }
        if let Some((from, to)) = split_range(bounds) {
            return parse_range(from, to);
        }
        if text.ends_with(['b', 'B'])
            && let Some(size) = Size::parse(text)
        {
            let size = size?;
            return size_query(size.min_displayed(), size.max_displayed());
        }
        if let Some(holder) = text.strip_prefix("held:").map(str::trim_start).filter(|holder| !holder.is_empty()) {
            return parse_matcher(holder).map(Query::HeldBy);
        }
        match text.strip_prefix('@').filter(|rest| !rest.is_empty()) {
            Some(of) => match (of.strip_prefix("category ").map(str::trim), of.strip_prefix("metadata ")) {
                (Some(name), _) => Ok(Query::Category(unquoted(name).unwrap_or(name).to_owned())),
                (_, Some(metadata)) => parse_matcher(metadata.trim()).map(Query::Metadata),
                (None, None) => parse_matcher(of).map(Query::Site),
            },
            None => parse_matcher(text).map(Query::Frame),
        }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

/// Parses the digits of a hexadecimal address.
fn address(text: &str) -> Option<u64> {
    let digits = text.get(2..).filter(|_| is_hexadecimal(text))?;
    let is_hexadecimal = (1..=16).contains(&digits.len()) && digits.chars().all(|it| it.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)
}

fn parse_matcher(text: &str) -> Result<FrameMatcher, QueryError> {
    if let Some((expression, flags)) = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
        && !expression.is_empty()
        && matches!(flags, "" | "i")
    {
        let case = if flags == "i" { CaseMode::Insensitive } else { CaseMode::Sensitive };
        return Expression::new(expression, case).map(FrameMatcher::Expression).map_err(QueryError::Expression);
    }
    Ok(match unquoted(text) {
        Some(quoted) => FrameMatcher::Exactly(quoted.to_owned()),
        None => FrameMatcher::Text(text.to_owned()),
    })
}

fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|text| !text.is_empty())
}

/// Returns true if `text` contains `part`, ignoring ASCII case.
fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len().max(1)).any(|place| place.eq_ignore_ascii_case(part))
}

/// Parses a size comparison such as `>=1MiB`. Returns `None` if the text has another form.
fn parse_comparison(text: &str) -> Option<Result<Query, QueryError>> {
    let length = text.chars().take_while(|c| matches!(c, '<' | '=' | '>')).count();
    let (operator, size) = text.split_at_checked(length)?;
    let size = size.trim_start();
    // `<module>` and `<frozen …>` are functions and files.
    if length == 0 || !(size.is_empty() || size.starts_with(|first: char| first.is_ascii_digit() || first == '.')) {
        return (operator == "=").then_some(Err(QueryError::Size));
    }
    let size = match Size::parse(size) {
        Some(Ok(size)) => size,
        Some(Err(wrong)) => return Some(Err(wrong)),
        None => return Some(Err(QueryError::Size)),
    };
    let (floor, ceiling) = (size.floor(), size.ceiling());
    Some(match operator {
        "=" if floor != ceiling => Err(QueryError::Fraction),
        "=" => size_query(floor, floor),
        "<" => ceiling.checked_sub(1).map_or(Err(QueryError::EmptyRange), |max| size_query(0, max)),
        "<=" => size_query(0, floor),
        ">" => floor.checked_add(1).map_or(Err(QueryError::EmptyRange), |min| size_query(min, u64::MAX)),
        ">=" => size_query(ceiling, u64::MAX),
        _ => Err(QueryError::Size),
    })
}

/// Splits a range such as `1MiB..2MiB` into its two ends. Returns `None` if the text has another form, such as `a..b`.
fn split_range(text: &str) -> Option<(&str, &str)> {
    let (from, to) = text.split_once("..")?;
    let (from, to) = (from.trim(), to.trim());
    let fits = |end: &str| end.is_empty() || end.starts_with(|first: char| first.is_ascii_digit());
    (fits(from) && fits(to) && !(from.is_empty() && to.is_empty())).then_some((from, to))
}

fn parse_range(from: &str, to: &str) -> Result<Query, QueryError> {
    let end = |text: &str| match text {
        "" => Ok(None),
        text => Size::parse(text).ok_or(QueryError::Size)?.map(Some),
    };
    size_query(end(from)?.map_or(0, |from| from.ceiling()), end(to)?.map_or(u64::MAX, |to| to.floor()))
}

fn size_query(min: u64, max: u64) -> Result<Query, QueryError> {
    if min <= max { Ok(Query::Size(min, max)) } else { Err(QueryError::EmptyRange) }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/query.rs"]
mod tests;
