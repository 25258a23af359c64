//! Texts of the Segments tab: headings, sums, notes, and the outcome of a simulated request.

use crate::features::rows::cells::hexadecimal;
use crate::features::segments::SegmentsTab;
use crate::state::shared::Shared;
use crate::text::amount::event_name;
use base::units::{Bytes, group_digits, pluralize};
use protocol::{SegmentsBar, SegmentsFit, SegmentsGroup, SegmentsPage, SegmentsSums, Weight, default_pool_name};

/// The heading of a group of segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heading {
    /// Distance from the top of the canvas in CSS pixels.
    pub top: i32,
    pub name: String,
    pub sums: String,
}

fn pool(pool: Option<(u64, u64)>) -> String {
    pool.map_or_else(|| "unknown pool".to_owned(), default_pool_name)
}

fn stream(stream: Option<u64>) -> String {
    match stream {
        None => "unknown stream".to_owned(),
        Some(0) => "default stream".to_owned(),
        Some(stream) => "stream ".to_owned() + &hexadecimal(stream),
    }
}

/// Returns the entries of the pool picker.
pub fn pool_choices(tab: &SegmentsTab) -> Vec<String> {
    choices("all pools", tab.pools.iter().map(|it| pool(Some(*it))))
}

/// Returns the entries of the stream picker.
pub fn stream_choices(tab: &SegmentsTab) -> Vec<String> {
    choices("all streams", tab.streams.iter().map(|it| stream(Some(*it))))
}

fn choices(all: &str, others: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(all.to_owned()).chain(others).collect()
}

fn group_name(group: &SegmentsGroup) -> String {
    let size = if group.small { "Small blocks" } else { "Large blocks" };
    let expandable = if group.expandable { " · expandable" } else { "" };
    [size, " · ", &stream(group.stream), " · ", &pool(group.pool), expandable].concat()
}

fn free(sums: &SegmentsSums) -> String {
    let [free, largest] = [sums.free, sums.largest_free].map(|bytes| Bytes(bytes).to_string());
    if sums.free == 0 {
        "nothing free".to_owned()
    } else {
        ["free ≤ ", &free, ", the largest ≤ ", &largest].concat()
    }
}

fn group_sums(sums: &SegmentsSums) -> String {
    let segments = pluralize(sums.segments.into(), "segment");
    [&segments, " · ", &Bytes(sums.reserved).to_string(), " reserved · ", &free(sums)].concat()
}

/// Returns the headings of the visible groups.
pub fn headings(tab: &SegmentsTab) -> Vec<Heading> {
    let Some(page) = tab.page() else { return Vec::new() };
    let (above, seen) = (tab.scroll.rows_above(), tab.scroll.visible_rows());
    let is_seen = |group: &&SegmentsGroup| (above - 1.0..above + seen).contains(&f64::from(group.row));
    let heading = |group: &SegmentsGroup| Heading {
        top: ((f64::from(group.row) - above) * super::ROW_PX).round() as i32,
        name: group_name(group),
        sums: group_sums(&group.sums),
    };
    page.groups.iter().filter(is_seen).map(heading).collect()
}

/// Returns the totals as a line of text: first with abbreviated sizes, then in exact bytes.
pub fn sums(page: &SegmentsPage) -> [String; 2] {
    let whole = &page.total;
    let line = |bytes: &dyn Fn(u64) -> String| {
        let mut text = pluralize(whole.segments.into(), "segment");
        for (prefix, value, suffix) in [
            (" · ", whole.reserved, " reserved"),
            (" · live ", whole.requested, " requested, "),
            ("≥ ", whole.rounded, " rounded"),
            (" · ", whole.awaiting_free, " awaiting free"),
            (" · free ≤ ", whole.free, ", "),
            ("the largest ≤ ", whole.largest_free, ""),
        ] {
            if value > 0 || suffix != " awaiting free" {
                for part in [prefix, &bytes(value), suffix] {
                    text.push_str(part);
                }
            }
        }
        text
    };
    // Non-breaking spaces, so that lines break only between parts. No line begins with a dot (`keep_units`).
    let together = |text: String| text.replace(' ', "\u{a0}").replace("\u{a0}·\u{a0}", "\u{a0}· ");
    [together(line(&|bytes| Bytes(bytes).to_string())), line(&|bytes| group_digits(bytes) + " B")]
}

/// Returns the placeholder of the field for a simulated request: the size of the latest request that failed, else that
/// of the selected allocation, else an example.
pub fn request_hint(shared: &Shared) -> String {
    let failed = shared.surroundings.marks.latest().and_then(|marks| marks.out_of_memory.last());
    let selected = shared.selection.as_ref().map(|details| details.requested);
    Bytes(failed.map(|mark| mark.requested).or(selected).unwrap_or(24 << 20)).to_string()
}

