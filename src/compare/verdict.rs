//! The verdict: one to five sentences, each with one number and its cause.

use crate::alignment::Align;
use crate::answer::{
    Comparison, END, FactorGroup, MomentPair, Outcome, PEAK_RESERVED, PerSide, Row, factor, factor_of, relation,
};
use crate::key::Key;
use analysis::category::category_label;
use analysis::site::{NO_STACK, with_site};
use base::sorted::sorted_numbers;
use base::units::{Bytes, Moment, group_digits, percent, pluralize};
use engine::UNKNOWN_POOL;
use hashbrown::HashMap;

/// Maximum number of sentences.
const MAX_SENTENCES: usize = 5;
/// Divisor of the length of B's trace. If the peaks are further apart than the quotient, they are in different parts of
/// the program.
const APART_PART: u32 = 20;
/// Maximum number of differences that a sentence names.
const MAX_CAUSES: usize = 3;
/// Divisor of the larger side's total. Differences of more bytes than the quotient are mentioned.
const MIN_PART: u64 = 200;
/// Divisor of the larger side's total. Longer lifetimes are mentioned if they affect more bytes than the quotient.
const LONGER_PART: u64 = 50;
/// Divisor of the larger peak reserved. If its change is further from that of the live bytes than the quotient, it is
/// mentioned.
const RESERVED_PART: u128 = 50;
/// Maximum length of a name in a sentence, in characters.
const LONGEST: usize = 60;

/// Returns the verdict as one to five sentences.
pub(crate) fn verdict(comparison: &Comparison) -> Vec<String> {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let mut sentences = vec![peak_difference(comparison, live)];
    sentences.extend(unmatched_code(comparison));
    sentences.extend(peaks_differ(comparison));
    sentences.extend(causes(comparison, live));
    sentences.extend(awaiting_free_difference(comparison));
    let (matched, total) = (comparison.matched.bytes, comparison.matched.known);
    let (unmatched, all) = ((total.a - matched.a).saturating_add(total.b - matched.b), total.a.saturating_add(total.b));
    if u128::from(unmatched) * 10 > u128::from(all) {
        sentences.push(format!(
            "{} of A's bytes and {} of B's have no partner by {}.",
            percent(total.a - matched.a, total.a),
            percent(total.b - matched.b, total.b),
            comparison.key_title
        ));
    }
    sentences.extend(settings_differ(comparison));
    sentences.extend(scaling(&comparison.scaling));
    sentences.extend(lifetimes(comparison, live));
    // Other differences matter most where the live bytes are the same.
    let is_same = u128::from(live.a.abs_diff(live.b)) * RESERVED_PART <= u128::from(live.a.max(live.b));
    if is_same {
        let ends = [end_difference(comparison, live), end_reserved_difference(comparison)];
        sentences.splice(1..1, ends.into_iter().flatten());
    }
    if let Some(reserved) = reserved_difference(comparison) {
        match sentences.first_mut().filter(|_| is_same) {
            Some(first) => *first = [first, " ", &*reserved].concat(),
            None => sentences.push(reserved),
        }
    }
    sentences.truncate(MAX_SENTENCES);
    sentences
}

/// Returns the name of a row in texts and tables.
pub(crate) fn row_name<'a>(comparison: &Comparison, label: &'a str) -> &'a str {
    if comparison.key == Key::Category.name() { category_label(label) } else { label }
}

/// Reports that the allocations could not be matched by code, and why. Returns `None` if they could, or if the key was
/// requested.
pub(crate) fn unmatched_code(comparison: &Comparison) -> Option<String> {
    if !comparison.only_compiled.is_empty() {
        let side = &comparison.only_compiled;
        return Some(format!("{side} runs compiled code: compared by category only."));
    }
    if comparison.key != Key::Category.name() {
        return None;
    }
    let by_code = comparison.tried.iter().filter(|(key, _)| *key != comparison.key);
    let best = by_code.map(|(_, matched)| matched.parts_per_million()).max()?;
    let share = percent(best, 1_000_000);
    Some(format!("The code differs: call sites match for {share} of the bytes, so compared by category only."))
}

