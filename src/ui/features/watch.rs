//! Reloads files that change. Finds files that are newer than the open one, and opens them automatically if that is
//! switched on.
//!
//! `memscape serve` reports changes of the files in its folder. For other files, the shell polls their server.
//! `ui::reload` opens a newer file and keeps the view, since that requires the state of all features.

pub mod commands;
mod data;

pub use data::{FileVersion, WatchAction};
pub(crate) use data::{LoadCause, NewerFile, Reload, WatchTask};

use crate::features::feature::{Feature, close_nothing, take_nothing};
use crate::session::ranks;
use crate::state::change::Change;
use crate::state::effect::Origin;
use crate::state::outbox::{Intent, Outbox};
use crate::state::samples::is_sample;
use crate::state::shared::Shared;
use base::sorted::{signed_key, sorted_by_key};

/// Maximum number of snapshots that are offered for comparison: the newest ones of the same rank as the open one.
const MAX_COMPARED: usize = 10;
/// Maximum length of the list of snapshots.
const MAX_LISTED: usize = 1000;
/// Time for which the previous contents stay on the screen during a reload, in milliseconds: for a reload by the user,
/// and for an automatic one. Progress is shown afterwards.
const HOLD_MS: (f64, f64) = (1000.0, 4000.0);

/// State of the files that are watched for changes.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// True if changes are detected: the server reports them, or the open file is polled.
    pub(crate) is_on: bool,
    /// True if the server reports changes of all its files. Stays set when other files are opened.
    is_served: bool,
    /// Load id and version of the last file that was loaded from an address.
    loaded_version: Option<(u32, String)>,
    /// Last reported version of each file.
    files: Vec<FileVersion>,
    /// The newest file that is newer than the open one.
    pub(crate) newer: Option<NewerFile>,
    /// True if newer files open automatically.
    pub(crate) follows: bool,
    /// Task that `ui::reload` runs next.
    pub(crate) task: Option<WatchTask>,
    /// The pending reload.
    pub(crate) reload: Option<Reload>,
}

impl Watch {
    /// Returns true while a reload keeps the previous contents on the screen.
    pub fn holds_screen(&self, now_ms: f64) -> bool {
        let still = |reload: &Reload| if reload.cause == LoadCause::User { HOLD_MS.0 } else { HOLD_MS.1 };
        self.reload.is_some_and(|reload| now_ms - reload.started_ms < still(&reload))
    }

    /// Returns true if a newer file will open automatically as soon as no other load is pending.
    pub fn will_reload(&self) -> bool {
        self.follows && self.newer.is_some()
    }

    /// Returns true if the server reports changes of its files, but the open file is not one of them.
    pub(crate) fn is_elsewhere(&self, shared: &Shared) -> bool {
        self.is_served && shared.snapshots.get(shared.snapshot_index).is_some_and(|choice| !ranks::is_served(choice))
    }

    /// Returns true if the server of the open file must be polled.
    pub(crate) fn polls(&self) -> bool {
        self.is_on && !self.is_served
    }

    /// Starts polling the open file if `load` loaded it from an address. Changes are detected relative to the loaded
    /// version.
    pub(crate) fn start_polling(&mut self, shared: &Shared, load: u32) {
        let (Some((load_of_version, version)), Some(address)) = (&self.loaded_version, open_address(shared)) else {
            return;
        };
        if *load_of_version != load || is_sample(address) {
            return;
        }
        let read =
            |version| FileVersion { address: address.to_owned(), version, rank: None, changed_ms: f64::NEG_INFINITY };
        if !self.is_served {
            self.files = vec![read(version.clone())];
            self.is_on = true;
        } else if self.file_at(address).is_none() && !self.is_elsewhere(shared) {
            // `memscape serve` does not report files that are still being written. Until it does, the version that was
            // loaded is used.
            self.files.push(read(version_from_etag(version)));
        }
    }

    fn stop_polling(&mut self) {
        (self.is_on, self.newer) = (false, None);
        self.files.clear();
    }

    fn file_at(&self, address: &str) -> Option<&FileVersion> {
        self.files.iter().find(|file| file.address == address)
    }

    /// Returns the time of the last change of the file at an address, in milliseconds.
    pub(crate) fn changed_ms(&self, address: &str) -> Option<f64> {
        Some(self.file_at(address)?.changed_ms)
    }

    /// Returns the indices of other snapshots of the same rank as the open one, newest first.
    pub(crate) fn comparable(&self, shared: &Shared) -> Vec<usize> {
        let Some(open) = open_address(shared) else { return Vec::new() };
        let Some(rank) = self.file_at(open).map(|file| file.rank) else { return Vec::new() };
        let others = self.files.iter().filter(|file| file.rank == rank && file.address != open).collect();
        let newest =
            sorted_by_key(others, |file: &&FileVersion| signed_key(-(file.changed_ms.max(-1e15) as i64)).into());
        newest.into_iter().take(MAX_COMPARED).filter_map(|file| index_of(shared, &file.address)).collect()
    }
}

/// Returns the address of the current snapshot, whether it is open, loading or failed. `None` if it has no address.
pub(crate) fn open_address(shared: &Shared) -> Option<&str> {
    match &shared.snapshots.get(shared.snapshot_index)?.origin {
        Origin::Link(address) => Some(address),
        Origin::File(_) => None,
    }
}

/// Returns the index of an address in the list of snapshots.
pub(crate) fn index_of(shared: &Shared, address: &str) -> Option<usize> {
    shared.snapshots.iter().position(|choice| matches!(&choice.origin, Origin::Link(link) if link == address))
}

