//! Histograms of sizes and lifetimes. Each bar stands for a class: the values from one power of two to the next.
//! Selected bars filter the rows of the table and the other histogram.

use base::units::{BYTE_UNITS, Bytes, group_digits, pluralize};
use protocol::{LIFETIME_TO_END, LIFETIME_UNKNOWN, Weight};

/// Quantity on the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Histogram {
    /// Requested bytes.
    Sizes,
    /// Lifetime in events.
    Lifetimes,
}

/// Quantity on the vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Requested bytes.
    #[default]
    Bytes,
    /// Number of allocations.
    Count,
}

/// Effect of a click on the selected bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickMode {
    /// Selects only this bar. Clears the selection if only this bar is selected already.
    Only,
    /// Extends the selection to this bar.
    Extend,
    /// Selects all bars from this class to the bar under the pointer, while dragging.
    Drag(u8),
}

/// A bar of a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    pub class: u8,
    /// Label below the left edge: the lower bound of the class. Empty for bars without a label.
    pub tick: String,
    /// Description: range of the class, number of allocations, and bytes.
    pub name: String,
    /// Height in thousandths of the highest bar. At least 1 if the bar is not empty.
    pub height: u32,
    pub is_selected: bool,
    /// True for a bar that is not a range of values, such as "never freed".
    pub is_special: bool,
}

/// A histogram with axis labels, ready to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// Bars in ascending order.
    pub bars: Vec<Bar>,
    /// Title of the vertical axis, and its labels at full height and at half height.
    pub axis: [String; 3],
}

/// Distance between two labels on the horizontal axis, in bars.
const BARS_PER_TICK: u8 = 3;

/// Returns the bars and labels of a histogram.
pub(crate) fn chart(histogram: Histogram, weights: &[Weight], chosen: Option<[u8; 2]>, measure: Measure) -> Chart {
    let value = |weight: &Weight| match measure {
        Measure::Bytes => weight.bytes,
        Measure::Count => weight.count.into(),
    };
    let is_chosen = |class: u8| chosen.is_some_and(|[from, to]| (from..=to).contains(&class));
    let is_special = |class: u8| histogram == Histogram::Lifetimes && class >= LIFETIME_UNKNOWN;
    let is_seen = |class: u8, weight: &Weight| weight.count > 0 || is_chosen(class);
    let classes = || (0u8..).zip(weights);
    let powers = || classes().filter(|(class, weight)| !is_special(*class) && is_seen(*class, weight));
    let first = powers().next().map_or(u8::MAX, |(class, _)| class);
    let last = powers().last().map_or(0, |(class, _)| class);
    let has_apart = classes().any(|(class, weight)| is_special(class) && is_seen(class, weight));
    let highest = weights.iter().map(value).max().unwrap_or(0);
    let bars =
        classes().filter(
            |(class, weight)| {
                if is_special(*class) { is_seen(*class, weight) } else { (first..=last).contains(class) }
            },
        );
    let bars = bars.map(|(class, weight)| {
        let height = u128::from(value(weight)) * 1000 / u128::from(highest.max(1));
        // The last bar before the separate ones has no room for a label.
        let has_room = class == first || class != last || !has_apart;
        let is_first = has_room && class.saturating_sub(first).is_multiple_of(BARS_PER_TICK);
        let mut name = class_text(histogram, class);
        name.push_str(&format!(": {}, {}", pluralize(weight.count.into(), "allocation"), Bytes(weight.bytes)));
        Bar {
            class,
            tick: if is_special(class) || is_first { lower_bound_text(histogram, class) } else { String::new() },
            name,
            height: if weight.count == 0 { 0 } else { (height as u32).max(1) },
            is_selected: is_chosen(class),
            is_special: is_special(class),
        }
    });
    let height = |value: u64| match measure {
        Measure::Bytes => Bytes(value).to_string(),
        Measure::Count => group_digits(value),
    };
    let axis_title = if measure == Measure::Bytes { "Requested bytes" } else { "Allocations" };
    Chart { bars: bars.collect(), axis: [axis_title.to_owned(), height(highest), height(highest / 2)] }
}

