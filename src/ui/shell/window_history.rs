//! History of the visible windows of the timeline, with undo and redo.

pub(crate) use crate::state::window_history::HistoryDirection;
pub use crate::state::window_history::WindowHistory;

use crate::features::command::Trait;
use crate::plot::{lane_scenes, plots};
use crate::shell::action::Action;
use crate::state::shared::Shared;
use picture::timeline::View;
use protocol::{Answer, Plot, Reply};

/// Changes less than this many ms apart count as one step, such as turns of the wheel. The end of a drag ends a step.
const ONE_STEP_MS: f64 = 700.0;
/// Maximum number of steps in the history.
const MAX_STEPS: usize = 100;

/// The visible window before an action. It is added to the history if the action changes the window.
pub(crate) struct WindowBefore {
    /// The window, and the plot that it shows. `None` if changes by this action do not count as a step.
    view: Option<(View, Plot)>,
    device: (u32, usize),
    ends_step: bool,
}

impl WindowBefore {
    pub(crate) fn capture(state: &Shared, action: &Action) -> WindowBefore {
        let is_automatic = matches!(
            action,
            Action::Resized(_)
                | Action::Replied { reply: Reply::Partial(_) | Reply::Opened(_), .. }
                | Action::Replied {
                    reply: Reply::Answer { answer: Answer::Scene(_) | Answer::Map(_) | Answer::Curves(_), .. },
                    ..
                }
        ) || matches!(action, Action::Command(command) if command.has(Trait::WalksHistory));
        let view = state.view().filter(|_| !is_automatic).map(|view| (view, state.plot_settings.plot));
        let ends_step = matches!(action, Action::DragEnded);
        WindowBefore { view, device: (state.load, state.device_index), ends_step }
    }

    /// Adds the captured window to the history if the window has changed since it was captured.
    pub(crate) fn record(self, state: &mut Shared, now_ms: f64) {
        if self.device == (state.load, state.device_index) {
            record(state, self.view, now_ms);
            if self.ends_step {
                state.tools.history.changed_ms = None;
            }
        }
    }
}

/// Adds the window `before` to the history if it differs from the current window.
fn record(state: &mut Shared, before: Option<(View, Plot)>, now_ms: f64) {
    let (Some(before), Some(current)) = (before, state.view().map(|view| (view, state.plot_settings.plot))) else {
        return;
    };
    if before == current {
        return;
    }
    let history = &mut state.tools.history;
    // A change of the plot is always a step.
    let continues_step =
        before.1 == current.1 && history.changed_ms.is_some_and(|changed| now_ms - changed < ONE_STEP_MS);
    history.changed_ms = Some(now_ms).filter(|_| before.1 == current.1);
    if continues_step {
        return;
    }
    history.forward.clear();
    if history.back.len() >= MAX_STEPS {
        history.back.remove(0);
    }
    history.back.push(before);
}

/// Undoes or redoes one step of the history.
pub(crate) fn step(state: &mut Shared, direction: HistoryDirection) {
    let Some(current) = state.view().map(|view| (view, state.plot_settings.plot)) else { return };
    // A pending switch of the axis would otherwise change the restored window.
    state.tools.axis_switch = None;
    let history = &mut state.tools.history;
    history.changed_ms = None;
    let (from, to) = match direction {
        HistoryDirection::Back => (&mut history.back, &mut history.forward),
        HistoryDirection::Forward => (&mut history.forward, &mut history.back),
    };
    let Some((wanted, plot)) = from.pop() else {
        state.remark = Some(
            (match direction {
                HistoryDirection::Back => "Nothing to undo.",
                HistoryDirection::Forward => "Nothing to redo.",
            })
            .to_owned(),
        );
        return;
    };
    to.push(current);
    plots::show_plot(state, plot);
    if wanted.axis != state.axis {
        state.axis = wanted.axis;
        state.drop_scenes();
    }
    let canvas = lane_scenes::focused_canvas(state);
    state.navigate(|plane, _| canvas.map_or(wanted, |canvas| plane.resized(wanted, canvas)));
}
