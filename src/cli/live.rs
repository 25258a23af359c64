//! `memscape live` and `memscape peak`: what is live at a moment, put together by what made it.

use super::asking::{Asking, Edge, Rows, whole};
use super::output::{after, document, more, pretty, printable, title};
use super::terms::{At as AtWhen, Clock, Printed, SnapshotArgs, When, clock, name_of};
use base::units::{Bytes, Moment, counted, grouped};
use clap::{Args, ValueEnum};
use engine::protocol::{
    Arrangement, At, Fold, FoldState, Internal, Merge, MomentFacts, NodeLabel, Reach, ReportQuestion, Root, Scope,
    Span, Topic, TreePage, TreeQuestion, TreeRow,
};
use engine::{Answer, Ask, Question, Reply, Request};
use serde_json::{Value, json};
use ui::amount::percent;

/// The root of every tree.
const ALL: u32 = 0;

/// Arguments of `memscape live`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Live {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    #[command(flatten)]
    pub(crate) at: AtWhen,
    #[command(flatten)]
    pub(crate) terms: Terms,
}

/// Arguments of `memscape peak`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Peak {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Start of the time range, inclusive: 1.25s or 350ms after the first event, or microseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = clock, allow_negative_numbers = true)]
    pub(crate) from: Option<Clock>,
    /// End of the time range, inclusive
    #[arg(long, value_name = "TIME", value_parser = clock, allow_negative_numbers = true)]
    pub(crate) to: Option<Clock>,
    #[command(flatten)]
    pub(crate) terms: Terms,
}

/// How allocations are counted, grouped and printed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Terms {
    /// What to group allocations by
    #[arg(long, value_enum, value_name = "KEY", default_value_t = By::Site)]
    pub(crate) by: By,
    /// With --by tree: start at the innermost frame
    #[arg(long)]
    pub(crate) inverted: bool,
    /// With --by tree: leave out frames of PyTorch and Python itself
    #[arg(long)]
    pub(crate) hide_internal: bool,
    /// What to count
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Counting::Whole)]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) printed: Printed,
}

/// What counts as live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counting {
    /// Everything live on the device
    Whole,
    /// Only what was allocated in the trace, as Mosaic's reports count
    Mosaic,
}

/// What allocations are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Call site: the innermost frame that is not internal
    Site,
    /// Function of the call site
    Function,
    /// File of the call site
    File,
    /// Call tree: all frames, outermost first
    Tree,
}

/// The text of `memscape live`.
///
/// # Errors
/// The file can't be read, or has no such moment: one sentence.
pub(crate) fn live(Live { source, at, terms }: &Live) -> Result<String, String> {
    let mut asking = Asking::open(source)?;
    let facts = match (at.when.unwrap_or(When::Peak), terms.counting) {
        (When::Peak, Counting::Mosaic) => highest_for_mosaic(&mut asking, None)?,
        (when, _) => asking.at(when)?,
    };
    tell(&mut asking, terms, &facts, None)
}

/// The text of `memscape peak`.
///
/// # Errors
/// The file can't be read, or has no times: one sentence.
pub(crate) fn highest(Peak { source, from, to, terms }: &Peak) -> Result<String, String> {
    let mut asking = Asking::open(source)?;
    if (from, to) == (&None, &None) {
        let facts = match terms.counting {
            Counting::Whole => asking.at(When::Peak)?,
            Counting::Mosaic => highest_for_mosaic(&mut asking, None)?,
        };
        return tell(&mut asking, terms, &facts, None);
    }
    // What holds where the window begins is part of it.
    let [from_us, to_us] = [from, to].map(|clock| clock.map(|clock| asking.time(clock)).transpose());
    let [from_us, to_us] = [from_us?, to_us?];
    let from = from_us.map_or(Ok(At::Moment(0)), |us| asking.at_time(us, Edge::Excluded))?;
    let to = to_us.map_or(Ok(At::Moment(u32::MAX)), |us| asking.at_time(us, Edge::Included))?;
    if from_us.zip(to_us).is_some_and(|(from, to)| from > to) {
        return Err("--from is after --to".to_owned());
    }
    let span = Span { from: asking.moment(from)?.moment, to: asking.moment(to)?.moment };
    if let (Some((first, last)), [from, to]) = (asking.device.time_us, [from_us, to_us])
        && (from.is_some_and(|from| from > last) || to.is_some_and(|to| to < first))
    {
        return Err(format!("the trace is elsewhere: from {first}us to {last}us"));
    }
    if terms.counting == Counting::Mosaic {
        let facts = highest_for_mosaic(&mut asking, Some(span))?;
        return tell(&mut asking, terms, &facts, Some(span));
    }
    let device = asking.device.device;
    let Some(Reply::Answer { answer: Answer::Range(facts), .. }) =
        asking.ask(Request::Ask(Ask { serial: 0, device, what: Question::Range(span) }))
    else {
        return Err("the window could not be looked through".to_owned());
    };
    let facts = asking.moment(At::Moment(facts.peak_moment))?;
    tell(&mut asking, terms, &facts, Some(span))
}

