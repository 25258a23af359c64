//! Contents of the pickers for the plot on the page.

use crate::plot::plots;
use crate::scope::details::stream_name;
use crate::state::plots::{NAMES, name};
use crate::state::shared::Shared;
use protocol::{Plot, default_pool_name};

/// Contents of the plot's pickers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pickers {
    /// Name of the plot, one of [`NAMES`].
    pub plot: &'static str,
    /// Description of the timeline for screen readers.
    pub label: String,
    /// Entries of the pool list. The first one means all pools.
    pub pools: Vec<String>,
    pub pool: usize,
    /// Entries of the stream list. The first one means all streams.
    pub streams: Vec<String>,
    pub stream: usize,
    /// Label of the button that shows only the selected segment. Empty if no segment is selected.
    pub segment: String,
    pub is_segment: bool,
    /// Width of the gutter beside the picture, in CSS pixels.
    pub gutter_px: u32,
    /// Reason why the stacking order cannot be selected. `None` if it can.
    pub no_order: Option<&'static str>,
    /// Reason why the byte axis cannot be fitted to the window. `None` if it can.
    pub no_fit: Option<&'static str>,
}

/// Returns the contents of the pickers. The current choice is listed even while the other options are unknown.
pub fn pickers(state: &Shared) -> Pickers {
    let (plot, only) = (state.plot_settings.plot, state.plot_settings.plot.filter());
    let (pools, streams) = plots::pools_and_streams(state);
    let (pools, pool) = list("all pools", pools, only.pool, default_pool_name);
    let (streams, stream) =
        list("all streams", streams, only.stream, |stream| "stream ".to_owned() + &stream_name(stream));
    let (segment, is_segment) = match (only.address, plots::segment::selected_segment(state)) {
        (Some(address), _) => (format!("Only 0x{address:x}"), true),
        (None, Some(_)) if plot != Plot::Stack => ("Only this segment".to_owned(), false),
        _ => (String::new(), false),
    };
    let quantity = match plot {
        Plot::Stack => "requested bytes",
        Plot::Addresses(_) => "addresses",
        Plot::Reserved(_) => "reserved bytes",
    };
    let label = [
        "Timeline: ",
        quantity,
        " over events. Arrow keys pan, plus and minus zoom, Shift and arrow keys move the cursor, question mark lists the keys.",
    ];
    Pickers {
        plot: NAMES.into_iter().find(|of| *of == name(plot)).unwrap_or_default(),
        label: label.concat(),
        pools,
        pool,
        streams,
        stream,
        segment,
        is_segment,
        gutter_px: plots::axis::gutter_px(state),
        no_order: plots::no_order_reason(state),
        no_fit: state.no_fit_reason(),
    }
}

fn list<T: Copy + PartialEq>(
    all_of: &str,
    known: &[T],
    chosen: Option<T>,
    name: fn(T) -> String,
) -> (Vec<String>, usize) {
    let mut all = known.to_vec();
    all.extend(chosen.filter(|chosen| !known.contains(chosen)));
    let index = chosen.and_then(|chosen| all.iter().position(|of| *of == chosen)).map_or(0, |at| at + 1);
    (std::iter::once(all_of.to_owned()).chain(all.into_iter().map(name)).collect(), index)
}
