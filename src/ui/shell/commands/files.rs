//! Commands that open files, choose devices, and compare snapshots.

use crate::features::command::Trait::{BrowserOnly, OpensFile};
use crate::features::command::{Call, EXPORT, FILES, Keys, Name, PAGE, Row, always, row, rows};
use crate::features::{State, export, save_page};
use crate::plot::lane_focus::show_device;
use crate::plot::{comparing, lane_focus, lane_scenes};
use crate::session::opening::cancel;
use crate::session::partial;
use crate::shell::{link, load_dialog};
use crate::state::binding::KeyScope::{Export, Page};
use crate::state::comparing::SecondFile;
use crate::state::effect::Effect;
use crate::state::link::Link;
use crate::state::outbox::Outbox;
use crate::state::samples::Sample;
use crate::state::stage::Stage;

rows! {
    pub(super) OPENING:
    OPEN_FILE = row(Page, FILES, &["o"], "Open a snapshot", "open", |_, out| out.push(Effect::PickFile))
        .when(always).with(&[BrowserOnly]);
    OPEN_SAMPLE_OUT_OF_MEMORY = sample(&["e"], "Open the sample: out of memory", "open-example",
        |state, out| open_sample(state, Sample::OutOfMemory, out));
    OPEN_SAMPLE_LEAK = sample(&[], "Open the sample: memory leak", "open-leak",
        |state, out| open_sample(state, Sample::Leak, out));
    OPEN_SAMPLE_TRAINING = sample(&[], "Open the sample: training steps", "open-training",
        |state, out| open_sample(state, Sample::Training, out));
    OPEN_SAMPLE_GRAPHS = sample(&[], "Open the sample: CUDA graphs", "open-graphs",
        |state, out| open_sample(state, Sample::Graphs, out));
    CANCEL_LOADING = row(Page, FILES, &["x"], "Cancel loading", "cancel", |state, out| cancel(state, out))
        .when(|state| matches!(state.stage, Stage::Choosing(_) | Stage::Loading(_)));
    OPEN_ALL = row(Page, FILES, &[], "Load all events of the file", "open-all", load_dialog::load_all)
        .when(|state| matches!(state.stage, Stage::Choosing(_)) || load_dialog::loaded_text(state).is_some())
        .with(&[OpensFile]);
    CHOOSE_EVENTS = row(Page, FILES, &[], "Load a range of the events…", "choose-events",
        load_dialog::ask_again)
        .when(|state| matches!(state.stage, Stage::Loading(_) | Stage::Ready(_))).with(&[OpensFile]);
    NEXT_DEVICE = row(Page, FILES, &["u"], "Show the next device", "device", |state, _| step_device(state, 1))
        .when(has_devices);
    PREVIOUS_DEVICE = row(Page, FILES, &["b"], "Show the previous device", "device",
        |state, _| step_device(state, -1)).when(has_devices);
    /// Switches between showing one device and stacking all devices vertically.
    TOGGLE_LANES = row(Page, FILES, &["l"], "Show all devices, or one", "lanes",
        |state, _| lane_focus::toggle_lanes(state)).when(has_devices);
    COMPARE = row(Page, PAGE, &["|"], "Compare with another snapshot", "compare-open", |state, out| {
        match state.file() {
            Some(_) => out.push(Effect::PickSecond),
            None => state.remark = Some("Open a snapshot first.".to_owned()),
        }
    }).with(&[BrowserOnly]);
    COMPARE_SWAP = row(Page, PAGE, &["~"], "Swap A and B", "compare-swap", |state, _| {
        if is_comparing(state) && let Some([a, b]) = state.comparing.pair {
            state.comparing.pair = Some([b, a]);
            lane_scenes::arrange_lanes(state);
        }
    });
    COMPARE_OVERLAY = row(Page, PAGE, &["^"], "Draw B over A", "compare-overlay",
        |state, _| state.comparing.is_overlaid ^= is_comparing(state));
    COMPARE_END = row(Page, PAGE, &["\\"], "Stop comparing", "compare-end", |state, out| {
        if is_comparing(state) {
            comparing::end(state, out);
        }
    });
}

rows! {
    pub(super) SAVING:
    SAVE_HTML = row(Export, EXPORT, &["h"], "Save as HTML with the snapshot inside", "export-html", |state, out| {
        let view = Link::from_state(state).unwrap_or_default().without_file();
        state.export.dialog = export::Dialog::Closed;
        save_page::save(&mut state.html, &state.shared, view, state.export.leave_out, out);
    }).with(&[BrowserOnly]);
}

const fn sample(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    row(Page, FILES, keys, title, control, call).when(always).with(&[BrowserOnly, OpensFile])
}

fn open_sample(state: &mut State, sample: Sample, out: &mut Outbox) {
    link::follow_link(state, Link::parse(sample.link()), out);
}

fn has_devices(state: &State) -> bool {
    state.file().is_some_and(|file| file.devices.len() > 1)
}

/// Shows the device `by` places after the shown one, wrapping around at both ends.
fn step_device(state: &mut State, by: i64) {
    let count = state.device_count();
    if count > 1 {
        partial::on_device_chosen(state);
        let next = (state.device_index as i64 + by).rem_euclid(count as i64);
        show_device(state, next as usize);
    }
}

/// Returns whether a comparison is open or loading. If not, asks the user to start one.
fn is_comparing(state: &mut State) -> bool {
    let is_open = state.comparing.pair.is_some() || state.comparing.second != SecondFile::None;
    if !is_open {
        state.remark = Some("Compare with another snapshot first.".to_owned());
    }
    is_open
}
