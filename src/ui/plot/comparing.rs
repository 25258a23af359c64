//! Comparison of two devices, called A and B, from the same file or from two files. They are shown in two lanes whose
//! moments are aligned. The insight [`protocol::Topic::Comparison`] lists the differences.

pub(crate) mod lanes;
pub(crate) mod part;
pub(crate) mod second;
pub mod view;

pub use crate::state::compared_at::ComparedAt;
pub(crate) use crate::state::comparing::SecondSource;
pub use crate::state::comparing::{Comparing, ComparingAction, SecondFile};
pub use part::{is_compared, is_current_load};

use crate::plot::lane_focus::show_device;
use crate::plot::{lane_focus, lane_scenes};
use crate::scope::cursor;
use crate::state::effect::{Effect, Origin};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::{Shared, append_files};
use crate::state::stage::{Loading, SnapshotChoice, Stage};
use crate::state::toast::Toast;
use protocol::Reply;

/// Applies an action of the comparison.
pub(crate) fn handle_action(state: &mut Shared, action: ComparingAction, out: &mut Outbox) {
    match action {
        ComparingAction::FilesGiven(from, files) => {
            let index = append_files(state, from, files);
            load_second(state, &SecondSource::Index(index), out);
        }
        ComparingAction::DeviceChosen(device) => {
            let index = state.file().and_then(|file| file.devices.iter().position(|it| it.device == device));
            if let Some(index) = index.filter(|&index| index != state.device_index) {
                compare(state, [state.device_index, index], out);
            }
        }
        ComparingAction::LoadRefused(load, cause) => {
            if matches!(&state.comparing.second, SecondFile::Loading(_, of) if *of == load) {
                second_failed(state, &cause);
            }
        }
        ComparingAction::CurveClicked(moment, x) => {
            if let Some([a, _]) = state.comparing.pair {
                lane_focus::focus(state, a);
            }
            if let Some(moment) = moment.or_else(|| cursor::moment_under(state, x)) {
                cursor::go_to(state, moment);
            }
        }
        ComparingAction::AtChosen(at) => {
            state.comparing.at = at;
            if at == ComparedAt::Peaks {
                cursor::go_to_peak(state);
            }
        }
        ComparingAction::KeyChosen(key) => state.comparing.key = key,
        ComparingAction::AlignChosen(align) => state.comparing.align = align,
        ComparingAction::PathsTyped(typed) => state.comparing.paths = typed,
    }
}

/// Starts loading the second file. Does nothing while no first file is open.
pub(crate) fn load_second(state: &mut Shared, wanted: &SecondSource, out: &mut Outbox) {
    let origin = match wanted {
        SecondSource::Index(index) => state.snapshots.get(*index).map(|choice| (choice.origin.clone(), choice.member)),
        SecondSource::Link(url) => Some((Origin::Link(url.clone()), None)),
    };
    let Some((origin, member)) = origin.filter(|_| state.file().is_some()) else { return };
    discard_second(state);
    let (name, bytes) = match (wanted, &origin) {
        (SecondSource::Index(index), _) => {
            let choice = state.snapshots.get(*index);
            (choice.map(SnapshotChoice::name).unwrap_or_default(), choice.and_then(|choice| choice.bytes))
        }
        (SecondSource::Link(url), _) => (crate::text::url::file_name(url), None),
    };
    state.last_load = state.last_load.wrapping_add(1);
    let load = state.last_load;
    state.comparing.second = SecondFile::Loading(Box::new(Loading::new(origin.clone(), name, bytes, out.now_ms)), load);
    out.push(Effect::LoadSecond { origin, member, load });
}

/// Handles a reply of the worker about the second file. Returns false if the reply belongs to another file.
pub(crate) fn take_reply(state: &mut Shared, load: u32, reply: &Reply, out: &mut Outbox) -> bool {
    let SecondFile::Loading(loading, second_load) = &mut state.comparing.second else { return false };
    if *second_load != load {
        return false;
    }
    match reply {
        Reply::Progress(progress) => {
            loading.bytes = progress.bytes;
            loading.total_bytes = progress.total_bytes.or(loading.total_bytes);
            (loading.phase, loading.latest_ms) = (progress.phase, out.now_ms);
        }
        Reply::Opened(file) => {
            let origin = loading.origin.clone();
            state.comparing.second = SecondFile::Open(file.clone(), origin, load);
            second_opened(state, out);
        }
        Reply::Failed { message } => second_failed(state, message),
        Reply::Cancelled => state.comparing.second = SecondFile::None,
        Reply::Partial(_) | Reply::Members(_) | Reply::Answer { .. } => {}
    }
    true
}

/// Reports that the second file could not be opened. The first file stays open.
pub(crate) fn second_failed(state: &mut Shared, message: &str) {
    if let SecondFile::Loading(loading, _) = std::mem::take(&mut state.comparing.second) {
        state.toast = Some(Toast::new(loading.name, message));
    }
}

/// Reports that the second file could not be fetched. Ignored unless `load` is the id of the second file's current
/// load.
pub(crate) fn link_failed(state: &mut Shared, load: u32, status: Option<u16>) {
    if let SecondFile::Loading(loading, second_load) = &state.comparing.second
        && *second_load == load
    {
        let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
        let message = crate::text::url::fetch_failure(address, status, state.page_scheme);
        second_failed(state, &message);
    }
}

/// Appends the devices of the second file to those of the first, and compares the shown device with the second file's
/// default device.
fn second_opened(state: &mut Shared, out: &mut Outbox) {
    let (SecondFile::Open(second, ..), Stage::Ready(first)) = (&state.comparing.second, &mut state.stage) else {
        return;
    };
    let first_count = first.devices.len();
    let second_index = first_count + second.default_device();
    first.devices.extend(second.devices.iter().cloned());
    state.comparing.first_device_count = first_count;
    if second.devices.is_empty() || first_count == 0 {
        return;
    }
    let a = state.device_index.min(first_count - 1);
    compare(state, [a, second_index], out);
}

/// Starts comparing two devices, A and B, and fits both in the window.
fn compare(state: &mut Shared, pair: [usize; 2], out: &mut Outbox) {
    state.comparing.pair = Some(pair);
    state.views.has_room = false;
    state.lanes.last_requested = pair[0].wrapping_sub(1);
    let focused = state.device_index;
    state.lanes.retain(|index| index == focused);
    state.focused_mut().view = None;
    if state.device_index != pair[0] {
        show_device(state, pair[0]);
    }
    lane_scenes::arrange_lanes(state);
    lane_focus::fit_all_lanes(state);
    out.intend(Intent::OpenTopic(protocol::Topic::Comparison));
}

/// Discards the second file. If one of its devices is shown, switches to the first file's default device.
fn discard_second(state: &mut Shared) {
    if second::discard(state) {
        let index = state.file().map_or(0, |file| file.default_device());
        show_device(state, index);
    }
}

/// Ends the comparison.
pub(crate) fn end(state: &mut Shared, out: &mut Outbox) {
    discard_second(state);
    out.push(Effect::CloseSecond);
    state.focused_mut().view = None;
    lane_scenes::arrange_lanes(state);
}