/// Updates `chosen`, the selected range of classes, after a click on the bar of `class`.
pub(crate) fn click(weights: &[Weight], chosen: &mut Option<[u8; 2]>, class: u8, mode: ClickMode) {
    let is_empty = weights.get(usize::from(class)).is_none_or(|weight| weight.count == 0);
    // Clicks on empty bars are ignored, except while dragging and to deselect.
    let is_brushed = matches!(mode, ClickMode::Drag(_));
    if is_empty && !is_brushed && chosen.is_none_or(|[from, to]| !(from..=to).contains(&class)) {
        return;
    }
    *chosen = match (*chosen, mode) {
        (_, ClickMode::Drag(other)) => Some([other.min(class), other.max(class)]),
        (Some([from, to]), ClickMode::Extend) => Some([from.min(class), to.max(class)]),
        (now, _) if now == Some([class; 2]) => None,
        _ => Some([class; 2]),
    };
}

/// Formats the selected range of classes: `64 KiB–1 MiB` (upper bound excluded) or `1–7 events` (upper bound included).
pub fn selection_text(histogram: Histogram, [from, to]: [u8; 2]) -> String {
    if from == to {
        return class_text(histogram, from);
    }
    let is_special = |class: u8| histogram == Histogram::Lifetimes && class >= LIFETIME_UNKNOWN;
    if is_special(from) {
        return [&class_text(histogram, from), " or ", &class_text(histogram, to)].concat();
    }
    if !is_special(to) {
        return class_range_text(histogram, from, to);
    }
    let ends = if to == LIFETIME_TO_END { [", ", &class_text(histogram, to)].concat() } else { String::new() };
    let noun = if from == 1 { " event, " } else { " events, " };
    ["≥ ", &lower_bound_text(histogram, from), noun, &class_text(histogram, LIFETIME_UNKNOWN), &ends].concat()
}

fn class_text(histogram: Histogram, class: u8) -> String {
    match (histogram, class) {
        (Histogram::Lifetimes, LIFETIME_UNKNOWN) => "allocated before recording".to_owned(),
        (Histogram::Lifetimes, LIFETIME_TO_END) => "never freed".to_owned(),
        (Histogram::Sizes, 0) => "0 B".to_owned(),
        (Histogram::Sizes, 1) => "1 B".to_owned(),
        (Histogram::Lifetimes, 0) => "no event".to_owned(),
        (Histogram::Lifetimes, 1) => "1 event".to_owned(),
        _ => class_range_text(histogram, class, class),
    }
}

/// Formats the range from class `from` to class `to`. The upper bound is excluded for bytes and included for events.
fn class_range_text(histogram: Histogram, from: u8, to: u8) -> String {
    let (begin, end) = (lower_bound_text(histogram, from), power_text(histogram, to));
    if histogram == Histogram::Lifetimes {
        let last = 1u64.checked_shl(to.into()).map_or(u64::MAX, |end| end - 1);
        return [&begin, "–", &group_digits(last), " events"].concat();
    }
    // The unit is written once if both ends have the same.
    let unit = |text: &str| text.rsplit(' ').next().unwrap_or_default().len();
    let is_same = begin.split(' ').next_back() == end.split(' ').next_back();
    let begin = begin.get(..begin.len() - unit(&begin)).filter(|_| is_same).map_or(&*begin, str::trim_end);
    [begin, "–", &end].concat()
}

/// Formats the lower bound of a class.
fn lower_bound_text(histogram: Histogram, class: u8) -> String {
    match (histogram, class) {
        (Histogram::Lifetimes, LIFETIME_UNKNOWN) => "before".to_owned(),
        (Histogram::Lifetimes, LIFETIME_TO_END) => "to the end".to_owned(),
        (Histogram::Sizes, 0) => "0 B".to_owned(),
        (_, 0) => "0".to_owned(),
        (_, class) => power_text(histogram, class - 1),
    }
}

fn power_text(histogram: Histogram, exponent: u8) -> String {
    match histogram {
        Histogram::Lifetimes => group_digits(1 << exponent.min(63)),
        Histogram::Sizes => {
            let unit = BYTE_UNITS.get(usize::from(exponent / 10)).copied().unwrap_or_default();
            format!("{} {unit}", 1u32 << (exponent % 10))
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/histograms.rs"]
mod tests;