fn peak_difference(comparison: &Comparison, live: PerSide) -> String {
    let peaks = comparison.moments.first().map_or((0, 0), |pair| pair.moments);
    let is_at_peaks = peaks == (comparison.a.moment, comparison.b.moment);
    match live.delta() {
        0 if is_at_peaks => format!("B's peak equals A's: {}.", Bytes(live.a)),
        0 => format!("A and B are equal: {}.", Bytes(live.a)),
        delta if !is_at_peaks => {
            format!("From A to B: {} ({} against {}).", signed(delta), Bytes(live.b), Bytes(live.a))
        }
        delta => {
            let (amount, direction) = (Bytes(live.a.abs_diff(live.b)), if delta > 0 { "higher" } else { "lower" });
            let times = if live.a > 0 { format!(", {}", factor_of(live)) } else { String::new() };
            format!("B's peak is {amount} {direction}: {} against {}{times}.", Bytes(live.b), Bytes(live.a))
        }
    }
}

/// Reports the change of peak reserved if it is far from that of the live bytes, as after a change of the allocator's
/// settings.
fn reserved_difference(comparison: &Comparison) -> Option<String> {
    let peak = comparison.moments.iter().find(|pair| pair.title == PEAK_RESERVED)?;
    let reserved = peak.reserved?;
    let live = comparison.moments.first().map_or(0, |pair| pair.live.delta());
    let apart = (reserved.delta() - live).unsigned_abs();
    let direction = if reserved.delta() > 0 { "higher" } else { "lower" };
    let [a, b, delta] = [reserved.a, reserved.b, reserved.a.abs_diff(reserved.b)].map(Bytes);
    (delta.0 > 0 && apart > u128::from(reserved.a.max(reserved.b)) / RESERVED_PART)
        .then(|| format!("B's peak reserved is {delta} {direction}: {b} against {a}."))
}

/// Reports a difference of the live bytes at the end of the traces, as after a leak that stays below the peak.
fn end_difference(comparison: &Comparison, live: PerSide) -> Option<String> {
    let end = comparison.moments.iter().find(|pair| pair.title == END)?;
    let PerSide { a, b } = end.live;
    let delta = a.abs_diff(b);
    let is_compared = end.moments == (comparison.a.moment, comparison.b.moment);
    let direction = if b > a { "more" } else { "less" };
    (!is_compared && delta > live.a.max(live.b) / MIN_PART)
        .then(|| format!("At the end, B has {} {direction} live: {} against {}.", Bytes(delta), Bytes(b), Bytes(a)))
}

/// Reports a difference of the reserved bytes at the end of the traces, as after `empty_cache()`, if the peaks of
/// reserved bytes agree.
fn end_reserved_difference(comparison: &Comparison) -> Option<String> {
    let reserved = |title: &str| comparison.moments.iter().find(|pair| pair.title == title)?.reserved;
    let (peak, PerSide { a, b }) = (reserved(PEAK_RESERVED)?, reserved(END)?);
    let is_large = |delta: u64| u128::from(delta) * RESERVED_PART > u128::from(peak.a.max(peak.b));
    let direction = if b > a { "more" } else { "less" };
    let [delta, b_bytes, a_bytes] = [a.abs_diff(b), b, a].map(Bytes);
    (is_large(delta.0) && !is_large(peak.a.abs_diff(peak.b)))
        .then(|| format!("At the end, B has {delta} {direction} reserved: {b_bytes} against {a_bytes}."))
}

/// Reports a large difference of the live bytes that are awaiting free.
fn awaiting_free_difference(comparison: &Comparison) -> Option<String> {
    let is_large = |pair: &&MomentPair| {
        let PerSide { a, b } = pair.awaiting_free;
        a.abs_diff(b) > pair.live.a.max(pair.live.b) / MIN_PART
    };
    let pair = comparison.moments.iter().find(is_large)?;
    let [a, b] = [pair.awaiting_free.a, pair.awaiting_free.b].map(Bytes);
    Some(format!("Awaiting free (record_stream), {}: {b} in B against {a} in A.", pair.title))
}

