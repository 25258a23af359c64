//! Which rows of a table are wanted: the text that a person types → terms that all have to hold, or what is wrong with it.
//!
//! ```text
//! filter = term { " & " term }
//! term   = "age" events           how many events it has lived: age>1000, age 10..500
//!        | "life" events          how many it lives in all
//!        | query                  as a search
//! events = ("=" | "<" | "<=" | ">" | ">=") number | [number] ".." [number]
//! ```

use super::query::{Query, QueryError};

/// Terms of a filter: each has a bit for every stack, and looks at every frame.
const MOST_TERMS: usize = 16;

/// What has to hold of an allocation.
#[derive(Clone, Debug)]
pub enum Term {
    Query(Query),
    /// It has lived for at least and at most so many events.
    Age(u64, u64),
    /// It lives for at least and at most so many events; what is live at the end lives longer than any number, and of what was born
    /// before the trace as much counts as is known.
    Life(u64, u64),
}

/// All of these have to hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// In the order they are typed in.
    pub terms: Vec<Term>,
}

impl Filter {
    /// Reads a filter as it is typed; without a term, everything passes.
    ///
    /// # Errors
    /// One of the terms begins like a query or a number of events and does not go on like it, or there are too many.
    pub fn parse(text: &str) -> Result<Filter, QueryError> {
        let mut terms = Vec::new();
        for part in text.split(" & ").map(str::trim).filter(|part| !part.is_empty() && *part != "&") {
            if terms.len() == MOST_TERMS {
                return Err(QueryError::TooManyTerms);
            }
            terms.push(term(part)?);
        }
        Ok(Filter { terms })
    }
}

fn term(text: &str) -> Result<Term, QueryError> {
    let (rest, is_age) = match (text.strip_prefix("age"), text.strip_prefix("life")) {
        (Some(rest), _) => (rest.trim_start(), true),
        (None, Some(rest)) => (rest.trim_start(), false),
        (None, None) => return Query::parse(text).map(Term::Query),
    };
    let is_compared = rest.starts_with(['<', '=', '>']);
    let is_number = rest.contains(|letter: char| letter.is_ascii_digit())
        && !rest.contains(|letter: char| !(letter.is_ascii_digit() || " ,.<=>".contains(letter)));
    match Query::parse(rest) {
        // `agent.py` and `lifetime` are text, like all else.
        _ if !is_compared && !is_number => Query::parse(text).map(Term::Query),
        Ok(Query::Size(least, most)) if is_number && is_age => Ok(Term::Age(least, most)),
        Ok(Query::Size(least, most)) if is_number => Ok(Term::Life(least, most)),
        Err(wrong @ (QueryError::NoSuchSize | QueryError::Fraction)) => Err(wrong),
        _ => Err(QueryError::Events),
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/filter.rs"]
mod tests;
