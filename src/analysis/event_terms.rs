//! Parses filters for the list of events. A filter consists of terms that must all match.
//!
//! ```text
//! filter  = term { " & " term }
//! term    = action { "," action }       any of these actions: alloc, free_requested, segment_map …, named as in files
//!         | ["b'" | "s'"] ["0x"] hexadecimal "_" number      block or segment of this address and version (memory_viz)
//!         | query                               as in a search; sizes, addresses, streams and pools match segments too
//! ```

use super::query::{Query, QueryError};
use history::snapshot::Action;

/// Maximum number of terms. Each takes one bit per stack and is matched against every frame.
const MAX_TERMS: usize = 16;

/// A condition on an event.
#[derive(Clone, Debug)]
pub enum EventTerm {
    /// The event has one of these actions. Bit `k` stands for entry `k` of [`Action::ALL`].
    Actions(u32),
    /// The event allocates or frees the block or segment with this versioned name.
    Versioned(VersionedName),
    /// The allocation or segment of the event matches a search.
    Query(Query),
}

/// A versioned name such as `b'7f89b4000000_0`, as in PyTorch's memory_viz: kind, address and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedName {
    pub address: u64,
    /// Number of blocks or segments at the same address that were freed before this one.
    pub version: u32,
    pub object: NamedObject,
}

/// Kind of object that a [`VersionedName`] refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedObject {
    /// Either kind, such as `7f89b4000000_0`.
    Any,
    /// A block, such as `b'7f89b4000000_0`.
    Block,
    /// A segment, such as `s'7f89b4000000_0`.
    Segment,
}

/// A parsed event filter. All terms must match.
#[derive(Clone, Debug, Default)]
pub struct EventTerms {
    /// Terms in the order of the text.
    pub terms: Vec<EventTerm>,
}

/// A parse error of an event filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("At character {place}: {error}")]
pub struct EventTermError {
    /// Position of the invalid term, in characters, counted from 1.
    pub place: usize,
    pub error: QueryError,
}

impl EventTerms {
    /// Parses an event filter. A filter without terms matches every event.
    ///
    /// # Errors
    /// Returns the first term that starts like one of the forms above but is invalid, or an error if there are too many
    /// terms.
    pub fn parse(text: &str) -> Result<EventTerms, EventTermError> {
        let mut terms = Vec::new();
        let mut before = 0;
        for part in text.split(" & ") {
            let typed = part.trim();
            let place = before + part.chars().take_while(|letter| letter.is_whitespace()).count() + 1;
            before += part.chars().count() + " & ".len();
            if typed.is_empty() || typed == "&" {
                continue;
            }
            let read = if terms.len() == MAX_TERMS { Err(QueryError::TooManyTerms) } else { parse_term(typed) };
            terms.push(read.map_err(|error| EventTermError { place, error })?);
        }
        Ok(EventTerms { terms })
    }
}

fn parse_term(text: &str) -> Result<EventTerm, QueryError> {
    if let Some(actions) = parse_actions(text) {
        return Ok(EventTerm::Actions(actions));
    }
    parse_versioned(text)
        .map_or_else(|| Query::parse(text).map(EventTerm::Query), |name| Ok(EventTerm::Versioned(name)))
}

fn parse_hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// Parses a comma-separated list of action names into a bit set. Bit `k` stands for entry `k` of [`Action::ALL`].
/// Returns `None` if a name is unknown.
pub fn parse_actions(names: &str) -> Option<u32> {
    names.split(',').map(str::trim).try_fold(0, |bits, name| {
        let number = Action::ALL.iter().position(|action| action.name() == name)?;
        Some(bits | 1 << number)
    })
}

/// Minimum number of digits of an address whose first digit is a letter. Shorter texts may be function names such as
/// `add_1`.
const MIN_ADDRESS_DIGITS: usize = 9;

fn parse_versioned(text: &str) -> Option<VersionedName> {
    let (object, name) = match (text.strip_prefix("b'"), text.strip_prefix("s'")) {
        (Some(name), _) => (NamedObject::Block, name),
        (None, Some(name)) => (NamedObject::Segment, name),
        (None, None) => (NamedObject::Any, text),
    };
    let (address, version) = name.rsplit_once('_')?;
    let digits = address.strip_prefix("0x").unwrap_or(address);
    let is_sure = digits.len() < address.len() || digits.len() >= MIN_ADDRESS_DIGITS || object != NamedObject::Any;
    let is_address = is_sure || digits.starts_with(|first: char| first.is_ascii_digit());
    let version = version.parse().ok().filter(|_| !version.starts_with('+'))?;
    parse_hexadecimal(digits).filter(|_| is_address).map(|address| VersionedName { address, version, object })
}

#[cfg(test)]
#[path = "../../tests/units/analysis/event_terms.rs"]
mod tests;
