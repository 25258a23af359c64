//! Keyboard shortcuts of the Insights tab.

use super::WhyStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

/// Control of commands that navigate the report: the report itself.
const REPORT: &str = "why-report";

pub(super) const KEYS: &[Binding<WhyStep>] = {
    const AT: Scope = Scope::Tab(Tab::Why);
    use WhyStep::*;
    &[
        line(AT, &["ArrowUp"], Up, "Go to the previous statement or row", REPORT),
        line(AT, &["ArrowDown"], Down, "Go to the next statement or row", REPORT),
        line(AT, &["Home"], First, "Go to the first statement", REPORT),
        line(AT, &["End"], Last, "Go to the last row", REPORT),
        line(AT, &["Enter"], Follow, "Show the evidence", REPORT),
        line(AT, &["Space"], Unfold, "Show or hide the stack", REPORT),
        line(AT, &["Shift+c"], Copy, "Copy the insight as Markdown", "why-copy"),
    ]
};
