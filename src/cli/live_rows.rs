//! Output of `memscape live` and `memscape peak`: live allocations grouped by code, as text or JSON.

use super::common_args::{OutputArgs, value_name};
use super::open_snapshot::{OpenSnapshot, ask_device, fetch_rows};
use super::output::{more_rows_line, to_pretty_json, with_fields};
use super::stream_arg::{StreamArg, stream_text};
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, Moment, group_digits, moment_text, pluralize};
use clap::{Args, ValueEnum};
use engine::{Answer, Question};
use protocol::{
    Arrangement, Fold, FoldScope, FoldState, Internal, Merge, MomentFacts, NodeLabel, Root, Scope, Span, TreePage,
    TreeQuestion, TreeRow,
};
use serde_json::{Value, json};
use ui::text::amount::percent;

/// Id of the root node of a call tree.
const ROOT: u32 = 0;

/// Arguments that select, group and print live allocations.
#[derive(Args, Clone, Debug)]
pub(crate) struct LiveArgs {
    /// How to group allocations
    #[arg(long, value_enum, value_name = "KEY", default_value_t = GroupBy::CallSite)]
    pub(crate) by: GroupBy,
    /// With --by tree: inverted, from callees to callers
    #[arg(long)]
    pub(crate) inverted: bool,
    /// With --by tree: hide frames of PyTorch and Python itself
    #[arg(long)]
    pub(crate) hide_internal: bool,
    /// What to count
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Counting::Whole, conflicts_with = "stream")]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) stream: StreamArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl LiveArgs {
    /// Returns whether everything that is live is counted.
    fn is_whole(&self) -> bool {
        self.counting == Counting::Whole && self.stream.stream.is_none()
    }
}

/// Allocations that are counted as live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counting {
    /// Everything live on the device
    Whole,
    /// Exclude the baseline (allocated before recording), as Mosaic does
    Mosaic,
}

/// Property that allocations are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    /// Innermost frame of the user's own code
    #[value(alias = "site")]
    CallSite,
    /// Function of the call site
    Function,
    /// File of the call site
    File,
    /// Call tree, from callers to callees
    Tree,
}

/// Groups of live allocations, with the moment and the arguments that they were computed for.
pub(crate) struct LiveRows<'a> {
    snapshot: OpenSnapshot,
    terms: &'a LiveArgs,
    facts: MomentFacts,
    /// Time range whose peak `facts` describes, if given.
    window: Option<Span>,
    page: Box<TreePage>,
}

impl LiveRows<'_> {
    /// Formats the live allocations at a moment, as text or JSON.
    ///
    /// # Errors
    /// Returns an error message if the call stacks cannot be listed.
    pub(crate) fn render(
        mut snapshot: OpenSnapshot,
        terms: &LiveArgs,
        mut facts: MomentFacts,
        window: Option<Span>,
    ) -> Result<String, String> {
        terms.stream.check(&snapshot)?;
        if let Some(query) = terms.stream.query() {
            ask_device!(snapshot, Find(query)).ok_or("the stream could not be searched")?;
        }
        let page = fetch_tree(&mut snapshot, terms, facts.moment).ok_or("the call stacks could not be listed")?;
        if !terms.is_whole() {
            (facts.requested, facts.count) = (page.total.bytes, page.total.count);
        }
        let answer = LiveRows { snapshot, terms, facts, window, page };
        Ok(if terms.output.json { to_pretty_json(&answer.json()) } else { answer.text() })
    }

    /// Returns all rows except the root.
    fn rows(&self) -> &[TreeRow] {
        self.page.rows.get(1..).unwrap_or_default()
    }

    fn left_out(&self) -> u32 {
        self.page.row_count.saturating_sub(self.rows().len() as u32 + 1)
    }

    fn json(&self) -> Value {
        let LiveRows { snapshot, terms, facts, .. } = self;
        let row = |row: &TreeRow| {
            let NodeLabel { name, file, line, .. } = &row.label;
            let value = json!({
                "live_bytes": row.weight.bytes,
                "count": row.weight.count,
                "name": name,
                "file": file,
                "line": line,
            });
            let tree_fields = || json!({"depth": row.depth - 1, "self_bytes": row.self_weight.bytes, "self_count": row.self_weight.count});
            if terms.by == GroupBy::Tree { with_fields(value, tree_fields()) } else { value }
        };
        let event = |moment| Moment(moment).event_or_minus_one();
        let is_whole = terms.is_whole();
        snapshot.document(json!({
            "event": event(facts.moment),
            "time_us": facts.time_us,
            "range": self.window.map(|span| json!({"first_event": event(span.from), "last_event": event(span.to)})),
            "live_bytes": facts.requested,
            "counting": value_name(terms.counting),
            "stream": terms.stream.stream,
            "awaiting_free_bytes": is_whole.then_some(facts.awaiting_free),
            "reserved_bytes": (snapshot.device.has_reserved() && terms.stream.stream.is_none()).then_some(facts.reserved),
            "count": facts.count,
            "by": value_name(terms.by),
            "rows": self.rows().iter().map(row).collect::<Vec<Value>>(),
            "rows_left_out": self.left_out(),
        }))
    }

    fn text(&self) -> String {
        let LiveRows { snapshot, terms, facts, .. } = self;
        let is_peak = match terms.counting {
            Counting::Mosaic => ", without the baseline, as in Mosaic",
            Counting::Whole if terms.stream.stream.is_none() && facts.moment == snapshot.peak() => ", the peak",
            Counting::Whole => "",
        };
        let stream =
            terms.stream.stream.map(|stream| format!(" on stream {}", stream_text(stream))).unwrap_or_default();
        let mut text = format!("{}: live{stream} {}{is_peak}\n", snapshot.heading(), moment_text(facts.moment));
        if let Some(Span { from, to }) = self.window {
            text.push_str(&format!("  peak between {} and {}\n", moment_text(from), moment_text(to)));
        }
        let mut fact = |label: &str, bytes: u64, note: &str| {
            let short = Bytes(bytes).to_string();
            text.push_str(&format!("  {label:<14}{short:>10}  {:>19} B{note}\n", group_digits(bytes)));
        };
        fact("live", facts.requested, &format!(" in {}", pluralize(facts.count.into(), "allocation")));
        if terms.is_whole() {
            fact("awaiting free", facts.awaiting_free, "");
        }
        if snapshot.device.has_reserved() && terms.stream.stream.is_none() {
            fact("reserved", facts.reserved, "");
        }
        text.push('\n');
        let numbers = [("live", 10), ("bytes", 19), ("share", 8), ("count", 7)];
        let mut table = Table::new(0, columns(numbers, [&value_name(terms.by).replace('-', " ")]));
        for row in self.rows() {
            let (bytes, count) = (row.weight.bytes, row.weight.count);
            let indent = if terms.by == GroupBy::Tree { "  ".repeat(row.indent as usize) } else { String::new() };
            table.push([
                Bytes(bytes).to_string(),
                group_digits(bytes),
                percent(bytes, self.page.total.bytes),
                group_digits(count.into()),
                indent + &label_text(&row.label, terms.by),
            ]);
        }
        text += &table.text();
        wrap_to_terminal(&(text + &more_rows_line(self.left_out()) + &snapshot.other_devices_line()))
    }
}

