//! What allocations are for: sets of rules as data; the first rule that holds of an allocation tells its category.
//!
//! A rule looks at frames (regular expressions over function and file), at a life (allocated before recording, live at the end, so many
//! events long), at what the file itself says, and at sizes (as large as a gradient). Three sorts, distinguished by what they ask:
//!
//! ```text
//! frames alone         once a stack. In a set ordered by frames, neighbours of this sort are asked together, frame by frame, innermost
//!                      first; in one ordered by rules, or where a rule's turn is "alone", each is asked of all frames before the next.
//! more than frames     once an allocation.
//! sizes                once all others have answered, in their order; it wins over those that stand after it.
//! ```
//!
//! What no rule holds of is "unknown". Rules are looked at once for each distinct frame and once for each distinct stack.

pub mod compiled;
mod document;
mod pattern;
mod problem;
mod reading;
mod writing;

pub use document::{Document, Id, Kind, ReadDocument};
pub use problem::{SetError, SetProblem};

use serde::{Deserialize, Serialize};

/// Rules of a set.
pub const MOST_RULES: usize = 1000;
/// Categories of a set, "unknown" included.
pub const MOST_CATEGORIES: usize = 64;
/// Characters of the name of a category or of a set.
pub const LONGEST_NAME: usize = 60;
/// Bytes of a pattern or a note.
pub const LONGEST_TEXT: usize = 1000;
/// Rules that look at frames and at something else: each is one bit of every stack.
pub const MOST_MIXED: usize = 44;
/// Rules that compare sizes: each is a pass over all allocations.
pub const MOST_SIZES: usize = 16;

/// What no rule holds of.
pub const UNKNOWN: &str = "unknown";

/// Categories that have a place of their own in a stack, from the bottom: what is there for long stands below what comes and goes. Mosaic's
/// names stand with ours, so that the same thing has the same colour.
const ORDER: &[&[&str]] = &[
    &["parameter", "parameters"],
    &["optimizer state", "optimizer"],
    &["gradient", "backward", "gradients"],
    &["kv cache"],
    &["activation", "activations"],
    &["temporary"],
    &["input"],
    &["network", "net"],
    &["fsdp"],
    &["net_setup"],
    &["stats"],
];

/// A set of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategorySet {
    pub name: String,
    /// How rules that look at frames alone are asked.
    pub order: Order,
    /// The first one that holds counts.
    pub rules: Vec<CategoryRule>,
}

/// A rule: all that it asks has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRule {
    /// What allocations are when it holds.
    pub category: String,
    pub note: String,
    /// A regular expression that a frame's function has to hold.
    pub name: Option<String>,
    /// One that the same frame's file has to hold, whose backslashes are slashes.
    pub file: Option<String>,
    /// One that the same frame's function or its file has to hold.
    pub frame: Option<String>,
    pub frames: Looked,
    pub of: StackOf,
    pub turn: Turn,
    /// What the file's own `category` has to be.
    pub recorded: Option<String>,
    /// What the rules that look at frames alone have to say of its stack.
    pub told: Option<String>,
    /// What kind of stack it has to have.
    pub stack: Option<StackKind>,
    /// When it has to be born.
    pub born: Option<Birth>,
    /// When it has to die.
    pub ends: Option<End>,
    /// The fewest events it has to live; one that is live at the end lives longer than any number.
    pub least: u32,
    /// The most.
    pub most: Option<u32>,
    /// Where its call site has to stand to the call of the model.
    pub model: Option<ModelCall>,
    /// What it has to be as large as.
    pub like: Option<Likeness>,
}

/// As large as what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// An allocation of this category…
    pub category: Option<String>,
    /// …or with a frame whose function holds this regular expression.
    pub name: Option<String>,
    /// Its size times the first over the second: `2/1` is twice as large as the other.
    pub ratio: (u32, u32),
    /// At most so many for each of the other that are live at once; `None`: any number.
    pub each: Option<u32>,
    /// Where the other has to be freed.
    pub at: Place,
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$what])* $variant,)* }

        impl $name {
            /// All of them, each as it is written.
            pub const WORDS: &[(&str, $name)] = &[$(($word, $name::$variant),)*];
        }
    };
}

