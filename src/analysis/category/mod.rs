//! Categories of allocations by rules. The first rule that matches an allocation sets its category.
//!
//! A rule has conditions on frames (regular expressions for function and file), on the lifetime (allocated before
//! recording, live at the end, number of events), on the recorded category, and on sizes (as large as a gradient).
//! There are three kinds of rules:
//!
//! ```text
//! frames only          Evaluated once per stack. In a set ordered by frames, adjacent rules of this kind are evaluated
//!                      together, frame by frame from the innermost. In a set ordered by rules, or if a rule's
//!                      turn is "alone", each is evaluated for all frames before the next.
//! more than frames     Evaluated once per allocation.
//! sizes                Evaluated in order after all others. A match wins over later rules.
//! ```
//!
//! Allocations without a matching rule are "unknown". Rules are evaluated once for each distinct frame and stack.

pub mod compiled;
mod document;
mod order;
mod pattern;
mod problem;
mod reading;
mod writing;

pub use document::{Document, ParsedDocument, ValueId, ValueKind};
pub use problem::{SetError, SetProblem};

use serde::{Deserialize, Serialize};

/// Maximum number of rules in a set.
pub const MAX_RULES: usize = 1000;
/// Maximum number of categories in a set, including "unknown".
pub const MAX_CATEGORIES: usize = 64;
/// Maximum length of the name of a category or set, in characters.
pub const MAX_NAME_LEN: usize = 60;
/// Maximum length of a pattern or note, in bytes.
pub const MAX_TEXT_LEN: usize = 1000;
/// Maximum number of rules that combine conditions on frames with other conditions. Each uses one bit of every stack's
/// result.
pub const MAX_MIXED_RULES: usize = 44;
/// Maximum number of rules that compare sizes. Each requires a pass over all allocations.
pub const MAX_SIZE_RULES: usize = 16;

/// Name of the category of allocations without a matching rule.
pub const UNKNOWN: &str = "unknown";

/// Returns the label of a category in texts. The rules, JSON and SQL call communication `network`, for compatibility
/// with sets of rules that people have.
pub fn category_label(name: &str) -> &str {
    if name == "network" { "communication (NCCL)" } else { name }
}

/// Returns whether a typed text is the name or the label of a category, ignoring ASCII case.
pub fn is_category(name: &str, typed: &str) -> bool {
    [name, category_label(name)].iter().any(|known| known.eq_ignore_ascii_case(typed))
}

/// An ordered set of rules that assign categories to allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategorySet {
    pub name: String,
    /// Precedence among frame-only rules.
    pub order: Order,
    /// Rules in order of precedence: the first match wins.
    pub rules: Vec<CategoryRule>,
}

/// A rule that assigns a category. An allocation matches if all conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRule {
    /// Category of the matching allocations.
    pub category: String,
    pub note: String,
    /// Regular expression that a frame's function name must match.
    pub name: Option<String>,
    /// Regular expression that the file of the same frame must match. Backslashes in paths are replaced by slashes.
    pub file: Option<String>,
    /// Regular expression that the function name or the file of the same frame must match.
    pub frame: Option<String>,
    pub frames: Looked,
    pub of: StackOrigin,
    pub turn: Turn,
    /// Required category in the allocation's recorded metadata.
    pub recorded: Option<String>,
    /// Required category of the allocation's stack according to the frame-only rules.
    pub classified: Option<String>,
    /// Required kind of the allocation's stack: none, native or Python.
    pub stack: Option<StackKind>,
    /// Required start of the lifetime: before or during recording.
    pub allocated: Option<Birth>,
    /// Required end of the lifetime: freed, or live at the end of the trace.
    pub ends: Option<End>,
    /// Minimum lifetime in events. Allocations that are live at the end always satisfy it.
    pub least: u32,
    /// Maximum lifetime in events. Allocations that are live at the end never satisfy it.
    pub most: Option<u32>,
    /// Required position of the call site relative to the line where the model is called.
    pub model: Option<ModelCall>,
    /// Required size relative to another allocation.
    pub like: Option<SizeCondition>,
}

/// Condition on an allocation's size: a multiple of the size of another allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCondition {
    /// Category that the other allocation must have. Alternative to `name`.
    pub category: Option<String>,
    /// Regular expression for a function in the other allocation's stack. Alternative to `category`.
    pub name: Option<String>,
    /// Size divided by the other allocation's size, as numerator and denominator: `2/1` means twice as large.
    pub ratio: (u32, u32),
    /// Maximum number of live matches for each other allocation. `None` is unlimited.
    pub each: Option<u32>,
    /// Required place in the code where the other allocation is freed.
    pub at: Place,
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$what])* $variant,)* }

        impl $name {
            /// All variants, each with its name in rule documents.
            pub const WORDS: &[(&str, $name)] = &[$(($word, $name::$variant),)*];
        }
    };
}

