//! State of the search for allocations, and of the highlighting of matches.

use engine::protocol::{Direction, Match, Query, QueryError, Tally, Wording};

/// The search and its results.
#[derive(Clone, Debug, Default)]
pub struct Find {
    pub text: String,
    pub capitals: Capitals,
    pub(crate) wrong: Option<QueryError>,
    pub(crate) asked: Option<u32>,
    pub(crate) found: Option<Found>,
    /// Match that was visited last.
    pub(crate) at: Option<Match>,
    /// Serial of the question for the next match, while it is unanswered.
    pub(crate) stepping: Option<u32>,
    /// Direction to go once the search has finished.
    pub(crate) then: Option<(Direction, Among)>,
    /// Match to bring into the window once its details arrive.
    pub(crate) revealing: Option<Match>,
}

impl Find {
    /// Returns the query for the worker. Text that has to match case is quoted.
    pub(crate) fn query(&self) -> String {
        let query = self.text.trim();
        match Query::parse(query) {
            _ if self.capitals == Capitals::Ignored => query.to_owned(),
            Ok(Query::Frame(Wording::Text(text))) => ["\"", &text, "\""].concat(),
            Ok(Query::Site(Wording::Text(text))) => ["@\"", &text, "\""].concat(),
            _ => query.to_owned(),
        }
    }

    /// Returns the result of the current query, if it has arrived.
    pub(crate) fn current(&self) -> Option<&Found> {
        self.found.as_ref().filter(|found| found.query == self.query())
    }

    /// Returns the serial of the search whose matches are highlighted.
    pub(crate) fn serial(&self) -> Option<u32> {
        self.found.as_ref().map(|found| found.serial)
    }

    /// Returns whether the current query still has to be sent to the worker.
    pub(crate) fn wants(&self) -> bool {
        !self.text.trim().is_empty() && self.wrong.is_none() && self.asked.is_none() && self.current().is_none()
    }

    /// Forgets the match to bring into the window, because the selection changes for another reason.
    pub(crate) fn forget_way(&mut self) {
        self.revealing = None;
    }
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) serial: u32,
    pub(crate) query: String,
    pub(crate) tally: Tally,
}

/// Case sensitivity of a text search. Regular expressions have a flag of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Capitals {
    #[default]
    Ignored,
    Matter,
}

/// Matches to step through: all, or those in the scope of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Among {
    All,
    Scope,
}

/// Highlighting of all allocations with the selection's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SameStack {
    #[default]
    StandsOut,
    Blends,
}