fn fetch_tree(snapshot: &mut OpenSnapshot, terms: &LiveArgs, moment: u32) -> Option<Box<TreePage>> {
    let by_site = |merge| Arrangement { root: Root::Innermost, merge, internal: Internal::Hidden };
    let arrangement = match terms.by {
        GroupBy::CallSite => by_site(Merge::Line),
        GroupBy::Function => by_site(Merge::Function),
        GroupBy::File => by_site(Merge::File),
        GroupBy::Tree => Arrangement {
            root: if terms.inverted { Root::Innermost } else { Root::default() },
            merge: Merge::Line,
            internal: if terms.hide_internal { Internal::Hidden } else { Internal::default() },
        },
    };
    let fold = |reach, state| Fold { node: ROOT, scope: reach, state };
    let folds = match terms.by {
        GroupBy::Tree => vec![fold(FoldScope::Subtree, FoldState::Open)],
        _ => vec![fold(FoldScope::Subtree, FoldState::Closed), fold(FoldScope::Node, FoldState::Open)],
    };
    fetch_rows(terms.output.top.saturating_add(1), rows_and_count, |rows| {
        let question = TreeQuestion {
            scope: match terms.counting {
                Counting::Whole => Scope::At(moment),
                Counting::Mosaic => Scope::StillLive(Span { from: 0, to: moment }),
            },
            arrangement,
            focus: None,
            folds: folds.clone(),
            reveal: None,
            // The search for the stream was the last question with this serial.
            search_serial: terms.stream.stream.map(|_| 0),
            rows,
        };
        let question = Box::new(question);
        let is_whole = terms.stream.stream.is_none();
        match snapshot.ask_device(if is_whole { Question::Tree(question) } else { Question::FoundTree(question) }) {
            Some(Answer::Tree(page)) => Some(page),
            _ => None,
        }
    })
}

fn rows_and_count(page: &mut TreePage) -> (&mut Vec<TreeRow>, u32) {
    (&mut page.rows, page.row_count)
}

/// Formats a label such as `train_step (train.py:233)`, or only the path if allocations are grouped by file.
fn label_text(label: &NodeLabel, by: GroupBy) -> String {
    match (label.file.as_str(), label.line.as_str()) {
        (file, _) if by == GroupBy::File && !file.is_empty() => file.to_owned(),
        ("", _) => label.name.clone(),
        (file, "") => format!("{} ({file})", label.name),
        (file, line) => format!("{} ({file}:{line})", label.name),
    }
}
