//! The legend: the label and bytes of each colour, as lines of text.

use crate::state::shared::Shared;
use crate::text::names::shared_beginnings;
use base::sorted::{sorted_by_key, two_part_key};
use base::units::{Bytes, group_digits, pluralize};
use picture::timeline::{Axis, Scene, View};
use protocol::category::category_label;
use protocol::{DeviceSummary, Grouping, LegendEntry, Plot};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A line of the legend: a colour with its label and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub slot: u32,
    pub label: String,
    /// Length in bytes of the beginning of the label that is cut first, see [`shared_beginnings`].
    pub shared: usize,
    /// Requested bytes at the peak, and number of allocations.
    pub bytes: String,
    /// Requested bytes at the cursor and at the peak.
    pub columns: [String; 2],
    /// Tooltip: label, and exact requested bytes at the cursor and at the peak.
    pub exact: String,
    pub faded: bool,
}

/// Returns the heading of the legend in an exported picture.
pub fn title(plot: Plot, colouring: Grouping) -> String {
    match plot {
        Plot::Reserved(_) => heading(plot, colouring),
        _ => format!("Colour: {} (requested bytes at the peak)", noun(colouring)),
    }
}

/// Returns the heading of the legend on the page.
pub fn heading(plot: Plot, colouring: Grouping) -> String {
    let suffix = match (plot, colouring) {
        (Plot::Reserved(_), Grouping::CallSite) => " of the segment allocation",
        (Plot::Reserved(_), _) => " of segments",
        _ => "",
    };
    ["Colour: ", noun(colouring), suffix].concat()
}

/// Returns the grouping that the colours show. Segments have no category. If colouring by category is chosen, they
/// are coloured by pool.
pub fn coloured_by(state: &Shared) -> Grouping {
    match (state.plot_settings.plot, state.plot_settings.colouring) {
        (Plot::Reserved(_), Grouping::Category | Grouping::Metadata) => Grouping::Pool,
        (_, colouring) => colouring,
    }
}

/// Returns the singular noun for a grouping, such as "category".
pub fn noun(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::CallSite => "call site",
        Grouping::Size => "size",
        Grouping::Lifetime => "lifetime",
        Grouping::Age => "age",
        Grouping::Stream => "stream",
        Grouping::Pool => "pool",
        Grouping::Category => "category",
        Grouping::Annotation => "annotation",
        Grouping::CompileContext => "compiled region",
        Grouping::Metadata => "user metadata",
    }
}

/// Number of visible pixels of each colour, in the order of the palette.
pub type VisiblePixels = Vec<u64>;

/// Counts the pixels of each colour in a window. `None` until the scene has the chosen colouring.
pub fn visible_pixels(state: &Shared, view: &View) -> Option<VisiblePixels> {
    let scene = state.scene().filter(|_| state.drawn_settings().colouring == state.plot_settings.colouring)?;
    let column = |px: f64| scene.view.column_from_x(view.x_from_column(px)).clamp(-1e6, 1e6).round() as i32;
    let covered = scene.covered([column(0.0), column(f64::from(view.width_px))]);
    covered.iter().any(|&pixels| pixels > 0).then_some(covered)
}

