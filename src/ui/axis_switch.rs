//! Switches to the other horizontal axis or to another stacking order while keeping the visible content in view.

mod data;

pub(crate) use data::KeptSelection;

use super::crosshair::column_under;
use super::drawing::BytesAxis;
use super::outbox::Outbox;
use super::shared::Shared;
use super::tools::Point;
use picture::timeline::Axis;
use protocol::{MomentSpec, Question, Step, StepResult};

impl Shared {
    /// Switches between the event axis and the time axis, keeping the visible range. Does nothing if the file has no
    /// timestamps. The switch waits until the worker has converted the window's edges.
    pub(super) fn toggle_axis(&mut self) {
        let timed = self.device().is_some_and(|device| device.time_us.is_some());
        if self.axis == Axis::Events && !timed {
            self.remark = Some("This snapshot has no timestamps (recorded since PyTorch 2.2).".to_owned());
            return;
        }
        let (Some(plane), Some(view)) = (self.plane(), self.view) else { return };
        if self.tools.axis_switch.take().is_some() {
            return;
        }
        let edges = [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column));
        if plane.fit_like(view).x_per_px <= view.x_per_px {
            self.switch_axis([f64::NEG_INFINITY, f64::INFINITY]);
        } else {
            self.tools.axis_switch = Some(edges.map(|x| Point::new(MomentSpec::X(view.axis, x), 0)));
        }
    }

    /// Completes the switch to the other axis once the worker has converted both edges of the window.
    pub(super) fn finish_axis_switch(&mut self) {
        let Some([from, to]) = self.tools.axis_switch else { return };
        let axis = other_axis(self.axis);
        if let (Some(from), Some(to)) = (from.x(axis), to.x(axis)) {
            self.switch_axis([from, to]);
        }
    }

    /// Switches the axis and shows the range between two positions of the new axis.
    pub(super) fn switch_axis(&mut self, edges: [f64; 2]) {
        self.tools.axis_switch = None;
        self.axis = other_axis(self.axis);
        // Scenes of one axis cannot be moved or scaled to the other.
        self.drop_scenes();
        let axis = self.axis;
        self.navigate(|plane, mut view| {
            view.axis = axis;
            plane.view_between(view, edges.map(|edge| plane.clamp_x(edge)))
        });
    }

    /// Returns the selected allocation and a moment in the window at which the allocation is live.
    pub(super) fn selection_in_window(&self) -> Option<KeptSelection> {
        let (selected, view, scene) = (self.selection.as_ref()?, self.view.as_ref()?, self.geometry.scene.as_ref()?);
        let shown = |x: f64| scene.columns.moment.get(column_under(scene, view, x)?).copied();
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
    pub(super) fn ask_selection_position(&mut self, out: &mut Outbox) {
        let Some(kept) = self.tools.kept_selection.filter(|kept| kept.asked.is_none()) else { return };
        let Some(device) = self.device().map(|device| device.device) else { return };
        if self.geometry.plot_settings != self.plot_settings || self.geometry.in_flight.is_some() {
            return;
        }
        let (plot_settings, moment, step) = (self.plot_settings, kept.moment, Step::To(kept.allocation));
        let serial = out.ask(device, Question::Step { plot_settings, moment, byte: 0, step });
        self.tools.kept_selection = Some(KeptSelection { asked: Some(serial), ..kept });
    }

    /// Handles the position of the selected allocation in the new stacking order. Scrolls to the position if it is
    /// outside the window.
    pub(super) fn on_selection_position(&mut self, serial: u32, to: StepResult) {
        if self.tools.kept_selection.take_if(|kept| kept.asked == Some(serial)).is_none()
            || self.bytes_axis != BytesAxis::Free
        {
            return;
        }
        self.navigate(|plane, view| {
            let (row, height) = (view.row_from_bytes(to.byte) as f64, f64::from(view.height_px));
            if (0.0..height).contains(&row) { view } else { plane.moved(view, 0.0, row - height / 2.0) }
        });
    }
}

fn other_axis(axis: Axis) -> Axis {
    match axis {
        Axis::Events => Axis::Time,
        Axis::Time => Axis::Events,
    }
}
