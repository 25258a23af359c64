//! Results of matching frames and stacks against compiled rules.

/// Sentinel: no rule matched.
pub const NO_RULE: u16 = u16::MAX;

/// Flag of a frame or stack: contains a Python frame. Stored above the bits of the rules.
pub const PYTHON: u64 = 1 << 63;
/// Flag of a stack: the model is called later, on a line after the stack's call site.
pub const MODEL_LATER: u64 = 1 << 62;
/// Flag of a stack: the model is called earlier, on the line of the stack's call site or before.
pub const MODEL_EARLIER: u64 = 1 << 61;

/// Rules and patterns that match one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameResult {
    /// First matching frame-only rule for each value of [`Looked`], or [`NO_RULE`].
    pub(super) first: [u16; 3],
    /// Matching patterns of all other rules, one bit each.
    pub(super) bits: u64,
}

/// Rules and patterns that match one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackResult {
    /// First matching frame-only rule that looks at any frame ([`Looked::Any`]), or [`NO_RULE`]. Deeper stacks inherit
    /// it from their callers.
    pub(super) inherited_rule: u16,
    /// First matching frame-only rule in the order of the set, or [`NO_RULE`].
    pub rule: u16,
    /// Matching patterns of all other rules, one bit each, and flags such as [`PYTHON`].
    pub bits: u64,
}

impl Default for FrameResult {
    fn default() -> FrameResult {
        FrameResult { first: [NO_RULE; 3], bits: 0 }
    }
}

impl Default for StackResult {
    fn default() -> StackResult {
        StackResult { inherited_rule: NO_RULE, rule: NO_RULE, bits: 0 }
    }
}

impl FrameResult {
    /// Returns a copy with additional flags, such as [`PYTHON`].
    pub fn with(self, bits: u64) -> FrameResult {
        FrameResult { bits: self.bits | bits, ..self }
    }
}
