//! The pickers of the plot as the page shows them.

use super::{NAMES, name};
use crate::details::stream_name;
use crate::shared::Shared;
use engine::protocol::{Plot, pool_of_id};

/// The pickers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pickers {
    /// The plot's name among [`NAMES`].
    pub show: &'static str,
    /// What the picture is, for those who do not see it.
    pub label: String,
    /// The lines of the list of pools; the first stands for all.
    pub pools: Vec<String>,
    pub pool: usize,
    /// The lines of the list of streams, likewise.
    pub streams: Vec<String>,
    pub stream: usize,
    /// What stands on the button that shows one segment alone; empty where there is none.
    pub segment: String,
    pub is_segment: bool,
    /// Pixels that the longest address takes beside the picture.
    pub gutter: u32,
    /// Why there is no order to choose.
    pub no_order: Option<&'static str>,
    /// Why the height can't follow the window.
    pub no_fit: Option<&'static str>,
}

/// The pickers now. What is chosen stays in a list while the worker has not told what there is.
pub fn pickers(state: &Shared) -> Pickers {
    let (plot, only) = (state.looks.plot, state.looks.plot.only());
    let (pools, streams) = state.parts();
    let (pools, pool) = list("all pools", pools, only.pool, pool_of_id);
    let (streams, stream) =
        list("all streams", streams, only.stream, |stream| "stream ".to_owned() + &stream_name(stream));
    let (segment, is_segment) = match (only.address, state.chosen_segment()) {
        (Some(address), _) => (format!("Only 0x{address:x}"), true),
        (None, Some(_)) if plot != Plot::Stack => ("Only this segment".to_owned(), false),
        _ => (String::new(), false),
    };
    let what = match plot {
        Plot::Stack => "requested bytes",
        Plot::Addresses(_) => "addresses",
        Plot::Reserved(_) => "reserved bytes",
    };
    let label = [
        "Timeline: ",
        what,
        " over events. Arrow keys pan, plus and minus zoom, Shift and arrow keys move the cursor, question mark lists the keys.",
    ];
    Pickers {
        show: NAMES.into_iter().find(|of| *of == name(plot)).unwrap_or_default(),
        label: label.concat(),
        pools,
        pool,
        streams,
        stream,
        segment,
        is_segment,
        gutter: state.gutter(),
        no_order: state.why_no_order(),
        no_fit: state.why_no_fit(),
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
    let place = chosen.and_then(|chosen| all.iter().position(|of| *of == chosen)).map_or(0, |at| at + 1);
    (std::iter::once(all_of.to_owned()).chain(all.into_iter().map(name)).collect(), place)
}