/// Builds a line for each colour that is visible in the window, live at the cursor, or faded.
///
/// If the groups have a natural order, lines have that order. Otherwise they are sorted by bytes at the peak, which do
/// not depend on the window, and then by visible pixels. `covered` are the visible pixels. If it is `None`, colours
/// that are live at the peak count as visible. Lines of segments show no bytes.
pub fn lines(
    plot: Plot,
    colouring: Grouping,
    entries: &[LegendEntry],
    faded: &BTreeSet<u32>,
    covered: Option<&VisiblePixels>,
) -> Vec<Line> {
    let is_reserved = matches!(plot, Plot::Reserved(_));
    let visible_pixels = |entry: &LegendEntry| {
        covered.map_or(entry.peak_requested, |covered| covered.get(entry.slot as usize).copied().unwrap_or(0))
    };
    let is_known = |entry: &LegendEntry| {
        if covered.is_some() { visible_pixels(entry) > 0 } else { is_reserved || entry.peak_count > 0 }
    };
    let has_some = |entry: &&LegendEntry| is_known(entry) || entry.at.count > 0 || faded.contains(&entry.slot);
    let shown = entries.iter().filter(has_some);
    let most_first = |entry: &&LegendEntry| {
        if colouring.is_ordered() {
            0
        } else {
            two_part_key(if is_reserved { 0 } else { !entry.peak_requested }, !visible_pixels(entry))
        }
    };
    let shown = sorted_by_key(shown.collect(), most_first);
    let label = |entry: &LegendEntry| match colouring {
        Grouping::Category => category_label(&entry.label).to_owned(),
        _ => entry.label.clone(),
    };
    let line = |entry: &LegendEntry| match is_reserved {
        true => Line {
            slot: entry.slot,
            label: label(entry),
            exact: label(entry),
            faded: faded.contains(&entry.slot),
            ..Line::default()
        },
        false => Line {
            slot: entry.slot,
            label: label(entry),
            bytes: format!("{} · {}", Bytes(entry.peak_requested), pluralize(entry.peak_count, "block")),
            columns: [entry.at.bytes, entry.peak_requested].map(|bytes| Bytes(bytes).to_string()),
            exact: exact(label(entry), entry),
            faded: faded.contains(&entry.slot),
            ..Line::default()
        },
    };
    let mut lines: Vec<Line> = shown.into_iter().map(line).collect();
    let shared = shared_beginnings(&lines.iter().map(|line| line.label.as_str()).collect::<Vec<&str>>());
    lines.iter_mut().zip(shared).for_each(|(line, shared)| line.shared = shared);
    lines
}

/// Returns which marks the picture has besides its colours: the line of reserved bytes, the shading of free bytes, the
/// stripes of blocks awaiting free, out-of-memory events, and snapshots. The Reserved view has a key of its own.
pub fn drawn_marks(state: &Shared) -> [bool; 5] {
    let plot = state.plot_settings.plot;
    let has_reserved = state.device().is_some_and(DeviceSummary::has_reserved) && !matches!(plot, Plot::Reserved(_));
    let is_pending = |scene: &Rc<Scene>| scene.columns.pending.iter().any(|bytes| *bytes > 0);
    let marks = state.surroundings.marks.latest();
    [
        has_reserved && plot == Plot::Stack,
        has_reserved,
        plot == Plot::Stack && state.scene().is_some_and(is_pending),
        marks.is_some_and(|marks| !marks.out_of_memory.is_empty()),
        marks.is_some_and(|marks| state.axis == Axis::Time && !marks.snapshots.is_empty()),
    ]
}

/// Returns the label of the line of reserved bytes, if the line is drawn.
pub fn reserved_label(state: &Shared) -> Option<String> {
    let [is_drawn, ..] = drawn_marks(state);
    is_drawn.then(|| with_reserved_note("Reserved", state))
}

/// Returns `label`, followed by the note if the plot is too low for the peak of reserved bytes.
pub(crate) fn with_reserved_note(label: &str, state: &Shared) -> String {
    let note = reserved_note(state).map_or_else(String::new, |note| [": ", &note].concat());
    [label, &note].concat()
}

/// Returns the note that the plot of live bytes is too low for the peak of reserved bytes. `None` if it is not, and in
/// other plots.
pub fn reserved_note(state: &Shared) -> Option<String> {
    let device = state.device().filter(|_| state.plot_settings.plot == Plot::Stack)?;
    let peak = u64::try_from(device.peak_reserved).ok()?;
    (peak > state.plane_of(device).extent.bytes).then(|| format!("peak {}, off scale", Bytes(peak)))
}

/// Maximum number of lines without a filter field.
pub const MAX_UNFILTERED: usize = 8;

/// Returns the lines that contain `text`, ignoring ASCII case.
pub fn filtered(mut lines: Vec<Line>, text: &str) -> Vec<Line> {
    let text = text.trim().to_ascii_lowercase();
    lines.retain(|line| line.label.to_ascii_lowercase().contains(&text));
    lines
}

fn exact(label: String, entry: &LegendEntry) -> String {
    let mut text = label;
    let parts = [("cursor", entry.at.bytes, entry.at.count.into()), ("peak", entry.peak_requested, entry.peak_count)];
    for (when, bytes, count) in parts {
        for part in ["\nat the ", when, " ", &group_digits(bytes), " B requested in ", &pluralize(count, "allocation")]
        {
            text.push_str(part);
        }
    }
    text
}
