//! `memscape diff`: two snapshots against each other, as text, JSON or Markdown.

use super::asking::{Asking, pick};
use super::cancelled;
use super::diff_json::as_json;
use super::output::{after, pretty, printable};
use super::terms::{SnapshotArgs, When, when};
use base::slice::Slice;
use base::units::{Bytes, Moment, grouped, percent};
use clap::{Args, ValueEnum};
use compare::{
    Align, Comparing, Comparison, Key, Row, SideFacts, Two, Wanted, factor, peaks_in, report, signed, times,
};
use std::path::PathBuf;
use ui::markdown::markdown;
use ui::summary::device_name;

/// Rows that are printed.
const TOP: u32 = 20;

/// Arguments of `memscape diff`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Diff {
    /// First snapshot
    pub(crate) a: PathBuf,
    /// Second snapshot; may be the same file
    pub(crate) b: PathBuf,
    /// Device of A; if omitted, the device that ran out of memory, else the one with the highest peak
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device_a: Option<i64>,
    /// Device of B
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device_b: Option<i64>,
    /// Cursor position in A: peak, oom, end, an event number or a time; if only one is given, the other is aligned with it
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) at_a: Option<When>,
    /// Cursor position in B
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) at_b: Option<When>,
    /// Compare the peaks of a range of A and of the aligned range of B: where it begins
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true, conflicts_with_all = ["at_a", "at_b"])]
    pub(crate) from: Option<When>,
    /// Where it ends
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true, conflicts_with_all = ["at_a", "at_b"])]
    pub(crate) to: Option<When>,
    /// What allocations are matched by; if omitted, the strictest key that matches 90 % of the bytes
    #[arg(long)]
    pub(crate) key: Option<ByKey>,
    /// How moments are aligned; if omitted, by steps, else by the sequence of allocations, else by the share of events
    #[arg(long)]
    pub(crate) align: Option<By>,
    /// Replace the beginning OLD of paths by NEW before paths are compared, such as /home/a/=/home/b/; may be given several times
    #[arg(long, value_name = "OLD=NEW", value_parser = prefix)]
    pub(crate) map: Vec<(String, String)>,
    /// Maximum number of rows to print
    #[arg(long, value_name = "N", default_value_t = TOP)]
    pub(crate) top: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

impl Diff {
    /// Of the devices of two files, with all else chosen automatically.
    pub(crate) fn of(a: (PathBuf, i64), b: (PathBuf, i64), json: bool, markdown: bool) -> Diff {
        let (at_a, at_b, from, to, key, align, map) = Default::default();
        let (device_a, device_b) = (Some(a.1), Some(b.1));
        Diff { a: a.0, b: b.0, device_a, device_b, at_a, at_b, from, to, key, align, map, top: TOP, json, markdown }
    }
}

/// A key, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByKey(Key);

