//! A call site that may leak.

/// A call site that may leak: what it allocates between two moments is never freed.
#[derive(Clone, Copy)]
pub(in crate::report) struct LeakingSite {
    /// Number of the call site in [`Grouping::CallSite`](protocol::Grouping::CallSite).
    pub(in crate::report) group: u32,
    pub(in crate::report) from: u32,
    pub(in crate::report) to: u32,
    /// False if the insight on leaks calls it only possibly a leak.
    pub(in crate::report) is_likely: bool,
}