fn settings_differ(comparison: &Comparison) -> Option<String> {
    let value = |value: &Option<String>| match value.as_deref() {
        None => "not recorded".to_owned(),
        Some("") => "not set".to_owned(),
        Some(value) => value.to_owned(),
    };
    // The environment variable has all settings in few words.
    let is_variable = |name: &str| name.ends_with("ALLOC_CONF");
    if let Some((_, a, b)) = comparison.settings.iter().find(|(name, ..)| is_variable(name)) {
        return Some(format!("Allocator settings from A to B: {} → {}.", value(a), value(b)));
    }
    let named = comparison.settings.iter().take(MAX_CAUSES);
    let named: Vec<String> = named.map(|(name, a, b)| format!("{name} {} → {}", value(a), value(b))).collect();
    (!named.is_empty()).then(|| format!("Allocator settings from A to B: {}.", named.join(", ")))
}

/// Reports that the peaks are in different parts of the program. Returns `None` if other moments are compared.
fn peaks_differ(comparison: &Comparison) -> Option<String> {
    let [peaks, of_a, ..] = &*comparison.moments else { return None };
    let is_aligned = comparison.alignment != Align::Share.name();
    let apart = of_a.moments.1.abs_diff(peaks.moments.1);
    let is_at_peaks = peaks.moments == (comparison.a.moment, comparison.b.moment);
    (is_aligned && is_at_peaks && apart > comparison.b.events / APART_PART).then(|| {
        let event = Moment(of_a.moments.1).event().map_or(0, |event| event.0);
        let (live, delta) = (Bytes(of_a.live.b), signed(of_a.live.delta()));
        format!(
            "The peaks are at different places: A's peak is aligned with event {} of B, where {live} is live ({delta}).",
            group_digits(event.into())
        )
    })
}

/// Formats a difference with its sign: `+8.10 GiB`, `−0.60 GiB`.
pub fn signed(delta: i128) -> String {
    let amount = Bytes(u64::try_from(delta.unsigned_abs()).unwrap_or(u64::MAX));
    match delta {
        0 => "0 B".to_owned(),
        1.. => format!("+{amount}"),
        _ => format!("−{amount}"),
    }
}

/// Reports the groups with the largest differences. Groups with the same name are merged.
fn causes(comparison: &Comparison, live: PerSide) -> Option<String> {
    let mut places: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
    let mut causes: Vec<(&str, PerSide, bool)> = Vec::new();
    for Row { label, bytes, in_both, .. } in &comparison.rows {
        let index = *places.entry(label).or_insert(causes.len());
        match causes.get_mut(index) {
            Some((_, sum, are_in_both)) => {
                sum.a = sum.a.saturating_add(bytes.a);
                sum.b = sum.b.saturating_add(bytes.b);
                *are_in_both |= in_both;
            }
            None => causes.push((label, *bytes, *in_both)),
        }
    }
    let min_difference = live.a.max(live.b) / MIN_PART;
    // Bytes of an unknown pool are no difference between the runs: freed segments, not the program, decide them.
    let rank = |label: &str, bytes: &PerSide| {
        (u128::from(label == UNKNOWN_POOL) << 127) | ((u128::MAX >> 1) - bytes.delta().unsigned_abs())
    };
    let order = causes.iter().zip(0..).map(|((label, bytes, _), index)| (rank(label, bytes), index)).collect();
    let largest = sorted_numbers(order).into_iter().filter_map(|index| causes.get(index as usize));
    let largest = largest.filter(|(_, bytes, _)| bytes.a.abs_diff(bytes.b) > min_difference).enumerate();
    // The bytes of an unknown pool may be those that another pool seems to have more or less.
    let named = largest.filter(|(index, (label, ..))| *index < MAX_CAUSES || *label == UNKNOWN_POOL);
    let words: Vec<String> = named
        .map(|(_, (label, bytes, in_both))| {
            let label: String = row_name(comparison, label).chars().take(LONGEST).collect();
            format!("{} {label} ({})", signed(bytes.delta()), relation(*bytes, *in_both))
        })
        .collect();
    // Stacks with the same call site are one.
    let key = if comparison.key == Key::Stack.name() { Key::CallSite.title() } else { &comparison.key_title };
    (!words.is_empty()).then(|| format!("Largest differences by {key}: {}.", words.join(", ")))
}

