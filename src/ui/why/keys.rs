//! The keys of the reports.

use super::WhyStep;
use crate::binding::{Binding, Scope, line};

/// What statements and rows of a report are clicked in.
const REPORT: &str = "why-report";

/// Its keys.
pub(super) const KEYS: &[Binding<WhyStep>] = {
    use Scope::Why;
    use WhyStep::*;
    &[
        line(Why, &["ArrowUp"], Up, "Statement or row above", REPORT),
        line(Why, &["ArrowDown"], Down, "Statement or row below", REPORT),
        line(Why, &["Home"], First, "First statement", REPORT),
        line(Why, &["End"], Last, "Last row", REPORT),
        line(Why, &["Enter"], Follow, "Show what it rests on", REPORT),
        line(Why, &["Space"], Unfold, "Show its stack, or hide it", REPORT),
        line(Why, &["Shift+c"], Copy, "Copy the report as Markdown", "why-copy"),
    ]
};
