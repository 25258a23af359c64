//! The moment that was set last, the range, and what is known of them.

use crate::axis_press::Grip;
use crate::latest::Latest;
use crate::range::About;
use engine::protocol::{At, MomentFacts, RangeFacts, Span};

/// The pinned moment, and the range beside it.
#[derive(Clone, Debug, Default)]
pub struct Pinned {
    /// How many events have happened.
    pub moment: u32,
    pub(crate) facts: Latest<u32, MomentFacts>,
    pub range: Option<Span>,
    /// Which of its allocations the views show.
    pub about: About,
    /// Where keys began the range, while they extend it.
    pub extending: Option<u32>,
    /// What the worker said of the range…
    pub(crate) range_facts: Latest<Span, RangeFacts>,
    /// …and of its ends.
    pub(crate) ends: Latest<Span, [MomentFacts; 2]>,
    pub(crate) grip: Grip,
    /// What is wrong with what was typed.
    pub wrong: Option<String>,
    /// A place whose moment only the worker knows, or two of them: a range.
    pub(crate) sought: Option<Sought>,
    /// The question about the sought one before.
    pub(crate) seeking: Latest<Sought, ()>,
    /// Whether the window has to come along.
    pub(crate) follow: Follow,
}

/// A place whose moment is to be pinned; with a second one, the range between them is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sought {
    pub(crate) from: At,
    pub(crate) to: Option<At>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Follow {
    #[default]
    No,
    Yes,
}
