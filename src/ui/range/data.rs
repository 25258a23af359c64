//! Scope of the views.

use engine::protocol::{Scope, Span};

/// Scope of the views, as offered in the scope picker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViewScope {
    /// Allocations live at the cursor.
    #[default]
    Cursor,
    /// Allocations of the range, selected by [`About`].
    Range,
    /// All allocations of the trace.
    WholeTrace,
    /// The change between the ends of the range, which are labelled A and B.
    Change,
}

impl ViewScope {
    /// Returns true if the scope needs a range.
    pub(crate) fn is_of_range(self) -> bool {
        matches!(self, ViewScope::Range | ViewScope::Change)
    }
}

/// Allocations that the views show. Without a range, all variants except [`About::Ever`] mean those live at the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    Live,
    /// Allocated in the range.
    #[default]
    Born,
    Freed,
    /// Allocated in the range and live at its end.
    Kept,
    /// Live at any time in the range, weighted by bytes × moments.
    ByteMoments,
    /// Live at one end of the range and not at the other.
    Change,
    /// All of the trace.
    Ever,
}

impl About {
    /// All variants, in the order of their words in links.
    pub const ALL: [About; 7] =
        [About::Live, About::Born, About::Freed, About::Kept, About::ByteMoments, About::Change, About::Ever];
    /// The variants that apply to a range, in the order of the picker.
    pub const OF_RANGE: [About; 4] = [About::Born, About::Freed, About::Kept, About::ByteMoments];

    /// Returns the variant at an index of [`About::ALL`].
    pub fn at(place: usize) -> Option<About> {
        About::ALL.get(place).copied()
    }

    /// Returns the index in [`About::ALL`].
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
