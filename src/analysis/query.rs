//! What a search looks for: the text that a person types → a query, or what is wrong with it.
//!
//! ```text
//! query   = "#" number                   the allocation of this number (its place in order of birth, from 0)
//!         | "0x" hexadecimal             every allocation whose requested bytes hold this address, one after the other
//!         | ["size"] ("=" | "<" | "<=" | ">" | ">=") size       by requested bytes
//!         | ["size"] [size] ".." [size]  from … to, both of them included
//!         | size                         with a unit: what the page shows so, `38.1 MiB`
//!         | frame                        every allocation with such a frame in its stack
//!         | "@" frame                    every allocation whose innermost frame of the user's own code is such a one
//!         | "freed"                          every allocation that is freed in the trace: hides what is never freed
//!         | "never-freed"                    every allocation that is live at the end of the trace
//!         | "@category" name           every allocation of this category, in whatever case, with or without quotes
//! frame   = "/" expression "/" ["i"]     a regular expression over the frame ([`Expression`]); "i": in whatever case
//!         | '"' text '"'                 a part of the frame, as it is
//!         | text                         the same in whatever case (of ASCII letters)
//! number  = digits, also as the page writes them: 1,234
//! size    = number ["." digits] [unit]   without a unit bytes; units are powers of 1024:
//! unit    = B | K | M | G | T | KiB | MiB | GiB | TiB           (a size alone needs B or one of the long ones)
//! ```
//! A frame reads `file:line function`, as the details have it; one without a file is its function. What begins like another form
//! and is none (`<module>`, `../train.py`, `/home/me/train.py`) is text; quotes make text of everything.

mod error;
mod size;

use super::expression::{Case, Expression};
pub use error::QueryError;
use size::{Size, digits};

/// What is typed for allocations that the trace frees, and for those it does not.
pub const FREED: &str = "freed";
/// See [`FREED`].
pub const NEVER_FREED: &str = "never-freed";

/// Characters a query may have.
pub const LONGEST: usize = 500;

/// What a search looks for.
#[derive(Clone, Debug)]
pub enum Query {
    Number(u32),
    /// Those whose requested bytes (one at least) hold this address.
    Address(u64),
    /// Those with bytes at any address from the first to before the second.
    Addresses(u64, u64),
    /// Those of at least and at most so many requested bytes.
    Size(u64, u64),
    /// Those with a frame that reads so.
    Frame(Wording),
    /// Those whose innermost frame of the user's own code reads so.
    Site(Wording),
    /// Those of the category of this name, in whatever case.
    Category(String),
    /// Those that are freed in the trace, or (`false`) those that never are.
    Freed(bool),
}

/// How a frame has to read.
#[derive(Clone, Debug)]
pub enum Wording {
    /// It holds this text, in whatever case.
    Text(String),
    Exactly(String),
    Expression(Expression),
}

impl Wording {
    /// Whether a frame reads so.
    pub fn matches(&self, line: &str) -> bool {
        match self {
            Wording::Text(text) => holds(line.as_bytes(), text.as_bytes()),
            Wording::Exactly(text) => line.contains(text),
            Wording::Expression(expression) => expression.is_in(line),
        }
    }
}

impl Query {
    /// Reads a query as it is typed; space around it does not matter.
    ///
    /// # Errors
    /// The text begins like one of the forms above and does not go on like it, is empty, or is too long.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QueryError::Empty);
        }
        if text.chars().nth(LONGEST).is_some() {
            return Err(QueryError::TooLong);
        }
        if let Some(freed) = [(FREED, true), (NEVER_FREED, false)].into_iter().find(|&(word, _)| word == text) {
            return Ok(Query::Freed(freed.1));
        }
        if let Some(number) = text.strip_prefix('#') {
            let number = digits(number.trim()).and_then(|number| u32::try_from(number).ok());
            return number.map(Query::Number).ok_or(QueryError::Number);
        }
        if has_base(text) {
            let Some((from, to)) = text.split_once("..") else {
                return address(text).map(Query::Address).ok_or(QueryError::Address);
            };
            let ends = address(from.trim()).zip(address(to.trim())).filter(|(from, to)| from < to);
            return ends.map(|(from, to)| Query::Addresses(from, to)).ok_or(QueryError::Address);
        }
        // `size.py` is text all the same.
        let bounds = text.strip_prefix("size").map_or(text, str::trim_start);
        if let Some(compared) = comparison(bounds) {
            return compared;
        }
        if let Some((from, to)) = range(bounds) {
            return between(from, to);
        }
        if text.ends_with(['b', 'B'])
            && let Some(size) = Size::read(text)
        {
            let size = size?;
            return sized(size.least_shown_so(), size.most_shown_so());
        }
        match text.strip_prefix('@').filter(|rest| !rest.is_empty()) {
            Some(of) => match of.strip_prefix("category ").map(str::trim) {
                Some(name) => Ok(Query::Category(unquoted(name).unwrap_or(name).to_owned())),
                None => wording(of).map(Query::Site),
            },
            None => wording(text).map(Query::Frame),
        }
    }
}

