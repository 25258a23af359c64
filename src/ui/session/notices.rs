//! Texts around the timeline: the status line, the line that describes the pointer's position, and the notice about the
//! renderer.

use crate::plot::plots;
use crate::state::crosshair::column_under;
use crate::state::shared::Shared;
use crate::state::stage::{Renderer, Stage};
use crate::text::summary::device_name;
use base::units::{Bytes, Moment, group_digits, pluralize};
use protocol::Plot;

/// Text of the status line. Screen readers announce every change. On the page, only [`Status::Visible`] is displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    ScreenReader(String),
    /// A message that appears nowhere else on the page, and is therefore displayed.
    Visible(String),
}

/// Returns the current text of the status line.
pub fn status(state: &Shared) -> Status {
    if let Some(remark) = &state.remark {
        return Status::Visible(remark.clone());
    }
    if let Some(selection) = &state.selection {
        return Status::ScreenReader(format!(
            "Allocation {}, {}.",
            group_digits(selection.allocation.into()),
            Bytes(selection.requested)
        ));
    }
    Status::ScreenReader(match &state.stage {
        Stage::Empty | Stage::Failed(_) => String::new(),
        Stage::Choosing(choosing) => format!("{}: which events?", choosing.name),
        Stage::Loading(loading) => format!("Loading {}.", loading.title()),
        Stage::Ready(file) => {
            let events = state.device().map_or(0, |device| device.events);
            format!("{} is open: {}.", file.file, pluralize(events, "event"))
        }
    })
}

/// Returns the text below the timeline, and the same text with exact bytes. It describes the position of the pointer or
/// crosshair, or explains the mouse controls if there is neither.
pub fn pointer_reading(state: &Shared) -> (String, String) {
    column_reading(state).unwrap_or_else(|| {
        if state.partial().is_some() {
            return ("Drag to pan, wheel to zoom, Ctrl + wheel to zoom bytes.".to_owned(), String::new());
        }
        let hint = "Drag to pan, wheel to zoom, Ctrl + wheel to zoom bytes, click to select. Press ? for keys.";
        (hint.to_owned(), String::new())
    })
}

fn column_reading(state: &Shared) -> Option<(String, String)> {
    let values =
        if matches!(state.plot_settings.plot, Plot::Reserved(_)) { plots::curves::curve_values(state) } else { None };
    let mut name = None;
    let (device, moment, total, reserved, moments) = match state.tools.crosshair.by_keys {
        Some(keys) => {
            let facts = state.crosshair_facts().filter(|facts| facts.moment == keys.moment)?;
            (state.device()?, keys.moment, facts.requested, facts.reserved, 1)
        }
        None => {
            let (lane, pointer) = state.lane_at(state.lanes.pointer?)?;
            let scene = lane.geometry.scene.as_ref()?;
            name = Some(device_name(lane.device)).filter(|_| state.has_lanes());
            let (column, columns) = (column_under(scene, lane.view, pointer.x)?, &scene.columns);
            let moments = columns.moments.get(column).copied().unwrap_or(1);
            let (total, reserved) = columns.total.get(column).zip(columns.reserved.get(column))?;
            (lane.device, *columns.moment.get(column)?, *total, *reserved, moments)
        }
    };
    let when = match Moment(moment).event() {
        None => "Before the first event".to_owned(),
        Some(event) => format!("After event {}", group_digits(event.0.into())),
    };
    let mut exact = values.as_ref().map_or_else(String::new, |[_, exact]| [&when, ": ", exact].concat());
    let mut text = match (state.plot_settings.plot, values) {
        (Plot::Reserved(_), Some([values, _])) => format!("{when}: {values}"),
        (Plot::Reserved(_), None) => format!("{when}: {} reserved ({} B)", Bytes(total), group_digits(total)),
        _ => format!("{when}: {} requested ({} B)", Bytes(total), group_digits(total)),
    };
    if let Some(name) = name {
        text = format!("{name}. {text}");
    }
    if device.has_reserved() && !matches!(state.plot_settings.plot, Plot::Reserved(_)) {
        text.push_str(&format!(", {} reserved", Bytes(reserved)));
    }
    if moments > 1 {
        let the = if matches!(state.plot_settings.plot, Plot::Reserved(_)) { "Each is the" } else { "The" };
        text.push_str(&format!(". {the} highest of {} under this pixel", pluralize(moments.into(), "state")));
    }
    if exact.is_empty() {
        exact.clone_from(&text);
    }
    Some((text, exact))
}

/// A note in the area of the plot: what a recording lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotNote {
    pub text: String,
    /// True if there is nothing to plot. The note then stands in the middle, with the code that records a snapshot.
    pub is_empty: bool,
}

/// Returns the note in the area of the plot. `None` if the recording has events and call stacks.
pub fn plot_note(state: &Shared) -> Option<PlotNote> {
    let file = state.file()?;
    let warning = |kind: &str| file.warnings.iter().find(|warning| warning.kind == kind);
    let sentence = |kind: &str| warning(kind).map(|warning| [&warning.message, "."].concat());
    let reason = match state.device() {
        None => "The snapshot is empty: no device has events or segments.",
        Some(device) if device.events == 0 => "No events on this device: only its segments are known.",
        Some(_) => return sentence("no_stacks").map(|text| PlotNote { text, is_empty: false }),
    };
    Some(PlotNote { text: sentence("not_recorded").unwrap_or_else(|| reason.to_owned()), is_empty: true })
}

/// Returns a notice that WebGPU is not used, with the reason, if the user may want to know it.
pub fn renderer_notice(state: &Shared) -> Option<String> {
    match &state.renderer {
        Renderer::Unknown | Renderer::WebGpu => None,
        // There is space for two short lines beside the toolbar. The cause goes last because a narrow window cuts off
        // the end.
        Renderer::Cpu(reason) => reason.as_ref().map(|reason| format!("Drawn without WebGPU: {reason}.")),
    }
}