/// When the most of what was born in the trace is live, after an event of the window: as the report on stages has it.
fn highest_for_mosaic(asking: &mut Asking, window: Option<Span>) -> Result<MomentFacts, String> {
    let moments = window.map_or_else(Vec::new, |Span { from, to }| vec![("from", from), ("to", to)]);
    let thresholds = moments.into_iter().map(|(key, moment)| (key.to_owned(), moment.into())).collect();
    let question = ReportQuestion { topic: Topic::Stages, at: None, thresholds, rows: 0 };
    let device = asking.device.device;
    let report = match asking.ask(Request::Ask(Ask { serial: 0, device, what: Question::Report(question) })) {
        Some(Reply::Answer { answer: Answer::Report(report), .. }) => report,
        _ => return Err("the trace could not be counted".to_owned()),
    };
    let sheet = report.sheets.iter().find(|sheet| sheet.key == "mosaic");
    // The peak of the trace, then that of the window.
    let row = sheet.and_then(|sheet| sheet.rows.get(usize::from(window.is_some())));
    let moment = row.and_then(|row| row.evidence.as_ref()?.moment).ok_or("there is no such moment")?;
    asking.moment(At::Moment(moment))
}

/// What is live at a moment, as text or JSON.
fn tell(asking: &mut Asking, terms: &Terms, facts: &MomentFacts, window: Option<Span>) -> Result<String, String> {
    let page = tree(asking, terms, facts.moment).ok_or("the stacks could not be put together")?;
    let facts = match terms.counting {
        Counting::Whole => facts,
        Counting::Mosaic => &MomentFacts { requested: page.total.bytes, count: page.total.count, ..*facts },
    };
    let rows = page.rows.get(1..).unwrap_or_default();
    let form = if terms.printed.json { as_json } else { as_text };
    Ok(form(asking, terms, facts, window, &page, rows))
}

fn tree(asking: &mut Asking, terms: &Terms, moment: u32) -> Option<Box<TreePage>> {
    let by_site = |merge| Arrangement { root: Root::Innermost, merge, internal: Internal::Hidden };
    let arrangement = match terms.by {
        By::Site => by_site(Merge::Line),
        By::Function => by_site(Merge::Function),
        By::File => by_site(Merge::File),
        By::Tree => Arrangement {
            root: if terms.inverted { Root::Innermost } else { Root::default() },
            merge: Merge::Line,
            internal: if terms.hide_internal { Internal::Hidden } else { Internal::default() },
        },
    };
    let fold = |reach, state| Fold { node: ALL, reach, state };
    let folds = match terms.by {
        By::Tree => vec![fold(Reach::AllBelow, FoldState::Open)],
        _ => vec![fold(Reach::AllBelow, FoldState::Closed), fold(Reach::One, FoldState::Open)],
    };
    let device = asking.device.device;
    whole(terms.printed.top.saturating_add(1), |rows| {
        let question = TreeQuestion {
            scope: match terms.counting {
                Counting::Whole => Scope::At(moment),
                Counting::Mosaic => Scope::Kept(Span { from: 0, to: moment }),
            },
            arrangement,
            focus: None,
            folds: folds.clone(),
            reveal: None,
            find: None,
            rows,
        };
        match asking.ask(Request::Ask(Ask { serial: 0, device, what: Question::Tree(Box::new(question)) }))? {
            Reply::Answer { answer: Answer::Tree(page), .. } => Some(page),
            _ => None,
        }
    })
}

impl Peak {
    /// Arguments that contradict each other.
    pub(crate) fn conflict(&self) -> Option<String> {
        let (from, to) = (self.from?, self.to?);
        (from > to).then(|| "--from is after --to".to_owned())
    }
}

impl Rows for TreePage {
    type Row = TreeRow;

