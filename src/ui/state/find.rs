//! State of the search for allocations, and of the highlighting of matches.

use protocol::{Direction, FrameMatcher, Match, Query, QueryError, Tally};

/// State of the search: the query, its result, and pending navigation between matches.
#[derive(Clone, Debug, Default)]
pub struct Find {
    pub text: String,
    pub match_case: MatchCase,
    pub(crate) error: Option<QueryError>,
    pub(crate) pending: Option<u32>,
    pub(crate) result: Option<FindResult>,
    /// Match that was navigated to last.
    pub(crate) last_match: Option<Match>,
    /// Serial of the pending request for the next or previous match.
    pub(crate) pending_step: Option<u32>,
    /// Navigation between matches to do once the search has finished.
    pub(crate) queued_step: Option<(Direction, MatchScope)>,
    /// Match to scroll to once its details arrive.
    pub(crate) match_to_reveal: Option<Match>,
}

impl Find {
    /// Returns the query to send to the worker. If the search is case-sensitive, the text is quoted.
    pub(crate) fn query(&self) -> String {
        let query = self.text.trim();
        match Query::parse(query) {
            _ if self.match_case == MatchCase::Off => query.to_owned(),
            Ok(Query::Frame(FrameMatcher::Text(text))) => ["\"", &text, "\""].concat(),
            Ok(Query::Site(FrameMatcher::Text(text))) => ["@\"", &text, "\""].concat(),
            _ => query.to_owned(),
        }
    }

    /// Returns the result of the current query. `None` until it has arrived.
    pub(crate) fn current_result(&self) -> Option<&FindResult> {
        self.result.as_ref().filter(|found| found.query == self.query())
    }

    /// Returns the serial of the latest finished search, even if it has no matches.
    pub(crate) fn serial(&self) -> Option<u32> {
        self.result.as_ref().map(|found| found.serial)
    }

    /// Returns whether the current query has yet to be sent to the worker.
    pub(crate) fn needs_search(&self) -> bool {
        !self.text.trim().is_empty()
            && self.error.is_none()
            && self.pending.is_none()
            && self.current_result().is_none()
    }

    /// Cancels the pending scroll to a match, because the selection changes for another reason.
    pub(crate) fn cancel_reveal(&mut self) {
        self.match_to_reveal = None;
    }
}

/// Result of a search: the query, its serial, and the totals of its matches.
#[derive(Clone, Debug)]
pub(crate) struct FindResult {
    pub(crate) serial: u32,
    pub(crate) query: String,
    pub(crate) tally: Tally,
}

/// Case sensitivity of a text search. Regular expressions set it with a flag of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MatchCase {
    #[default]
    Off,
    On,
}

/// Matches to navigate between: all, or only those in the scope of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchScope {
    All,
    Scope,
}

/// State of highlighting all allocations with the selected allocation's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SameStack {
    #[default]
    Highlighted,
    Plain,
}
