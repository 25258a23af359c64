//! Lines of text beside the picture: the status, what the pointer is over, how pictures are drawn.

use super::state::{Renderer, Stage, State};
use super::summary::device_name;
use crate::timeline::scene_hit;
use crate::units::{Bytes, Moment, counted, grouped};

/// What a screen reader is told when it changes; a remark is shown to everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// What the page shows anyway.
    Spoken(String),
    /// What it shows nowhere else.
    Shown(String),
}

/// The status line.
pub fn status(state: &State) -> Status {
    if let Some(remark) = &state.remark {
        return Status::Shown(remark.clone());
    }
    if let Some(selection) = &state.selection {
        return Status::Spoken(format!(
            "Allocation {}, {}.",
            grouped(selection.allocation.into()),
            Bytes(selection.requested)
        ));
    }
    Status::Spoken(match &state.stage {
        Stage::Empty | Stage::Failed(_) => String::new(),
        Stage::Loading(loading) => format!("Loading {}.", loading.name),
        Stage::Ready(file) => {
            let events = state.device().map_or(0, |device| device.events);
            format!("{} is open: {}.", file.file, counted(events, "event"))
        }
    })
}

/// The line below the picture: the state under the pointer, or how to move.
pub fn reading(state: &State) -> String {
    column_reading(state).unwrap_or_else(|| {
        "Drag moves, the wheel zooms the events, Ctrl + wheel the bytes; a click selects. Keys: ?".to_owned()
    })
}

fn column_reading(state: &State) -> Option<String> {
    let (lane, pointer) = state.lane_at(state.pointer?)?;
    let (view, scene) = (lane.view, lane.geometry.scene.as_ref()?);
    let x = scene.view.column_from_x(view.x_from_column(pointer.x.floor() + 0.5)).floor() as i32;
    let column = scene_hit(scene, x, 0)?.column;
    let columns = &scene.columns;
    let moment = Moment(*columns.moment.get(column)?);
    let when = match moment.event() {
        None => "Before the first event".to_owned(),
        Some(event) => format!("After event {}", grouped(event.0.into())),
    };
    let (total, reserved) = (*columns.total.get(column)?, *columns.reserved.get(column)?);
    let mut text = format!("{when}: {} requested ({} B)", Bytes(total), grouped(total));
    if lane.place != state.device_place {
        text = format!("{}. {text}", device_name(lane.device.device));
    }
    if lane.device.knows_reserved() {
        text.push_str(&format!(", {} reserved", Bytes(reserved)));
    }
    let moments = columns.moments.get(column).copied().unwrap_or(1);
    if moments > 1 {
        text.push_str(&format!(". The highest of {} under this pixel", counted(moments.into(), "state")));
    }
    Some(text)
}

/// How pictures are drawn, where that is worth a word.
pub fn renderer_notice(state: &State) -> Option<String> {
    match &state.renderer {
        Renderer::Unknown | Renderer::WebGpu => None,
        // The cause goes last: a narrow window cuts the end.
        Renderer::Cpu(reason) => Some(format!("Drawn without WebGPU, by the CPU: {reason}.")),
    }
}