impl ValueEnum for ByKey {
    fn value_variants<'a>() -> &'a [ByKey] {
        const ALL: [ByKey; Key::ALL.len()] = {
            let (mut all, mut at) = ([ByKey(Key::Stack); Key::ALL.len()], 0);
            while at < Key::ALL.len() {
                all[at] = ByKey(Key::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// An alignment, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct By(Align);

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [By] {
        &[By(Align::Steps), By(Align::Sequence), By(Align::Share)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// The text of `memscape diff`.
///
/// # Errors
/// A file cannot be read, or has no such device or moment: one sentence that names it.
pub(crate) fn diff(arguments: &Diff) -> Result<String, String> {
    let comparison = compared(arguments)?;
    Ok(match (arguments.json, arguments.markdown) {
        (true, _) => pretty(&as_json(&comparison)),
        (_, true) => as_markdown(&comparison, arguments.top),
        _ => as_text(&comparison, arguments.top),
    })
}

fn compared(arguments: &Diff) -> Result<Comparison, String> {
    let Diff { a, b, device_a, device_b, at_a, at_b, key, align, .. } = arguments;
    let open = |file: &PathBuf, device| {
        let source = SnapshotArgs { file: file.clone(), device };
        Asking::open(&source).map_err(|error| format!("{}: {error}", file.display()))
    };
    let mut first = open(a, *device_a)?;
    // Two devices or two moments of one file: it is read once.
    let mut second = if a == b { None } else { Some(open(b, *device_b)?) };
    let mut of_a = |at| moment(&mut first, at).map_err(|error| format!("{}: {error}", a.display()));
    let (one, from, to) = (of_a(*at_a)?, of_a(arguments.from)?, of_a(arguments.to)?);
    let device_of_a = first.device.device;
    let (device_of_b, other) = {
        let asking = second.as_mut().unwrap_or(&mut first);
        if a == b {
            asking.device = pick(&asking.summary, *device_b)?.clone();
        }
        let other = moment(asking, *at_b).map_err(|error| format!("{}: {error}", b.display()))?;
        (asking.device.device, other)
    };
    let engine_a = first.into_engine();
    let engine_b = second.map(Asking::into_engine);
    let missing = || "no device has events or segments".to_owned();
    let side_a = engine_a.side(device_of_a).ok_or_else(missing)?;
    let side_b = engine_b.as_ref().unwrap_or(&engine_a).side(device_of_b).ok_or_else(missing)?;
    let wanted = Wanted { a: one, b: other, key: key.map(|key| key.0), align: align.map(|align| align.0) };
    let mut comparing = Comparing::new(&side_a, &side_b, wanted).with_prefixes(arguments.map.clone());
    if from.is_some() || to.is_some() {
        while comparing.align(&side_a, &side_b, &mut Slice::new(&mut cancelled::goes_on)).is_err() {
            cancelled::check()?;
        }
        let range = [from.unwrap_or(Moment::START), to.unwrap_or(Moment(side_a.history.event_count()))];
        let (one, other) = peaks_in([&side_a, &side_b], comparing.alignment(), range);
        comparing.move_to(one, other);
    }
    loop {
        cancelled::check()?;
        if let Ok(comparison) = comparing.step(&side_a, &side_b, &mut Slice::new(&mut cancelled::goes_on)) {
            return Ok(comparison);
        }
    }
}

/// `OLD=NEW`.
fn prefix(typed: &str) -> Result<(String, String), String> {
    match typed.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("expected OLD=NEW, such as /home/a/=/home/b/".to_owned()),
    }
}

/// A position, once all is known of the file.
fn moment(asking: &mut Asking, at: Option<When>) -> Result<Option<Moment>, String> {
    asking.prepare();
    at.map(|at| asking.at(at).map(|facts| Moment(facts.moment))).transpose()
}

/// Letters of a line on a terminal.
const WIDTH: usize = 100;

/// A text on lines of at most [`WIDTH`] letters, those after the first indented.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut width) = (String::new(), 0);
    for (place, word) in printable(text).split(' ').enumerate() {
        let letters = word.chars().count();
        if place > 0 && width + 1 + letters > WIDTH {
            lines += "\n";
            lines += indent;
            width = indent.chars().count();
        } else if place > 0 {
            lines += " ";
            width += 1;
        }
        lines += word;
        width += letters;
    }
    lines + "\n"
}

/// The beginning of a name that fits in so many letters.
pub(crate) fn cut(name: &str, letters: usize) -> String {
    let name = printable(name);
    match name.chars().count() <= letters {
        true => name,
        false => name.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// How much more or less is live in B than in A.
fn total_relation(live: Two) -> String {
    if live.a == 0 { "–".to_owned() } else { times(live) }
}

fn bytes(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

fn as_text(of: &Comparison, top: u32) -> String {
    let mut text = String::new();
    for (name, side) in [("A", &of.a), ("B", &of.b)] {
        let (device, at) = (device_name(side.device), after(side.moment));
        let live = bytes(side.live_bytes);
        text += &wrapped(&format!("{name}  {} · {device}: {live} live {at}", cut(&side.file, 50)), "   ");
    }
    text += "\n";
    of.verdict.iter().for_each(|sentence| text += &wrapped(sentence, "  "));
    of.warnings.iter().for_each(|warning| text += &wrapped(&format!("Warning: {warning}"), "  "));
    text += &wrapped(&format!("Alignment: {}", of.alignment_detail), "  ");
    text += &format!("\n{:>18} {:>12} {:>12} {:>12}  after events\n", "live", "A", "B", "Δ");
    for pair in &of.moments {
        let event = |moment: u32| match Moment(moment).event() {
            Some(event) => grouped(event.0.into()),
            None => "−1".to_owned(),
        };
        let events = format!("{} · {}", event(pair.moments.0), event(pair.moments.1));
        let two = pair.reserved.filter(|_| pair.title == "peak reserved").unwrap_or(pair.live);
        let (a, b, delta) = (bytes(two.a), bytes(two.b), signed(two.delta()));
        text += &format!("{:>18} {a:>12} {b:>12} {delta:>12}  {events}\n", pair.title);
    }
    text += &at_the_peak(of);
    let (a, b) = (of.matched.bytes, of.matched.known);
    let (of_a, of_b) = (percent(a.a, b.a), percent(a.b, b.b));
    text += &format!("\nBy {}: {of_a} of A and {of_b} of B have a partner\n", of.key_title);
    text += &table(&of.rows, top);
    text += &total(of);
    if !of.pools.is_empty() {
        text += "\nBy pool\n";
        text += &table(&of.pools, top);
    }
    text += &steps(of, top);
    text += &allocations(of, top);
    if !of.settings.is_empty() {
        text += "\nSettings that differ (A → B)\n";
        for (name, a, b) in of.settings.iter().take(top as usize) {
            let value = |value: &Option<String>| {
                value.as_deref().map_or("not recorded".to_owned(), |it| {
                    if it.is_empty() { "(empty)".to_owned() } else { cut(it, 24) }
                })
            };
            text += &format!("  {} {} → {}\n", cut(name, 44), value(a), value(b));
        }
    }
    if !of.scaling.is_empty() {
        text += "\n  factor  call sites       pairs            A            B  largest call site\n";
    }
    for group in of.scaling.iter().take(top as usize) {
        let (times, sites, pairs) = (factor(group.factor), grouped(group.sites.into()), grouped(group.pairs));
        let site = group.rows.first().map_or(String::new(), |row| cut(&row.site, 36));
        let (a, b) = (bytes(group.bytes.a), bytes(group.bytes.b));
        text += &format!("{times:>8} {sites:>11} {pairs:>11} {a:>12} {b:>12}  {site}\n");
    }
    if !of.lifetimes.is_empty() {
        text += "\n                lifetime  allocations            A            B  largest call site\n";
    }
    for it in &of.lifetimes {
        let site = it.sites.first().map_or(String::new(), |of| cut(&of.site, 36));
        let (a, b, count) = (bytes(it.bytes.a), bytes(it.bytes.b), grouped(it.allocations));
        text += &format!("{:>24} {count:>12} {a:>12} {b:>12}  {site}\n", it.outcome.title());
    }
    text
}

/// The steps that both have.
fn steps(of: &Comparison, top: u32) -> String {
    let mut text = String::new();
    if !of.steps.is_empty() {
        text += &format!("\n{:>12} {:>12} {:>12} {:>13}  allocations\n", "A, peak", "B, peak", "Δ", "ratio");
    }
    for step in of.steps.iter().take(top as usize) {
        let (a, b, delta) = (bytes(step.peak.a), bytes(step.peak.b), signed(step.peak.delta()));
        let counts = format!("{} → {}", grouped(step.allocations.a), grouped(step.allocations.b));
        let name = cut(&step.name, 24);
        text += &format!("{a:>12} {b:>12} {delta:>12} {:>13}  {counts:<15} {name}\n", total_relation(step.peak));
    }
    text + &super::output::more(of.steps.len().saturating_sub(top as usize) as u32)
}

/// The allocations that differ most.
fn allocations(of: &Comparison, top: u32) -> String {
    let mut text = String::new();
    if !of.allocations.rows.is_empty() {
        text += &format!("\n{:>12} {:>12} {:>12} {:>13}  allocation\n", "A", "B", "Δ", "ratio");
    }
    // They are many: the groups above say more.
    for row in of.allocations.rows.iter().take(top.div_ceil(4) as usize) {
        let (a, b, delta) = (bytes(row.bytes.a), bytes(row.bytes.b), signed(row.bytes.delta()));
        let id = |id: Option<u32>| id.map_or("–".to_owned(), |id| format!("#{id}"));
        let name = cut(&format!("{} → {} {}", id(row.ids.0), id(row.ids.1), row.site), 44);
        text += &format!("{a:>12} {b:>12} {delta:>12} {:>13}  {name}\n", row.relation());
    }
    let left_out = of.allocations.count.saturating_sub(top.div_ceil(4).into());
    text + &super::output::more(u32::try_from(left_out).unwrap_or(u32::MAX))
}

/// Fragmentation at the peaks, and how often memory ran out.
fn at_the_peak(of: &Comparison) -> String {
    let mut text = String::new();
    if let Some((pair, reserved)) = of.moments.first().and_then(|pair| Some((pair, pair.reserved?))) {
        // Blocks are rounded up, so that less is free than what is not live.
        let free = |live: u64, reserved: u64| percent(reserved.saturating_sub(live), reserved);
        let (a, b) = (free(pair.live.a, reserved.a), free(pair.live.b, reserved.b));
        text += &format!("{:>18} {:>12} {:>12}\n", "fragmentation", format!("≤ {a}"), format!("≤ {b}"));
    }
    if of.out_of_memory != Two::default() {
        text += &format!("{:>18} {:>12} {:>12}\n", "OOM", of.out_of_memory.a, of.out_of_memory.b);
    }
    text
}

/// The sums of all rows: the difference of the totals.
fn total(of: &Comparison) -> String {
    let live = Two { a: of.a.live_bytes, b: of.b.live_bytes };
    let (a, b, delta) = (bytes(live.a), bytes(live.b), signed(live.delta()));
    format!("{a:>12} {b:>12} {delta:>12} {:>13}  total\n", total_relation(live))
}

fn table(rows: &[Row], top: u32) -> String {
    let mut text = format!("{:>12} {:>12} {:>12} {:>13}  allocations\n", "A", "B", "Δ", "ratio");
    for row in rows.iter().take(top as usize) {
        let (a, b, delta) = (bytes(row.bytes.a), bytes(row.bytes.b), signed(row.bytes.delta()));
        let counts = format!("{} → {}", grouped(row.count.a), grouped(row.count.b));
        let room = WIDTH.saturating_sub(12 * 3 + 2 + 14 + 2 + 1 + counts.chars().count().max(11));
        let name = cut(&row.label, room);
        text += &format!("{a:>12} {b:>12} {delta:>12} {:>13}  {counts:<11} {name}\n", row.relation());
    }
    text + &super::output::more(rows.len().saturating_sub(top as usize) as u32)
}

/// The insight of the page, with what is asked of a report that stands alone: what is compared.
fn as_markdown(of: &Comparison, top: u32) -> String {
    let name = |side: &SideFacts| [&side.file, " · ", &device_name(side.device)].concat();
    markdown(&report(of, top as usize), &[name(&of.a), name(&of.b)].join(" → "))
}