/// Reports how the sizes of paired allocations scale. The live bytes of a call site may have another factor, because
/// the number of its live allocations changes as well. If one factor is the square of another, also reports the call
/// sites that grow quadratically.
fn scaling(groups: &[FactorGroup]) -> Option<String> {
    // Allocations without a stack are not of one call site.
    let is_known = |group: &&FactorGroup| group.rows.iter().any(|row| row.site != NO_STACK);
    let changed = groups.iter().filter(|group| (group.factor - 1.0).abs() > 0.05).filter(is_known);
    let changed: Vec<&FactorGroup> = changed.collect();
    let largest = changed.first()?;
    let square = largest.factor * largest.factor;
    // A factor near 1 is close to its own square.
    let is_understood = (largest.factor - 1.0).abs() > 0.2;
    let is = |group: &&&FactorGroup, factor: f64| is_understood && (group.factor / factor - 1.0).abs() < 0.03;
    // Of two factors the smaller one is linear, even if the other one has more bytes.
    let root = changed.iter().find(|group| is(group, largest.factor.sqrt()));
    let (linear, quadratic) = match root {
        Some(root) => (*root, Some(*largest)),
        None => (*largest, changed.iter().find(|group| is(group, square)).copied()),
    };
    let sites = |group: &FactorGroup| {
        let verb = if group.sites == 1 { " scales" } else { " scale" };
        pluralize(group.sites.into(), "call site") + verb
    };
    Some(match quadratic {
        Some(quadratic) => {
            let names: Vec<&str> = quadratic.rows.iter().take(MAX_CAUSES).map(|row| &*row.site).collect();
            format!(
                "Allocation sizes: {} {}, {} quadratically ({}): {}.",
                sites(linear),
                factor(linear.factor),
                quadratic.sites,
                factor(quadratic.factor),
                names.join(", ")
            )
        }
        None if linear.sites == 1 => {
            let site = linear.rows.first().map_or("", |row| &row.site);
            format!("Allocation sizes: {site} scales {}.", factor(linear.factor))
        }
        None => {
            let site = linear.rows.first().map_or("", |row| &row.site);
            format!(
                "Allocation sizes: {} {}, most bytes {}.",
                sites(linear),
                factor(linear.factor),
                with_site("from", site)
            )
        }
    })
}

/// Reports allocations with longer lifetimes, if they affect enough bytes.
fn lifetimes(comparison: &Comparison, live: PerSide) -> Option<String> {
    let longer = comparison.lifetimes.iter().filter(|it| matches!(it.outcome, Outcome::LongerInA | Outcome::LongerInB));
    let largest = longer.max_by_key(|it| it.bytes.a.max(it.bytes.b))?;
    if largest.bytes.a.max(largest.bytes.b) <= live.a.max(live.b) / LONGER_PART {
        return None;
    }
    let side = if largest.outcome == Outcome::LongerInB { "B" } else { "A" };
    let first = largest.sites.first()?;
    let (what, bytes) = (pluralize(largest.allocations, "allocation"), Bytes(largest.bytes.a.max(largest.bytes.b)));
    let site: String = with_site("from", &first.site).chars().take(LONGEST).collect();
    let mut events = pluralize(first.longer_events.unsigned_abs(), "event");
    if first.longer_steps != 0 {
        events += &[" and ", &pluralize(first.longer_steps.unsigned_abs(), "step")].concat();
    }
    Some(format!("{what} ({bytes} in sum) live longer in {side}, most bytes {site} (by {events} on average)."))
}