pub(crate) const FEATURE: Feature<Watch, WatchAction> =
    Feature { reset, questions: &[], on_reply: take_nothing, on_action, link_keys: &[], on_escape: close_nothing };

/// Drops state about the previous file.
fn reset(watch: &mut Watch, _: &Shared, change: Change, _: &mut Outbox) {
    if change == Change::File {
        watch.newer = None;
        if !watch.is_served {
            watch.stop_polling();
        }
    }
}

fn on_action(watch: &mut Watch, shared: &Shared, action: WatchAction, out: &mut Outbox) {
    match action {
        WatchAction::FilesReported(files) => {
            if !std::mem::replace(&mut watch.is_served, true) {
                (watch.is_on, watch.newer) = (false, None);
                // The version of the file when it was read is kept, since the file may have changed meanwhile.
                watch.files.iter_mut().for_each(|file| file.version = version_from_etag(&file.version));
            }
            update_files(watch, shared, files, out);
            reload_if_following(watch);
        }
        WatchAction::CountReported(count) => out.intend(Intent::CountFiles(count)),
        WatchAction::Loaded { load, version } => {
            watch.loaded_version = Some((load, version));
            watch.start_polling(shared, shared.load);
        }
        WatchAction::Polled(file) => {
            // Another file may be open by now.
            if watch.files.iter().any(|known| known.address == file.address) && !watch.is_served {
                update_files(watch, shared, vec![file], out);
                reload_if_following(watch);
            }
        }
        WatchAction::PollFailed(address) => {
            if !watch.is_served && watch.files.iter().any(|known| known.address == address) {
                watch.stop_polling();
            }
        }
        WatchAction::TimePassed => reload_if_following(watch),
        WatchAction::Dismissed => (watch.newer, watch.follows) = (None, false),
        WatchAction::Compared(index) => watch.task = Some(WatchTask::Compare(index)),
    }
}

/// Opens the newer file.
fn reload(watch: &mut Watch, out: &mut Outbox) {
    match &watch.newer {
        Some(offer) => watch.task = Some(WatchTask::Open(offer.address.clone(), LoadCause::User)),
        None => out.say("Nothing newer to reload."),
    }
}

/// Turns automatic reloading on or off.
fn toggle_following(watch: &mut Watch, out: &mut Outbox) {
    if !watch.is_on {
        out.say("Only files behind a link and in a folder of memscape serve can be followed.");
        return;
    }
    watch.follows = !watch.follows;
    let status = if watch.follows { "Following: newer versions open by themselves." } else { "No longer following." };
    out.say(status);
    reload_if_following(watch);
}

/// Converts an ETag of `memscape serve` to the version in its messages: removes the quotes and the suffix of compressed
/// responses (see `src/cli/serve/mod.rs`).
fn version_from_etag(version: &str) -> String {
    let tag = version.trim_matches('"');
    tag.strip_suffix("-gzip").unwrap_or(tag).to_owned()
}

/// Opens the newer file if automatic reloading is on.
fn reload_if_following(watch: &mut Watch) {
    if watch.follows
        && let Some(offer) = &watch.newer
    {
        watch.task = Some(WatchTask::Open(offer.address.clone(), LoadCause::Automatic));
    }
}

/// Updates the known files. Adds new ones to the list of snapshots, and offers the newest file of the same rank as the
/// open one.
fn update_files(watch: &mut Watch, shared: &Shared, files: Vec<FileVersion>, out: &mut Outbox) {
    let is_first = !std::mem::replace(&mut watch.is_on, true);
    let known = std::mem::replace(&mut watch.files, files);
    // If the open file is not from this server, no file of the folder replaces it.
    if watch.is_elsewhere(shared) {
        watch.newer = None;
        return;
    }
    let open = open_address(shared).map(str::to_owned);
    let of = |address: &str| known.iter().find(|file| file.address == address);
    // A file that was removed keeps its rank.
    if let Some(open) = &open
        && watch.file_at(open).is_none()
    {
        watch.files.extend(of(open).cloned());
    }
    let rank = open.as_ref().map(|open| watch.file_at(open).and_then(|file| file.rank));
    let since = watch.newer.as_ref().map_or(f64::NEG_INFINITY, |offer| offer.changed_ms);
    let mut newest: Option<&FileVersion> = None;
    let mut added: Vec<String> = Vec::new();
    for file in &watch.files {
        let is_listed = index_of(shared, &file.address).is_some() || added.contains(&file.address);
        if !is_listed && shared.snapshots.len() + added.len() < MAX_LISTED {
            added.push(file.address.clone());
        }
        let is_newer = match of(&file.address) {
            Some(before) => before.version != file.version,
            // A file that was listed before is new only because writing it has finished.
            None => !is_first && !is_listed,
        };
        let has_same_rank = rank.is_none_or(|rank| rank == file.rank) || Some(&file.address) == open.as_ref();
        if is_newer && has_same_rank && newest.is_none_or(|newest| newest.changed_ms <= file.changed_ms) {
            newest = Some(file);
        }
    }
    if !added.is_empty() {
        out.intend(Intent::ListFiles(added));
    }
    if let Some(file) = newest.filter(|file| file.changed_ms >= since) {
        let is_open = open.as_ref() == Some(&file.address);
        watch.newer = Some(NewerFile { address: file.address.clone(), changed_ms: file.changed_ms, is_open });
    }
}
