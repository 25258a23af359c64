//! What is looked for and what was found, and which allocations stand out.

use engine::protocol::{Direction, Match, Query, QueryError, Tally, Wording};

/// What is looked for, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Find {
    pub text: String,
    /// Whether capitals of text matter.
    pub capitals: Capitals,
    pub(crate) wrong: Option<QueryError>,
    pub(crate) asked: Option<u32>,
    pub(crate) found: Option<Found>,
    /// The match that was gone to last.
    pub(crate) at: Option<Match>,
    /// The way to a match, on its way.
    pub(crate) stepping: Option<u32>,
    /// Where to go once what is on its way is here.
    pub(crate) then: Option<(Direction, Among)>,
    /// The match whose details are on their way: where it is to be seen.
    pub(crate) revealing: Option<Match>,
}

impl Find {
    /// What the worker is asked: text whose capitals matter stands in quotes.
    pub(crate) fn query(&self) -> String {
        let query = self.text.trim();
        match Query::parse(query) {
            _ if self.capitals == Capitals::Ignored => query.to_owned(),
            Ok(Query::Frame(Wording::Text(text))) => ["\"", &text, "\""].concat(),
            Ok(Query::Site(Wording::Text(text))) => ["@\"", &text, "\""].concat(),
            _ => query.to_owned(),
        }
    }

    /// What was found of what stands in the field.
    pub(crate) fn current(&self) -> Option<&Found> {
        self.found.as_ref().filter(|found| found.query == self.query())
    }

    /// The search whose matches are marked.
    pub(crate) fn serial(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.serial)
    }

    /// Whether a search has to be asked for.
    pub(crate) fn wants(&self) -> bool {
        !self.text.trim().is_empty() && self.wrong.is_none() && self.asked.is_none() && self.current().is_none()
    }

    /// What is selected next is no match that was gone to.
    pub(crate) fn forget_way(&mut self) {
        self.revealing = None;
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) serial: u32,
    pub(crate) query: String,
    pub(crate) tally: Tally,
}

/// Whether a text is found in whatever case. Expressions say themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Capitals {
    /// It is.
    #[default]
    Ignored,
    /// Only as it is typed.
    Matter,
}

/// Which matches are gone to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Among {
    All,
    Scope,
}

/// Whether all allocations of the selection's stack stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SameStack {
    /// They do.
    #[default]
    StandsOut,
    Blends,
}
