//! A place of the picture, and a card about it.

use crate::cursor::Standing;
use crate::summary::Fact;
use base::units::{counted, grouped};

/// What the scene says about a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The piece: its place among the scene's quads.
    pub quad: usize,
    /// The moment whose stack the column shows.
    pub moment: u32,
    /// The byte to ask the worker about: under the pointer, or in the middle of a block, where rounding of its edges to pixels
    /// can't lead to its neighbour.
    pub byte: u64,
    /// The ids of the lowest and the highest allocation of the piece there.
    pub ranks: [u32; 2],
    /// How many allocations the piece holds.
    pub count: u32,
    /// Their requested bytes.
    pub requested: u64,
    /// All requested bytes that are live at the moment.
    pub total: u64,
    /// Allocations that live and die inside the column, and the largest of them.
    pub hidden: (u32, u64),
}

impl Spot {
    /// The place keys have led to; the scene says nothing about it.
    pub(crate) fn of_keys(keys: Standing) -> Spot {
        let Standing { moment, byte } = keys;
        Spot { quad: usize::MAX, moment, byte, ranks: [0, 0], count: 0, requested: 0, total: 0, hidden: (0, 0) }
    }

    /// The place alone.
    pub(crate) fn place(&self) -> Standing {
        Standing { moment: self.moment, byte: self.byte }
    }

    /// The allocation, where the piece is a single one.
    pub fn single(&self) -> Option<u32> {
        (self.count == 1).then_some(self.ranks[0])
    }
}

/// The hover card. It has the same lines whatever is known, so that it never jumps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    pub title: String,
    /// The place in the user's code, or how many allocations it is.
    pub site: String,
    /// From when to when.
    pub lifetime: String,
    /// Its category, and its share of what is live; empty in a picture of segments.
    pub share: String,
    /// Labels and values, where it is of an annotation.
    pub facts: Vec<Fact>,
    /// What the column does not show; empty when it shows everything.
    pub hidden: String,
    /// The segment it is in; nothing in a picture of the stack.
    pub segment: String,
}

/// From which moment (0: before the trace) to which it is live.
pub(crate) fn life(born: u32, died: Option<u32>) -> String {
    let mut text = match born {
        0 => "allocated before recording".to_owned(),
        born => format!("allocated at event {}", grouped(u64::from(born - 1))),
    };
    match died {
        None => text.push_str(", never freed"),
        Some(died) => {
            text.push_str(", freed at ");
            text.push_str(&grouped(u64::from(died.saturating_sub(1))));
            if born > 0 {
                text.push_str(&format!(" ({})", counted(u64::from(died.saturating_sub(born)), "event")));
            }
        }
    }
    text
}
