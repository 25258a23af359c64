//! What the views show of a range.

use engine::protocol::{Scope, Span};

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
    /// All of them, in the order of the picker.
    pub const ALL: [About; 5] = [About::Live, About::Born, About::Freed, About::Kept, About::ByteMoments];

    /// The one with this place in the picker.
    pub fn at(place: usize) -> Option<About> {
        About::ALL.get(place).copied()
    }

    /// Its place in the picker.
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
