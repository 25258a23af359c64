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
    /// A search finds it.
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
mod tests {
    use super::*;
    use crate::query::Wording;

    fn shown(text: &str) -> String {
        let one = |term: &Term| match term {
            Term::Age(least, most) => format!("age {least}..{most}"),
            Term::Life(least, most) => format!("life {least}..{most}"),
            Term::Query(Query::Frame(Wording::Text(text))) => format!("text {text}"),
            Term::Query(Query::Frame(Wording::Exactly(text))) => format!("exactly {text}"),
            Term::Query(Query::Frame(Wording::Expression(_))) => "expression".to_owned(),
            Term::Query(Query::Site(_)) => "site".to_owned(),
            Term::Query(Query::Size(least, most)) => format!("size {least}..{most}"),
            Term::Query(Query::Number(number)) => format!("number {number}"),
            Term::Query(Query::Category(name)) => format!("category {name}"),
            Term::Query(Query::Address(address)) => format!("address {address}"),
        };
        match Filter::parse(text) {
            Ok(filter) => filter.terms.iter().map(one).collect::<Vec<_>>().join("; "),
            Err(wrong) => wrong.to_string(),
        }
    }

    #[test]
    fn terms_are_read() {
        let max = u64::MAX;
        let cases = [
            ("", String::new()),
            (" & ", String::new()),
            ("train.py", "text train.py".to_owned()),
            ("train.py & >=1KiB & age>1,000", format!("text train.py; size 1024..{max}; age 1001..{max}")),
            ("age 10..500", "age 10..500".to_owned()),
            ("age=5 & life<=7", "age 5..5; life 0..7".to_owned()),
            ("life..9", "life 0..9".to_owned()),
            ("agent.py", "text agent.py".to_owned()),
            ("@agent.py & age=5", "site; age 5..5".to_owned()),
            ("@category temporary & >=1KiB", format!("category temporary; size 1024..{max}")),
            ("lifetime", "text lifetime".to_owned()),
            ("age", "text age".to_owned()),
            ("page.py:12 & #3", "text page.py:12; number 3".to_owned()),
            ("/a & b/", "text /a; text b/".to_owned()),
            ("std::vector<T&>&&", "text std::vector<T&>&&".to_owned()),
            ("train.py & ", "text train.py".to_owned()),
            ("age>5k", QueryError::Events.to_string()),
            ("age>", QueryError::Events.to_string()),
            ("age 5", QueryError::Events.to_string()),
            ("age<0", QueryError::NoSuchSize.to_string()),
            ("life=1.5", QueryError::Fraction.to_string()),
            ("a & #", QueryError::Number.to_string()),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_pasted_page_is_no_filter() {
        let terms = |count: usize| Filter::parse(&vec!["a"; count].join(" & ")).map(|filter| filter.terms.len());
        assert_eq!(terms(16), Ok(16));
        assert_eq!(terms(17), Err(QueryError::TooManyTerms));
        assert_eq!(terms(100_000), Err(QueryError::TooManyTerms));
    }
}