words! {
    /// Precedence when several frame-only rules match frames of a stack.
    Order {
        /// The first rule that matches any frame wins.
        Rules = "rules",
        /// The innermost frame that matches any rule wins.
        Frames = "frames",
    }
}
words! {
    /// Frames of a stack that a pattern is matched against.
    Looked {
        Any = "any",
        /// Only the innermost frame.
        Innermost = "innermost",
        /// Only the call site.
        Site = "site",
    }
}
words! {
    StackOrigin {
        Alloc = "alloc",
        Freed = "free",
    }
}
words! {
    /// Evaluation of a single rule: together with adjacent rules, frame by frame, or alone.
    Turn {
        /// According to [`CategorySet::order`].
        Ordered = "ordered",
        /// The rule is matched against all frames before the next rule is evaluated.
        Single = "alone",
    }
}
words! {
    /// Kind of an allocation's call stack.
    StackKind {
        /// No stack was recorded.
        Missing = "none",
        Native = "native",
        Python = "python",
    }
}
words! {
    /// Start of an allocation's lifetime relative to the recording.
    Birth {
        /// Before recording.
        Before = "before",
        Recorded = "recorded",
    }
}
words! {
    /// End of an allocation's lifetime.
    End {
        Live = "live",
        Freed = "freed",
    }
}
words! {
    /// Position of a call site relative to the line where the model is called. The model is called by a frame of the
    /// same function and file as the call site, and the call leads to a `forward` function.
    ModelCall {
        /// The model is called later: the call site is on a line before the first call of the model.
        Later = "later",
        /// The model is called earlier: the call site is on or after the line of the first call of the model.
        Earlier = "earlier",
    }
}
words! {
    /// Place in the code where an allocation is freed.
    Place {
        /// At any call site.
        Anywhere = "anywhere",
        /// At the call site of the allocation that the rule matches.
        Anchored = "here",
    }
}

/// Implements `Default` for enums defined by `words!`.
macro_rules! firsts {
    ($($name:ident::$first:ident),*) => { $(impl Default for $name { fn default() -> $name { $name::$first } })* };
}
firsts!(Order::Rules, Looked::Any, StackOrigin::Alloc, Turn::Ordered, Place::Anywhere);

impl CategoryRule {
    /// Returns true if the rule has a condition on frames.
    pub fn has_pattern(&self) -> bool {
        self.name.is_some() || self.file.is_some() || self.frame.is_some()
    }

    /// Returns true if the rule has conditions on frames only.
    pub fn is_frames_only(&self) -> bool {
        self.has_pattern() && self.of == StackOrigin::Alloc && !self.has_lifetime_condition() && self.like.is_none()
    }

    /// Returns true if the rule has a condition, other than size, whose result may differ between allocations with the
    /// same stack.
    pub fn has_lifetime_condition(&self) -> bool {
        let CategoryRule { recorded, classified, stack, allocated, ends, least, most, model, .. } = self;
        recorded.is_some()
            || classified.is_some()
            || stack.is_some()
            || allocated.is_some()
            || ends.is_some()
            || *least > 0
            || most.is_some()
            || model.is_some()
    }

    /// Describes the conditions of the rule, to explain why an allocation matched.
    pub fn reason(&self) -> String {
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
        if self.of == StackOrigin::Freed && !why.is_empty() {
            why.push_str(" in the stack of the free");
        }
        if let Some(recorded) = &self.recorded {
            ["recorded as ", recorded].iter().for_each(|part| why.push_str(part));
        }
        match (why.is_empty(), self.has_lifetime_condition() || self.like.is_some()) {
            (true, true) => "lifetime and size".to_owned(),
            (true, false) => "no earlier rule matches".to_owned(),
            (false, _) => why,
        }
    }
}

impl CategorySet {
    /// Returns the default rules of memscape.
    pub fn standard() -> CategorySet {
        CategorySet::built_in(include_str!("default.json"))
    }

    /// Returns rules equivalent to Mosaic's (`AllocationType.from_frame_stack` in version 67b27bb).
    pub fn mosaic() -> CategorySet {
        CategorySet::built_in(include_str!("mosaic.json"))
    }

    /// Returns a built-in set by name: `default` or `mosaic`.
    pub fn built_in_by_name(name: &str) -> Option<CategorySet> {
        match name {
            "default" => Some(CategorySet::standard()),
            "mosaic" => Some(CategorySet::mosaic()),
            _ => None,
        }
    }

    fn built_in(text: &str) -> CategorySet {
        // A test parses both.
        CategorySet::parse(text).unwrap_or_default()
    }
}
