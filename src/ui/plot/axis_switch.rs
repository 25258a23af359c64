//! Switches to the other horizontal axis or to another stacking order while keeping the visible content in view.

pub(crate) use crate::state::axis_switch::KeptSelection;

use crate::plot::lane_scenes;
use crate::state::crosshair::column_under;
use crate::state::drawing::BytesAxis;
use crate::state::outbox::Outbox;
use crate::state::point::Point;
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{Grouping, MomentSpec, Plot, PlotSettings, Question, Step, StepResult};

/// Switches between the event axis and the time axis, keeping the visible range. Does nothing if the file has no
/// timestamps. The switch waits until the worker has converted the window's edges.
pub(crate) fn toggle_axis(state: &mut Shared) {
    let timed = state.device().is_some_and(|device| device.time_us.is_some());
    if state.axis == Axis::Events && !timed {
        state.remark = Some("This snapshot has no timestamps (recorded since PyTorch 2.2).".to_owned());
        return;
    }
    let (Some(plane), Some(view)) = (state.plane(), state.view()) else { return };
    if state.tools.axis_switch.take().is_some() {
        return;
    }
    let edges = [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column));
    if plane.fit_like(view).x_per_px <= view.x_per_px {
        switch_axis(state, [f64::NEG_INFINITY, f64::INFINITY]);
    } else {
        state.tools.axis_switch = Some(edges.map(|x| Point::new(MomentSpec::X(view.axis, x), 0)));
    }
}

/// Completes the switch to the other axis once the worker has converted both edges of the window.
pub(crate) fn finish_axis_switch(state: &mut Shared) {
    let Some([from, to]) = state.tools.axis_switch else { return };
    let axis = other_axis(state.axis);
    if let (Some(from), Some(to)) = (from.x(axis), to.x(axis)) {
        switch_axis(state, [from, to]);
    }
}

/// Switches the axis and shows the range between two positions of the new axis.
pub(crate) fn switch_axis(state: &mut Shared, edges: [f64; 2]) {
    state.tools.axis_switch = None;
    state.axis = other_axis(state.axis);
    // Scenes of one axis cannot be moved or scaled to the other.
    state.drop_scenes();
    let axis = state.axis;
    state.navigate(|plane, mut view| {
        view.axis = axis;
        plane.view_between(view, edges.map(|edge| plane.clamp_x(edge)))
    });
}

/// Returns the selected allocation and a moment in the window at which the allocation is live.
pub(crate) fn selection_in_window(state: &Shared) -> Option<KeptSelection> {
    let (selected, view, scene) = (state.selection.as_ref()?, state.view()?, state.scene()?);
    let shown = |x: f64| scene.columns.moment.get(column_under(scene, &view, x)?).copied();
    let (first, last) = (shown(0.0)?, shown(f64::from(view.width_px) - 1.0)?);
    let allocated_at = selected.allocated_event.map_or(0, |event| event.saturating_add(1));
    let freed_at = selected.freed_event.map_or(u32::MAX, |event| event.saturating_add(1));
    let moment = allocated_at.max(first);
    (moment <= last && moment < freed_at).then_some(KeptSelection {
        allocation: selected.allocation,
        moment,
        asked: None,
    })
}

/// Requests the position of the selected allocation in the new stacking order, once that order is drawn.
pub(crate) fn ask_selection_position(state: &mut Shared, out: &mut Outbox) {
    let Some(kept) = state.tools.kept_selection.filter(|kept| kept.asked.is_none()) else { return };
    let Some(device) = state.device().map(|device| device.device) else { return };
    let is_asked = state.focused().is_some_and(|lane| lane.geometry.in_flight.is_some());
    if state.drawn_settings() != state.plot_settings || is_asked {
        return;
    }
    let (plot_settings, moment, step) = (state.plot_settings, kept.moment, Step::To(kept.allocation));
    let serial = out.ask(device, Question::Step { plot_settings, moment, byte: 0, step });
    state.tools.kept_selection = Some(KeptSelection { asked: Some(serial), ..kept });
}

/// Handles the position of the selected allocation in the new stacking order. Scrolls to the position if it is
/// outside the window.
pub(crate) fn on_selection_position(state: &mut Shared, serial: u32, to: StepResult) {
    if state.tools.kept_selection.take_if(|kept| kept.asked == Some(serial)).is_none()
        || state.bytes_axis != BytesAxis::Free
    {
        return;
    }
    state.navigate(|plane, view| {
        let (row, height) = (view.row_from_bytes(to.byte) as f64, f64::from(view.height_px));
        if (0.0..height).contains(&row) { view } else { plane.moved(view, 0.0, row - height / 2.0) }
    });
}

fn other_axis(axis: Axis) -> Axis {
    match axis {
        Axis::Events => Axis::Time,
        Axis::Time => Axis::Events,
    }
}

/// Changes the stacking order.
pub(crate) fn stack_by(state: &mut Shared, stacking: Option<Grouping>) {
    change_plot_settings(state, PlotSettings { stacking, ..state.plot_settings });
}

/// Changes the grouping that the colours show.
pub(crate) fn colour_by(state: &mut Shared, colouring: Grouping) {
    change_plot_settings(state, PlotSettings { colouring, ..state.plot_settings });
}

/// Changes the display settings, and drops pending requests for scenes with the old settings.
pub(crate) fn change_plot_settings(state: &mut Shared, plot_settings: PlotSettings) {
    if plot_settings == state.plot_settings {
        return;
    }
    if plot_settings.colouring != state.plot_settings.colouring {
        state.surroundings.faded.clear();
    }
    if plot_settings.stacking != state.plot_settings.stacking {
        // Plots other than the stack are not made of stacked allocations.
        state.tools.kept_selection = selection_in_window(state).filter(|_| state.plot_settings.plot == Plot::Stack);
    }
    state.plot_settings = plot_settings;
    lane_scenes::ignore_requests(state);
}