words! {
    /// How rules that look at frames alone are asked.
    Order {
        /// One rule after the other, each of all frames.
        Rules = "rules",
        /// One frame after the other, innermost first, each of all rules.
        Frames = "frames",
    }
}
words! {
    /// Which frames of a stack are looked at.
    Looked {
        Any = "any",
        /// The innermost only.
        Innermost = "innermost",
        /// The innermost of the user's own code only.
        Site = "site",
    }
}
words! {
    StackOf {
        Made = "alloc",
        Freed = "free",
    }
}
words! {
    /// Whether a rule waits for its neighbours.
    Turn {
        /// As the set is ordered.
        Ordered = "ordered",
        /// It is asked of all frames before the next rule is.
        Alone = "alone",
    }
}
words! {
    /// What kind of stack an allocation has.
    StackKind {
        /// None was recorded.
        Missing = "none",
        Native = "native",
        Python = "python",
    }
}
words! {
    /// When an allocation is born.
    Birth {
        /// Before the trace.
        Before = "before",
        Recorded = "recorded",
    }
}
words! {
    /// When an allocation dies.
    End {
        Live = "live",
        Freed = "freed",
    }
}
words! {
    /// Where an allocation's call site stands to the call of the model: of a frame of the function `forward`, in the same function and
    /// file.
    ModelCall {
        /// On a line before the first that leads to the model.
        Later = "later",
        /// On that line, or after it.
        Earlier = "earlier",
    }
}
words! {
    /// Where something is freed.
    Place {
        /// Anywhere.
        Anywhere = "anywhere",
        /// At the call site that this one is made at.
        Here = "here",
    }
}

/// What is so when nobody says otherwise: the first word.
macro_rules! firsts {
    ($($name:ident::$first:ident),*) => { $(impl Default for $name { fn default() -> $name { $name::$first } })* };
}
firsts!(Order::Rules, Looked::Any, StackOf::Made, Turn::Ordered, Place::Anywhere);

impl CategoryRule {
    /// Whether it looks at frames.
    pub fn has_pattern(&self) -> bool {
        self.name.is_some() || self.file.is_some() || self.frame.is_some()
    }

    /// Whether it looks at frames and at nothing else.
    pub fn is_of_frames(&self) -> bool {
        self.has_pattern() && self.of == StackOf::Made && !self.asks_of_lives() && self.like.is_none()
    }

    /// Whether it asks something that is not the same for all allocations with one stack, sizes apart.
    pub fn asks_of_lives(&self) -> bool {
        let CategoryRule { recorded, told, stack, born, ends, least, most, model, .. } = self;
        recorded.is_some()
            || told.is_some()
            || stack.is_some()
            || born.is_some()
            || ends.is_some()
            || *least > 0
            || most.is_some()
            || model.is_some()
    }

    /// Why an allocation is of its category, in words.
    pub fn why(&self) -> String {
        if !self.note.is_empty() {
            return self.note.clone();
        }
        let mut why = String::new();
        for (what, pattern) in [("function", &self.name), ("file", &self.file), ("function or file", &self.frame)] {
            if let Some(pattern) = pattern {
                let comma = if why.is_empty() { "" } else { ", " };
                [comma, what, " matches /", pattern, "/"].iter().for_each(|part| why.push_str(part));
            }
        }
        if self.of == StackOf::Freed && !why.is_empty() {
            why.push_str(" in the stack of the free");
        }
        if let Some(recorded) = &self.recorded {
            ["recorded as ", recorded].iter().for_each(|part| why.push_str(part));
        }
        match (why.is_empty(), self.asks_of_lives() || self.like.is_some()) {
            (true, true) => "lifetime and size".to_owned(),
            (true, false) => "no earlier rule matches".to_owned(),
            (false, _) => why,
        }
    }
}

impl CategorySet {
    /// Ours.
    pub fn standard() -> CategorySet {
        CategorySet::built_in(include_str!("default.json"))
    }

    /// Mosaic's (`AllocationType.from_frame_stack` of its version 67b27bb).
    pub fn mosaic() -> CategorySet {
        CategorySet::built_in(include_str!("mosaic.json"))
    }

    /// One that comes with the program, by name: `default` or `mosaic`.
    pub fn named(name: &str) -> Option<CategorySet> {
        match name {
            "default" => Some(CategorySet::standard()),
            "mosaic" => Some(CategorySet::mosaic()),
            _ => None,
        }
    }

    fn built_in(text: &str) -> CategorySet {
        // A test reads both.
        CategorySet::parse(text).unwrap_or_default()
    }

    /// Its categories, from the bottom of a stack to its top: those with a place of their own, then the others as the rules name them,
    /// the unknown last.
    pub fn categories(&self) -> Vec<String> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        let mut unknown = UNKNOWN;
        for rule in &self.rules {
            let name = rule.category.as_str();
            if name.eq_ignore_ascii_case(UNKNOWN) {
                unknown = name;
            } else if found.len() + 1 < MOST_CATEGORIES && !found.iter().any(|(_, known)| *known == name) {
                let is_it = |names: &&[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(name));
                found.push((ORDER.iter().position(is_it).unwrap_or(ORDER.len()), name));
            }
        }
        // By insertion: they are few, and equal ones stay as they come.
        let mut names: Vec<(usize, &str)> = Vec::new();
        for one in found {
            let place = names.iter().take_while(|other| other.0 <= one.0).count();
            names.insert(place, one);
        }
        names.into_iter().map(|(_, name)| name).chain([unknown]).map(str::to_owned).collect()
    }
}
