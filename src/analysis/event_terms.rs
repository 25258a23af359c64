//! Which events are wanted: the text that a person types → terms that all have to hold, or what is wrong with it and where.
//!
//! ```text
//! filter  = term { " & " term }
//! term    = action { "," action }                one of these: alloc, free_requested, segment_map …, as files name them
//!         | ["b'" | "s'"] ["0x"] hexadecimal "_" number      the block or segment at that address of this version, as memory_viz names it
//!         | "stream:" number                     where known; also hexadecimal: stream:0x55d0
//!         | "pool:" number "," number            where known: pool:0,1
//!         | query                                as a search: sizes and addresses of segments as well as of blocks, all else of blocks
//! ```

use super::query::{Query, QueryError};
use history::snapshot::Action;

/// Terms of a filter: each has a bit for every stack, and looks at every frame.
const MOST_TERMS: usize = 16;

/// What has to hold of an event.
#[derive(Clone, Debug)]
pub enum EventTerm {
    /// It does one of these: bit `k` stands for the `k`-th of [`Action::ALL`].
    Actions(u32),
    /// It is about what is at this address for the how-manieth time.
    Versioned(VersionedName),
    Stream(u64),
    Pool((u64, u64)),
    /// A search finds what it is about.
    Query(Query),
}

/// `b'7f89b4000000_0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedName {
    pub address: u64,
    /// How many have ended there before.
    pub version: u32,
    pub of: Named,
}

/// What a [`VersionedName`] is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// `7f89b4000000_0`
    Any,
    /// `b'7f89b4000000_0`
    Block,
    /// `s'7f89b4000000_0`
    Segment,
}

/// All of these have to hold.
#[derive(Clone, Debug, Default)]
pub struct EventTerms {
    /// In the order they are typed in.
    pub terms: Vec<EventTerm>,
}

/// Why a text is no filter of events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("At character {place}: {error}")]
pub struct EventTermError {
    /// Where the term begins that can't be read: which character, from 1.
    pub place: usize,
    pub error: QueryError,
}

impl EventTerms {
    /// Reads a filter as it is typed; without a term, everything passes.
    ///
    /// # Errors
    /// One of the terms begins like one of the forms above and does not go on like it, or there are too many.
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
            let read = if terms.len() == MOST_TERMS { Err(QueryError::TooManyTerms) } else { term(typed) };
            terms.push(read.map_err(|error| EventTermError { place, error })?);
        }
        Ok(EventTerms { terms })
    }
}

fn term(text: &str) -> Result<EventTerm, QueryError> {
    if let Some(stream) = text.strip_prefix("stream:") {
        return number(stream).map(EventTerm::Stream).ok_or(QueryError::Stream);
    }
    if let Some(pool) = text.strip_prefix("pool:") {
        let pool = pool.trim().trim_start_matches('(').trim_end_matches(')').split_once(',');
        let pool = pool.and_then(|(first, second)| number(first).zip(number(second)));
        return pool.map(EventTerm::Pool).ok_or(QueryError::Pool);
    }
    if let Some(actions) = actions(text) {
        return Ok(EventTerm::Actions(actions));
    }
    versioned(text).map_or_else(|| Query::parse(text).map(EventTerm::Query), |name| Ok(EventTerm::Versioned(name)))
}

/// A number of files: digits, or hexadecimal ones behind `0x`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits),
        None => text.parse().ok().filter(|_| !text.starts_with('+')),
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// The actions of these names, as bits; `None` when one is none.
pub fn actions(names: &str) -> Option<u32> {
    names.split(',').map(str::trim).try_fold(0, |bits, name| {
        let number = Action::ALL.iter().position(|action| action.name() == name)?;
        Some(bits | 1 << number)
    })
}

/// Digits of an address that begins with a letter and is not a function's name: `add_1` is one.
const SURE_DIGITS: usize = 9;

fn versioned(text: &str) -> Option<VersionedName> {
    let (of, name) = match (text.strip_prefix("b'"), text.strip_prefix("s'")) {
        (Some(name), _) => (Named::Block, name),
        (None, Some(name)) => (Named::Segment, name),
        (None, None) => (Named::Any, text),
    };
    let (address, version) = name.rsplit_once('_')?;
    let digits = address.strip_prefix("0x").unwrap_or(address);
    let is_sure = digits.len() < address.len() || digits.len() >= SURE_DIGITS || of != Named::Any;
    let is_address = is_sure || digits.starts_with(|first: char| first.is_ascii_digit());
    let version = version.parse().ok().filter(|_| !version.starts_with('+'))?;
    hexadecimal(digits).filter(|_| is_address).map(|address| VersionedName { address, version, of })
}

#[cfg(test)]
#[path = "../../tests/units/analysis/event_terms.rs"]
mod tests;