/// Describes the segment or block that would serve the simulated request, with one line per pool and stream.
pub fn request_placement(page: &SegmentsPage) -> Vec<String> {
    page.fits.iter().map(|fit| fit_text(fit, page.fits.len())).collect()
}

fn fit_text(fit: &SegmentsFit, fit_count: usize) -> String {
    let mut text =
        if fit_count > 1 { [&pool(fit.pool), ", ", &stream(fit.stream), ": "].concat() } else { String::new() };
    let rounded = Bytes(fit.rounded).to_string();
    let parts = match fit.block {
        Some((address, bytes)) => [
            rounded,
            " may fit into the free block of ".to_owned(),
            Bytes(bytes).to_string(),
            " at ".to_owned() + &hexadecimal(address),
        ],
        None => {
            let room = if fit.free == 0 {
                " (nothing free in this pool)".to_owned()
            } else {
                [
                    " (free ≤ ",
                    &Bytes(fit.free).to_string(),
                    ", the largest ≤ ",
                    &Bytes(fit.largest_free).to_string(),
                    ")",
                ]
                .concat()
            };
            let grows =
                if fit.extends_segment { " needs more memory mapped: ≥ " } else { " needs a new segment of " };
            [rounded, grows.to_owned(), Bytes(fit.new_segment).to_string(), room]
        }
    };
    parts.iter().for_each(|part| text.push_str(part));
    text
}

/// A note about segments that can be released, or about blocks that prevent their release. A click selects
/// `allocation`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptLine {
    pub text: String,
    pub allocation: Option<u32>,
}

/// Maximum number of listed call sites whose blocks prevent the release of segments.
const MAX_PINNED_SITES: usize = 2;

/// Returns the notes about segments that can be released, then about blocks that prevent it, largest saving first.
/// Empty if nothing could be released.
pub fn kept_lines(page: &SegmentsPage) -> Vec<KeptLine> {
    let kept = &page.releasable;
    let mut lines = Vec::new();
    let segments = |weight: Weight, what: &str| {
        let count = group_digits(weight.count.into());
        [count.as_str(), what, if weight.count == 1 { " segment" } else { " segments" }].concat()
    };
    if kept.empty.count > 0 {
        let text = [&segments(kept.empty, " empty"), ", ", &Bytes(kept.empty.bytes).to_string(), ", can be released"];
        lines.push(KeptLine { text: text.concat(), allocation: None });
    }
    for pinned in kept.by_site.iter().take(MAX_PINNED_SITES) {
        let free = Bytes(pinned.free.bytes).to_string();
        let text =
            [&free, " free (cached) in ", &segments(pinned.free, ""), " pinned by one block: ", &pinned.call_site];
        lines.push(KeptLine { text: text.concat(), allocation: Some(pinned.allocation) });
    }
    let more = kept.by_site.len().saturating_sub(MAX_PINNED_SITES) as u64 + u64::from(kept.left_out);
    if more > 0 {
        let text = [&pluralize(more, "more call site"), " in Insights → Fragmentation"].concat();
        lines.push(KeptLine { text, allocation: None });
    }
    lines
}

/// Returns the group of segments that contains a bar.
pub(super) fn group_of<'a>(page: &'a SegmentsPage, bar: &SegmentsBar) -> Option<&'a SegmentsGroup> {
    let after = page.groups.partition_point(|group| group.row <= bar.row);
    page.groups.get(after.checked_sub(1)?)
}

/// Returns the text shown instead of bars. Empty if there are segments to show.
pub fn empty_message(tab: &SegmentsTab, shared: &Shared) -> String {
    let Some(page) = tab.page().filter(|page| page.groups.is_empty()) else { return String::new() };
    let knows = shared.device().is_some_and(|device| device.has_reserved());
    if !knows {
        return "The snapshot has no segments, so addresses of blocks are unknown.".to_owned();
    }
    let only = tab.filter;
    if only.pool.is_some() || only.stream.is_some() {
        return "No segment of this pool and stream at the cursor.".to_owned();
    }
    ["Nothing is reserved ", if page.moment == 0 { "" } else { "after " }, &event_name(page.moment), "."].concat()
}

/// Describes live bytes outside the recorded segments. Empty if there are none.
pub fn outside_segments(page: &SegmentsPage) -> String {
    if page.outside_mapped.count == 0 {
        return String::new();
    }
    let mut text = pluralize(page.outside_mapped.count.into(), "live allocation");
    text.push_str(" of ");
    text.push_str(&Bytes(page.outside_mapped.bytes).to_string());
    text.push_str(" are outside the recorded segments");
    text
}