    fn rows(&mut self) -> &mut Vec<TreeRow> {
        &mut self.rows
    }

    fn count(&self) -> u32 {
        self.row_count
    }
}

fn as_json(
    asking: &Asking,
    terms: &Terms,
    facts: &MomentFacts,
    window: Option<Span>,
    page: &TreePage,
    rows: &[TreeRow],
) -> String {
    let row = |row: &TreeRow| {
        let NodeLabel { name, file, line, .. } = &row.label;
        let mut value =
            json!({"requested": row.weight.bytes, "count": row.weight.count, "name": name, "file": file, "line": line});
        if terms.by == By::Tree
            && let Some(fields) = value.as_object_mut()
        {
            fields.insert("depth".to_owned(), json!(row.depth - 1));
            fields.insert("own_requested".to_owned(), json!(row.own.bytes));
            fields.insert("own_count".to_owned(), json!(row.own.count));
        }
        value
    };
    let reserved = asking.device.knows_reserved().then_some(facts.reserved);
    let fields = json!({
        "event": Moment(facts.moment).event_or_minus_one(),
        "time_us": facts.time_us,
        "window": window.map(|span| json!({"first_event": Moment(span.from).event_or_minus_one(), "last_event": Moment(span.to).event_or_minus_one()})),
        "requested": facts.requested,
        "counting": name_of(terms.counting),
        "allocated": (terms.counting == Counting::Whole).then(|| facts.requested.saturating_sub(facts.pending)),
        "pending": (terms.counting == Counting::Whole).then_some(facts.pending),
        "reserved": reserved,
        "count": facts.count,
        "by": name_of(terms.by),
        "rows": rows.iter().map(row).collect::<Vec<Value>>(),
        "rows_left_out": page.row_count.saturating_sub(rows.len() as u32 + 1),
    });
    pretty(&document(asking, fields))
}

fn as_text(
    asking: &Asking,
    terms: &Terms,
    facts: &MomentFacts,
    window: Option<Span>,
    page: &TreePage,
    rows: &[TreeRow],
) -> String {
    let is_peak = match terms.counting {
        Counting::Mosaic => ", as Mosaic counts: only what was born in the trace, no baseline",
        Counting::Whole if facts.moment == asking.peak() => ", the peak",
        Counting::Whole => "",
    };
    let mut text = format!("{}: live {}{is_peak}\n", title(asking), after(facts.moment));
    if let Some(Span { from, to }) = window {
        text.push_str(&format!("  the most between {} and {}\n", after(from), after(to)));
    }
    let mut fact = |label: &str, bytes: u64, note: &str| {
        text.push_str(&format!("  {label:<10}{:>10}  {:>19} bytes{note}\n", Bytes(bytes).to_string(), grouped(bytes)));
    };
    fact("requested", facts.requested, &format!(" in {}", counted(facts.count.into(), "allocation")));
    match terms.counting {
        Counting::Mosaic => {}
        Counting::Whole => {
            fact("allocated", facts.requested.saturating_sub(facts.pending), ", requested and not asked to be freed");
            fact("pending", facts.pending, ", asked to be freed");
        }
    }
    if asking.device.knows_reserved() {
        fact("reserved", facts.reserved, "");
    }
    text.push_str(&format!(
        "\n{:>10}  {:>19}  {:>8}  {:>7}  {}\n",
        "requested",
        "bytes",
        "share",
        "count",
        name_of(terms.by)
    ));
    for row in rows {
        let weight = row.weight;
        let indent = if terms.by == By::Tree { "  ".repeat(row.forks as usize) } else { String::new() };
        text.push_str(&format!(
            "{:>10}  {:>19}  {:>8}  {:>7}  {indent}{}\n",
            Bytes(weight.bytes).to_string(),
            grouped(weight.bytes),
            percent(weight.bytes, page.total.bytes),
            grouped(weight.count.into()),
            printable(&name(&row.label, terms.by)),
        ));
    }
    text + &more(page.row_count.saturating_sub(rows.len() as u32 + 1))
}

/// `train_step (train.py:233)`; of merged files the path.
fn name(label: &NodeLabel, by: By) -> String {
    match (label.file.as_str(), label.line.as_str()) {
        (file, _) if by == By::File && !file.is_empty() => file.to_owned(),
        ("", _) => label.name.clone(),
        (file, "") => format!("{} ({file})", label.name),
        (file, line) => format!("{} ({file}:{line})", label.name),
    }
}
