//! What the views show of a range.

use engine::protocol::{Scope, Span};

/// What the views are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViewScope {
    /// What is live at the cursor.
    #[default]
    Cursor,
    /// What happened in the range: [`About`] says which part of it.
    Range,
    /// All allocations, whenever they live.
    WholeTrace,
    /// What changed between the ends of the range, which are called A and B.
    Change,
}

impl ViewScope {
    /// Whether it needs a range.
    pub(crate) fn is_of_range(self) -> bool {
        matches!(self, ViewScope::Range | ViewScope::Change)
    }
}

/// Which allocations the views show. Without a range, all but the last are those live at the cursor.
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
    /// What is live at one of its ends and not at the other.
    Change,
    /// All of the trace.
    Ever,
}

impl About {
    /// All of them, in the order of the words that links have for them.
    pub const ALL: [About; 7] =
        [About::Live, About::Born, About::Freed, About::Kept, About::ByteMoments, About::Change, About::Ever];
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

    pub(crate) fn scope(self, moment: u32, span: Option<Span>) -> Scope {
        let Some(span) = span else { return if self == About::Ever { Scope::Ever } else { Scope::At(moment) } };
        match self {
            About::Live => Scope::At(moment),
            About::Ever => Scope::Ever,
            About::Born => Scope::Born(span),
            About::Freed => Scope::Freed(span),
            About::Kept => Scope::Kept(span),
            About::ByteMoments => Scope::ByteMoments(span),
            About::Change => Scope::Change(span),
        }
    }
}
