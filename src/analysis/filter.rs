//! Parses filters for the table of allocations. A filter consists of terms that must all match.
//!
//! ```text
//! filter = term { " & " term }
//! term   = "age" events           age in events: age>1000, age 10..500
//!        | "life" events          lifetime in events
//!        | query                  as in a search
//! events = ("=" | "<" | "<=" | ">" | ">=") number | [number] ".." [number]
//! ```

use super::query::{Query, QueryError};

/// Maximum number of terms. Each takes one bit per stack and is matched against every frame.
const MAX_TERMS: usize = 16;

/// A condition on an allocation.
#[derive(Clone, Debug)]
pub enum Term {
    Query(Query),
    /// Minimum and maximum age in events, inclusive.
    Age(u64, u64),
    /// Minimum and maximum lifetime in events, inclusive. The lifetime of allocations that are live at the end is
    /// unlimited. For allocations from before recording, it is counted from the first recorded event.
    Life(u64, u64),
}

/// A parsed filter of allocations. All terms must match.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Terms in the order of the text.
    pub terms: Vec<Term>,
}

impl Filter {
    /// Parses a filter. A filter without terms matches every allocation.
    ///
    /// # Errors
    /// Returns an error if a term starts like a query or a number of events but is invalid, or if there are too many
    /// terms.
    pub fn parse(text: &str) -> Result<Filter, QueryError> {
        let mut terms = Vec::new();
        for part in text.split(" & ").map(str::trim).filter(|part| !part.is_empty() && *part != "&") {
            if terms.len() == MAX_TERMS {
                return Err(QueryError::TooManyTerms);
            }
            terms.push(parse_term(part)?);
        }
        Ok(Filter { terms })
    }
}

fn parse_term(text: &str) -> Result<Term, QueryError> {
    let (rest, is_age) = match (text.strip_prefix("age"), text.strip_prefix("life")) {
        (Some(rest), _) => (rest.trim_start(), true),
        (None, Some(rest)) => (rest.trim_start(), false),
        (None, None) => return Query::parse(text).map(Term::Query),
    };
    let is_compared = rest.starts_with(['<', '=', '>']);
    let is_number = rest.contains(|letter: char| letter.is_ascii_digit())
        && !rest.contains(|letter: char| !(letter.is_ascii_digit() || " ,.<=>".contains(letter)));
    match Query::parse(rest) {
        // `agent.py` and `lifetime` are plain text.
        _ if !is_compared && !is_number => Query::parse(text).map(Term::Query),
        Ok(Query::Size(least, most)) if is_number && is_age => Ok(Term::Age(least, most)),
        Ok(Query::Size(least, most)) if is_number => Ok(Term::Life(least, most)),
        Err(wrong @ (QueryError::EmptyRange | QueryError::Fraction)) => Err(wrong),
        _ => Err(QueryError::Events),
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/filter.rs"]
mod tests;
