//! What the views show of a range.

use engine::protocol::{Scope, Span};

/// What the views are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewScope {
    /// What is live at the cursor.
    #[default]
    Cursor,
    /// What happened in the range: [`About`] says which part of it.
    Range,
    /// All allocations, whenever they live.
    WholeTrace,
}

/// Which allocations the views show while there is a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    Live,
    /// Those allocated in the range.
    #[default]
    Born,
    Freed,
    /// Those allocated in it that are live at its end.
    Kept,
    /// All that were live in it, by bytes × moments.
    ByteMoments,
}

impl About {
    /// All of them, in the order of the words that links have for them.
    pub const ALL: [About; 5] = [About::Live, About::Born, About::Freed, About::Kept, About::ByteMoments];
    /// Those of a range, in the order of the picker.
    pub const OF_RANGE: [About; 4] = [About::Born, About::Freed, About::Kept, About::ByteMoments];

    /// The one with this place among all.
    pub fn at(place: usize) -> Option<About> {
        About::ALL.get(place).copied()
    }

    /// Its place among all.
    pub fn place(self) -> usize {
        About::ALL.iter().position(|about| *about == self).unwrap_or(0)
    }

    pub(crate) fn scope(self, live: Scope, span: Span) -> Scope {
        match self {
            About::Live => live,
            About::Born => Scope::Born(span),
            About::Freed => Scope::Freed(span),
            About::Kept => Scope::Kept(span),
            About::ByteMoments => Scope::ByteMoments(span),
        }
    }
}