fn has_base(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

/// A hexadecimal address.
fn address(text: &str) -> Option<u64> {
    let digits = text.get(2..).filter(|_| has_base(text))?;
    let is_hexadecimal = (1..=16).contains(&digits.len()) && digits.chars().all(|it| it.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)
}

fn wording(text: &str) -> Result<Wording, QueryError> {
    if let Some((expression, flags)) = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
        && !expression.is_empty()
        && matches!(flags, "" | "i")
    {
        let case = if flags == "i" { Case::Folds } else { Case::Matters };
        return Expression::new(expression, case).map(Wording::Expression).map_err(QueryError::Expression);
    }
    Ok(match unquoted(text) {
        Some(quoted) => Wording::Exactly(quoted.to_owned()),
        None => Wording::Text(text.to_owned()),
    })
}

fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|text| !text.is_empty())
}

/// Whether `text` holds `part`, small and capital ASCII letters being the same.
fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len().max(1)).any(|place| place.eq_ignore_ascii_case(part))
}

/// A comparison with a size, if the text is one.
fn comparison(text: &str) -> Option<Result<Query, QueryError>> {
    let signs = text.chars().take_while(|sign| matches!(sign, '<' | '=' | '>')).count();
    let (sign, size) = text.split_at_checked(signs)?;
    let size = size.trim_start();
    // `<module>` and `<frozen …>` are functions and files.
    if signs == 0 || !(size.is_empty() || size.starts_with(|first: char| first.is_ascii_digit() || first == '.')) {
        return (sign == "=").then_some(Err(QueryError::Size));
    }
    let size = match Size::read(size) {
        Some(Ok(size)) => size,
        Some(Err(wrong)) => return Some(Err(wrong)),
        None => return Some(Err(QueryError::Size)),
    };
    let (floor, ceiling) = (size.floor(), size.ceiling());
    Some(match sign {
        "=" if floor != ceiling => Err(QueryError::Fraction),
        "=" => sized(floor, floor),
        "<" => ceiling.checked_sub(1).map_or(Err(QueryError::NoSuchSize), |most| sized(0, most)),
        "<=" => sized(0, floor),
        ">" => floor.checked_add(1).map_or(Err(QueryError::NoSuchSize), |least| sized(least, u64::MAX)),
        ">=" => sized(ceiling, u64::MAX),
        _ => Err(QueryError::Size),
    })
}

/// The two ends of a range, if the text is one: `a..b` is none.
fn range(text: &str) -> Option<(&str, &str)> {
    let (from, to) = text.split_once("..")?;
    let (from, to) = (from.trim(), to.trim());
    let fits = |end: &str| end.is_empty() || end.starts_with(|first: char| first.is_ascii_digit());
    (fits(from) && fits(to) && !(from.is_empty() && to.is_empty())).then_some((from, to))
}

fn between(from: &str, to: &str) -> Result<Query, QueryError> {
    let end = |text: &str| match text {
        "" => Ok(None),
        text => Size::read(text).ok_or(QueryError::Size)?.map(Some),
    };
    sized(end(from)?.map_or(0, |from| from.ceiling()), end(to)?.map_or(u64::MAX, |to| to.floor()))
}

fn sized(least: u64, most: u64) -> Result<Query, QueryError> {
    if least <= most { Ok(Query::Size(least, most)) } else { Err(QueryError::NoSuchSize) }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/query.rs"]
mod tests;
