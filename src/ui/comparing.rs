//! Comparison of two devices, of one file or of two. They are shown as two lanes over aligned moments. The differences
//! are listed by the insight [`engine::protocol::Topic::Comparison`].

mod data;
mod lanes;
pub(super) mod part;
pub(crate) mod second;
pub mod view;

pub(crate) use data::SecondSource;
pub use data::{ComparedAt, Comparing, ComparingAction, ComparingStep, SecondFile};

use super::effect::{Effect, Origin};
use super::opening::{append_files, show_device};
use super::shared::Shared;
use super::stage::{Loading, SnapshotChoice, Stage};
use super::toast::Toast;
use engine::protocol::Reply;

/// Applies an action of the comparison.
pub(super) fn act(state: &mut Shared, action: ComparingAction, now_ms: f64, effects: &mut Vec<Effect>) {
    match action {
        ComparingAction::FilesGiven(from, files) => {
            let place = append_files(state, from, files);
            load_second(state, &SecondSource::Index(place), now_ms, effects);
        }
        ComparingAction::DeviceChosen(device) => {
            let place = state.file().and_then(|file| file.devices.iter().position(|it| it.device == device));
            if let Some(place) = place.filter(|&place| place != state.device_index) {
                compare(state, [state.device_index, place]);
            }
        }
        ComparingAction::LoadRefused(load, cause) => {
            if matches!(&state.comparing.second, SecondFile::Loading(_, of) if *of == load) {
                second_failed(state, &cause);
            }
        }
        ComparingAction::CurveClicked(moment, x) => {
            if let Some([a, _]) = state.comparing.pair {
                state.focus(a);
            }
            if let Some(moment) = moment.or_else(|| state.moment_under(x)) {
                state.go_to(moment);
            }
        }
        ComparingAction::AtChosen(at) => state.comparing.at = at,
        ComparingAction::KeyChosen(key) => state.comparing.key = key,
        ComparingAction::AlignChosen(align) => state.comparing.align = align,
        ComparingAction::PathsTyped(typed) => state.comparing.paths = typed,
    }
}

/// Carries out a command of the comparison.
pub(super) fn step(state: &mut Shared, step: ComparingStep, effects: &mut Vec<Effect>) {
    match step {
        ComparingStep::Open if state.file().is_some() => effects.push(Effect::PickSecond),
        ComparingStep::Open => state.remark = Some("Open a snapshot first.".to_owned()),
        _ if state.comparing.pair.is_none() && state.comparing.second == SecondFile::None => {
            state.remark = Some("Compare with another snapshot first.".to_owned());
        }
        ComparingStep::Swap => {
            if let Some([a, b]) = state.comparing.pair {
                state.comparing.pair = Some([b, a]);
                state.arrange_lanes();
            }
        }
        ComparingStep::Overlay => state.comparing.is_overlaid = !state.comparing.is_overlaid,
        ComparingStep::End => end(state, effects),
    }
}

/// Starts loading the second file. Does nothing while no first file is open.
pub(super) fn load_second(state: &mut Shared, wanted: &SecondSource, now_ms: f64, effects: &mut Vec<Effect>) {
    let origin = match wanted {
        SecondSource::Index(place) => state.snapshots.get(*place).map(|choice| (choice.origin.clone(), choice.member)),
        SecondSource::Link(url) => Some((Origin::Link(url.clone()), None)),
    };
    let Some((origin, member)) = origin.filter(|_| state.file().is_some()) else { return };
    discard_second(state);
    let (name, bytes) = match (wanted, &origin) {
        (SecondSource::Index(place), _) => {
            let choice = state.snapshots.get(*place);
            (choice.map(SnapshotChoice::name).unwrap_or_default(), choice.and_then(|choice| choice.bytes))
        }
        (SecondSource::Link(url), _) => (super::url::file_name(url), None),
    };
    state.last_load = state.last_load.wrapping_add(1);
    let load = state.last_load;
    state.comparing.second = SecondFile::Loading(Box::new(Loading::new(origin.clone(), name, bytes, now_ms)), load);
    effects.push(Effect::LoadSecond { origin, member, load });
}

/// Handles a reply of the worker about the second file. Returns false if the reply belongs to another load.
pub(super) fn take_reply(state: &mut Shared, load: u32, reply: &Reply, now_ms: f64) -> bool {
    let SecondFile::Loading(loading, of) = &mut state.comparing.second else { return false };
    if *of != load {
        return false;
    }
    match reply {
        Reply::Progress(progress) => {
            loading.bytes = progress.bytes;
            loading.total_bytes = progress.total_bytes.or(loading.total_bytes);
            (loading.phase, loading.latest_ms) = (progress.phase, now_ms);
        }
        Reply::Opened(file) => {
            let origin = loading.origin.clone();
            state.comparing.second = SecondFile::Open(file.clone(), origin, load);
            second_opened(state);
        }
        Reply::Failed { message } => second_failed(state, message),
        Reply::Cancelled => state.comparing.second = SecondFile::None,
        Reply::Partial(_) | Reply::Members(_) | Reply::Answer { .. } => {}
    }
    true
}

/// Reports that the second file could not be opened. The first file stays open.
pub(super) fn second_failed(state: &mut Shared, message: &str) {
    if let SecondFile::Loading(loading, _) = std::mem::take(&mut state.comparing.second) {
        state.toast = Some(Toast::new(loading.name, message));
    }
}

/// Reports that the second file could not be fetched, if `load` is the one in progress.
pub(super) fn link_failed(state: &mut Shared, load: u32, status: Option<u16>) {
    if let SecondFile::Loading(loading, of) = &state.comparing.second
        && *of == load
    {
        let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
        let message = super::url::fetch_failure(address, status, state.page_scheme);
        second_failed(state, &message);
    }
}

/// Appends the devices of the second file to those of the first, and compares the shown device with the second file's
/// default device.
fn second_opened(state: &mut Shared) {
    let (SecondFile::Open(second, ..), Stage::Ready(first)) = (&state.comparing.second, &mut state.stage) else {
        return;
    };
    let own = first.devices.len();
    let second_place = own + second.default_device();
    first.devices.extend(second.devices.iter().cloned());
    state.comparing.first_device_count = own;
    if second.devices.is_empty() || own == 0 {
        return;
    }
    let a = state.device_index.min(own - 1);
    compare(state, [a, second_place]);
}

/// Starts comparing two devices, A and B, and shows all of A.
fn compare(state: &mut Shared, pair: [usize; 2]) {
    state.comparing.pair = Some(pair);
    state.lanes.last_requested = pair[0].wrapping_sub(1);
    state.view = None;
    state.lanes.others.clear();
    if state.device_index != pair[0] {
        show_device(state, pair[0]);
    }
    state.arrange_lanes();
    state.fit_all_lanes();
    state.requested_topic = Some(engine::protocol::Topic::Comparison);
}

/// Discards the second file. If one of its devices is shown, switches to the first file's default device.
fn discard_second(state: &mut Shared) {
    if second::discard(state) {
        let place = state.file().map_or(0, |file| file.default_device());
        show_device(state, place);
    }
}

/// Ends the comparison.
pub(super) fn end(state: &mut Shared, effects: &mut Vec<Effect>) {
    discard_second(state);
    effects.push(Effect::CloseSecond);
    state.view = None;
    state.arrange_lanes();
}
