//! Texts of an exported picture (title, visible window, peak, legend, notes), and its file name.

use crate::plot::legend::Line;
use crate::plot::{legend, plots};
use crate::scope::details::stream_name;
use crate::state::shared::Shared;
use crate::text::summary::device_name;
use base::units::{Bytes, duration_us, group_digits};
use picture::timeline::{Axis, View, time_axis_margin};
use protocol::{DeviceSummary, Grouping, Plot, default_pool_name};

/// Maximum number of characters of the snapshot's name that are used in a file name.
const MAX_NAME_CHARS: usize = 80;

/// Texts of an exported picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetText {
    pub title: String,
    /// Description of the visible window. Parts share a line if they fit.
    pub subtitle: Vec<String>,
    pub legend_title: String,
    pub legend: Vec<Line>,
    /// Label of reserved bytes, if the legend explains them.
    pub reserved: Option<String>,
    /// Explanatory notes. They share a line if they fit.
    pub notes: Vec<String>,
    /// File name without extension.
    pub file_stem: String,
}

impl SheetText {
    /// Returns the texts for a window. They are empty if no device is open.
    pub fn for_window(state: &Shared, view: &View) -> SheetText {
        let (Some(file), Some(device)) = (state.file(), state.device()) else { return SheetText::default() };
        let window = WindowText::new(device, view);
        let peak = u64::try_from(device.peak_requested).unwrap_or(0);
        let at = match u64::try_from(device.peak_event) {
            Ok(event) => format!("at event {}", group_digits(event)),
            Err(_) => "before the first event".to_owned(),
        };
        let order = describe_order(state);
        let subtitle =
            vec![window.text, format!("peak {} requested ({} B) {at}", Bytes(peak), group_digits(peak)), order];
        let colouring = legend::coloured_by(state);
        let of = state.plot_settings.plot;
        let entries = state.surroundings.legend_of(colouring).map(|entries| entries.as_slice());
        SheetText {
            title: format!("{} · {}", file.file, device_name(device)),
            subtitle,
            legend_title: legend::title(of, colouring),
            legend: entries.map_or_else(Vec::new, |entries| {
                legend::lines(
                    of,
                    colouring,
                    entries,
                    &state.surroundings.faded,
                    legend::visible_pixels(state, view).as_ref(),
                )
            }),
            reserved: (device.has_reserved() && state.plot_settings.plot == Plot::Stack)
                .then(|| legend::with_reserved_note("reserved", state)),
            notes: notes(device, state.plot_settings.plot, colouring),
            file_stem: {
                let plot =
                    if state.plot_settings.plot == Plot::Stack { "" } else { plots::name(state.plot_settings.plot) };
                let dash = if plot.is_empty() { "" } else { "-" };
                format!(
                    "{}-{}{dash}{plot}-{}",
                    file_stem(&file.file),
                    device_file_part(device.device),
                    window.file_part
                )
            },
        }
    }
}

/// Describes the vertical order of the plot, and the part of memory that it shows.
fn describe_order(state: &Shared) -> String {
    let mut text = match state.plot_settings.plot {
        Plot::Stack => {
            return state
                .plot_settings
                .stacking
                .map_or("stacked in order of allocation".to_owned(), |by| format!("stacked by {}", legend::noun(by)));
        }
        Plot::Addresses(_) => "blocks by address".to_owned(),
        Plot::Reserved(_) => state
            .plot_settings
            .stacking
            .map_or("segments in order of allocation".to_owned(), |by| format!("segments by {}", legend::noun(by))),
    };
    let only = state.plot_settings.plot.filter();
    let parts = [
        only.pool.map(default_pool_name),
        only.stream.map(|stream| "stream ".to_owned() + &stream_name(stream)),
        only.address.map(|address| format!("the segment at 0x{address:x}")),
    ];
    for part in parts.into_iter().flatten() {
        text.push_str(", only ");
        text.push_str(&part);
    }
    text
}

fn notes(device: &DeviceSummary, plot: Plot, colouring: Grouping) -> Vec<String> {
    let height = match plot {
        Plot::Stack => "Height: requested bytes of live allocations.",
        Plot::Addresses(_) => "Height: addresses; the axis skips addresses that were never mapped.",
        Plot::Reserved(_) => "Height: reserved bytes.",
    };
    let mut notes = vec![height.to_owned()];
    if device.has_reserved() && plot == Plot::Stack {
        notes.push("Reserved: bytes the allocator took from the driver.".to_owned());
    }
    notes.push("Each column of pixels shows its highest event.".to_owned());
    if colouring == Grouping::CallSite {
        notes.push("Shades of a colour separate neighbours.".to_owned());
    }
    notes
}

/// The visible part of the axis, as text and as part of a file name.
struct WindowText {
    text: String,
    file_part: String,
}

impl WindowText {
    fn new(device: &DeviceSummary, view: &View) -> WindowText {
        let [from, to] = [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column));
        match (view.axis, device.time_us) {
            (Axis::Time, Some((first, last))) => {
                let span = last.abs_diff(first);
                let margin = time_axis_margin(span) as f64;
                let [from, to] = [from, to].map(|x| (x - margin).round().clamp(0.0, span as f64) as i64);
                let whole = from == 0 && to == span as i64;
                WindowText {
                    text: match whole {
                        true => format!("All {} of the trace", duration_us(to)),
                        false => format!("{} to {} after the first event", duration_us(from), duration_us(to)),
                    },
                    file_part: format!("us-{from}-{to}"),
                }
            }
            _ => {
                // Event k is drawn at k + 1. Windows start and end at whole pixels, so an event up to half a pixel
                // outside still counts. The tolerance is at most half an event, so no further event is included.
                let half = (view.x_per_px / 2.0).min(0.5);
                let last = device.events.saturating_sub(1);
                let from = ((from - 1.0 - half).ceil().max(0.0) as u64).min(last);
                let to = if to + half > last as f64 + 1.0 {
                    last
                } else {
                    (((to - half).ceil() - 2.0).max(0.0) as u64).clamp(from, last)
                };
                let whole = from == 0 && to == last;
                let event_count = group_digits(device.events);
                let text = match device.events {
                    0 => "No events".to_owned(),
                    1 => "One event".to_owned(),
                    _ if whole => format!("All {event_count} events"),
                    _ => format!("Events {} to {} of {event_count}", group_digits(from), group_digits(to)),
                };
                WindowText { text, file_part: format!("events-{from}-{to}") }
            }
        }
    }
}

fn device_file_part(device: i64) -> String {
    if device < 0 { "host".to_owned() } else { format!("device{device}") }
}

/// Returns the file's name without the extensions of snapshots, and without characters that some file systems reject.
pub(crate) fn file_stem(name: &str) -> String {
    let mut name = name;
    for ending in [".gz", ".zst", ".zip", ".pickle", ".pkl", ".json", ".html"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(safe).collect();
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() { "snapshot".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/figure/words.rs"]
mod tests;
