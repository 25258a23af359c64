//! The keys of the reports.

use super::WhyStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

/// What statements and rows of a report are clicked in.
const REPORT: &str = "why-report";

/// Its keys.
pub(super) const KEYS: &[Binding<WhyStep>] = {
    const AT: Scope = Scope::Tab(Tab::Why);
    use WhyStep::*;
    &[
        line(AT, &["ArrowUp"], Up, "Statement or row above", REPORT),
        line(AT, &["ArrowDown"], Down, "Statement or row below", REPORT),
        line(AT, &["Home"], First, "First statement", REPORT),
        line(AT, &["End"], Last, "Last row", REPORT),
        line(AT, &["Enter"], Follow, "Show what it rests on", REPORT),
        line(AT, &["Space"], Unfold, "Show its stack, or hide it", REPORT),
        line(AT, &["Shift+c"], Copy, "Copy the report as Markdown", "why-copy"),
    ]
};
