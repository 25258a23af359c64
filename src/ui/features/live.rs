//! Reloading of files that change: which files are newer than the open one, and whether they open automatically.
//!
//! `memscape serve` reports changes of the files in its folder. For other files, the shell polls their server.
//! `ui::reloading` opens a newer file while keeping the view, since that needs the whole state.

use crate::binding::{Binding, Scope, line};
use crate::change::Change;
use crate::effect::{Effect, Origin};
use crate::feature::{Feature, ends_nothing, takes_nothing};
use crate::ranks;
use crate::samples::is_sample;
use crate::shared::Shared;
use crate::stage::Choice;
use crate::url;
use base::sorted::{ascending, sorted_by_key};

/// Maximum number of snapshots that are listed for comparison: the newest of the same rank.
const MOST_COMPARED: usize = 10;
/// Maximum length of the list of snapshots.
const MOST_LISTED: usize = 1000;
/// Time in milliseconds that the previous contents stay on the screen during a reload: requested by the user, and
/// automatic. Then the progress is shown.
const STILL_MS: (f64, f64) = (1000.0, 4000.0);

/// State of the files that change.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// True if changes are reported.
    pub(crate) is_on: bool,
    /// True if the server reports changes of all its files. Stays set when other files are opened.
    is_told: bool,
    /// Load number and version of the file that was loaded last from a link.
    fetched: Option<(u32, String)>,
    /// Last known state of the files.
    known: Vec<Heard>,
    /// The newest file that is newer than the open one.
    pub(crate) offer: Option<Offer>,
    /// True if newer files open automatically.
    pub(crate) follows: bool,
    /// Pending task. Processed once.
    pub(crate) wanted: Option<Wanted>,
    /// The pending reload.
    pub(crate) reload: Option<Reload>,
}

/// Current state of a file behind a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Address as in the list of snapshots.
    pub address: String,
    /// Version identifier. It changes whenever the file does.
    pub version: String,
    pub rank: Option<u32>,
    /// Time of the last change on the shell's clock, in milliseconds. Negative infinity if unknown.
    pub changed_ms: f64,
}

impl Heard {
    /// Parses a message of `memscape serve` (`src/cli/serve/watch.rs`), with one file per line. Invalid lines are
    /// ignored.
    pub fn parse(text: &str, now_ms: f64) -> Vec<Heard> {
        let heard = |line: &str| {
            let mut words = line.splitn(4, ' ');
            let (rank, version, age, address) = (words.next()?, words.next()?, words.next()?, words.next()?);
            let age: f64 = age.parse::<u64>().ok()? as f64;
            let (version, address) = (version.to_owned(), address.to_owned());
            Some(Heard { address, version, rank: rank.parse().ok(), changed_ms: now_ms - age })
        };
        text.lines().filter_map(heard).collect()
    }

    /// Parses the number of snapshots of `memscape serve` from its line `files COUNT`.
    pub fn count(text: &str) -> Option<usize> {
        text.lines().find_map(|line| line.strip_prefix("files ")?.parse().ok())
    }
}

/// A file that is newer than the open one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) address: String,
    pub(crate) changed_ms: f64,
    /// True if it is a newer version of the open file.
    pub(crate) is_open: bool,
}

/// A task that needs the whole state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// Opens this address.
    Open(String, Asker),
    /// Compares with the snapshot at this index.
    Compare(usize),
}

/// Cause of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Person,
    /// Automatic reload. Its errors are not shown.
    Follower,
}

/// A newer version that is loading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reload {
    pub(crate) load: u32,
    pub(crate) asker: Asker,
    pub(crate) begun_ms: f64,
}

impl Live {
    /// Returns true while the previous contents stay on the screen because a newer version is about to be shown.
    pub fn holds_the_screen(&self, now_ms: f64) -> bool {
        let still = |reload: &Reload| if reload.asker == Asker::Person { STILL_MS.0 } else { STILL_MS.1 };
        self.reload.is_some_and(|reload| now_ms - reload.begun_ms < still(&reload))
    }

    /// Returns true if a newer file will open automatically as soon as no other load is pending.
    pub fn waits(&self) -> bool {
        self.follows && self.offer.is_some()
    }

    /// Returns true if the server reports changes of its files, but the open file is not one of them.
    pub(crate) fn is_elsewhere(&self, shared: &Shared) -> bool {
        self.is_told && shared.snapshots.get(shared.chosen).is_some_and(|choice| !ranks::is_served(choice))
    }

    /// Returns true if the server of the open file must be polled.
    pub(crate) fn asks(&self) -> bool {
        self.is_on && !self.is_told
    }

    /// Starts to poll the open file if `load` came through a link. The version that was loaded counts as known.
    pub(crate) fn begin_asking(&mut self, shared: &Shared, load: u32) {
        let (Some((of, version)), Some(address)) = (&self.fetched, open(shared)) else { return };
        if *of != load || is_sample(address) {
            return;
        }
        let read = |version| Heard { address: address.to_owned(), version, rank: None, changed_ms: f64::NEG_INFINITY };
        if !self.is_told {
            self.known = vec![read(version.clone())];
            self.is_on = true;
        } else if self.of(address).is_none() && !self.is_elsewhere(shared) {
            // `memscape serve` does not report files that are still being written. Until then, the version that was
            // read counts.
            self.known.push(read(as_told(version)));
        }
    }

    fn end_asking(&mut self) {
        (self.is_on, self.offer) = (false, None);
        self.known.clear();
    }

    fn of(&self, address: &str) -> Option<&Heard> {
        self.known.iter().find(|heard| heard.address == address)
    }

    /// Returns when the file at an address was changed.
    pub(crate) fn changed_ms(&self, address: &str) -> Option<f64> {
        Some(self.of(address)?.changed_ms)
    }

    /// Returns the indices of the newest snapshots with the rank of the open one, without the open one.
    pub(crate) fn comparable(&self, shared: &Shared) -> Vec<usize> {
        let Some(open) = open(shared) else { return Vec::new() };
        let Some(rank) = self.of(open).map(|heard| heard.rank) else { return Vec::new() };
        let others = self.known.iter().filter(|heard| heard.rank == rank && heard.address != open).collect();
        let newest = sorted_by_key(others, |heard: &&Heard| ascending(-(heard.changed_ms.max(-1e15) as i64)).into());
        newest.into_iter().take(MOST_COMPARED).filter_map(|heard| place(shared, &heard.address)).collect()
    }
}

/// Returns the address of the current snapshot: open, loading or failed.
pub(crate) fn open(shared: &Shared) -> Option<&str> {
    match &shared.snapshots.get(shared.chosen)?.origin {
        Origin::Link(address) => Some(address),
        Origin::File(_) => None,
    }
}

/// Returns the index of an address in the list of snapshots.
pub(crate) fn place(shared: &Shared, address: &str) -> Option<usize> {
    shared.snapshots.iter().position(|choice| matches!(&choice.origin, Origin::Link(link) if link == address))
}

/// Events of files that change.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveAction {
    /// `memscape serve` reports its current files.
    Told(Vec<Heard>),
    /// `memscape serve` reports its number of snapshots, including those that it does not list.
    Counted(usize),
    /// A file was loaded from a link, with this version.
    Fetched {
        load: u32,
        version: String,
    },
    /// Reply of the server of the open file.
    Asked(Heard),
    /// The server of this file does not reply.
    Silent(String),
    /// Time has passed.
    Waited,
    Dismissed,
    /// Compares with the snapshot at this index.
    Compared(usize),
}

/// Commands for files that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiveStep {
    /// Opens the newer file.
    Reload,
    /// Toggles automatic reloading.
    Follow,
}

const KEYS: &[Binding<LiveStep>] = &[
    line(Scope::Page, &["!"], LiveStep::Reload, "Reload the file that changed", "live-reload"),
    line(Scope::Page, &["'"], LiveStep::Follow, "Follow changes: reload by itself, or not", "live-follow"),
];

pub(crate) const FEATURE: Feature<Live, LiveAction, LiveStep> =
    Feature { reset, asks: &[], take: takes_nothing, act, command, keys: KEYS, links: &[], escape: ends_nothing };

/// Drops what was known about the previous file.
fn reset(live: &mut Live, _: &mut Shared, change: Change) {
    if change == Change::File {
        live.offer = None;
        if !live.is_told {
            live.end_asking();
        }
    }
}

fn act(live: &mut Live, shared: &mut Shared, action: LiveAction, _: &mut Vec<Effect>) {
    match action {
        LiveAction::Told(files) => {
            if !std::mem::replace(&mut live.is_told, true) {
                (live.is_on, live.offer) = (false, None);
                // The version of the file when it was read is kept, since the file may have changed meanwhile.
                live.known.iter_mut().for_each(|heard| heard.version = as_told(&heard.version));
            }
            hear(live, shared, files);
            follow(live);
        }
        LiveAction::Counted(count) => ranks::counted(shared, count),
        LiveAction::Fetched { load, version } => {
            live.fetched = Some((load, version));
            live.begin_asking(shared, shared.load);
        }
        LiveAction::Asked(heard) => {
            // Another file may be open by now.
            if live.known.iter().any(|known| known.address == heard.address) && !live.is_told {
                hear(live, shared, vec![heard]);
                follow(live);
            }
        }
        LiveAction::Silent(address) => {
            if !live.is_told && live.known.iter().any(|known| known.address == address) {
                live.end_asking();
            }
        }
        LiveAction::Waited => follow(live),
        LiveAction::Dismissed => (live.offer, live.follows) = (None, false),
        LiveAction::Compared(place) => live.wanted = Some(Wanted::Compare(place)),
    }
}

fn command(live: &mut Live, shared: &mut Shared, step: LiveStep, _: &mut Vec<Effect>) {
    match step {
        LiveStep::Reload => match &live.offer {
            Some(offer) => live.wanted = Some(Wanted::Open(offer.address.clone(), Asker::Person)),
            None => shared.remark = Some("Nothing newer to reload.".to_owned()),
        },
        LiveStep::Follow if !live.is_on => {
            shared.remark =
                Some("Only files behind a link and in a folder of memscape serve can be followed.".to_owned());
        }
        LiveStep::Follow => {
            live.follows = !live.follows;
            let said =
                if live.follows { "Following: newer versions open by themselves." } else { "No longer following." };
            shared.remark = Some(said.to_owned());
            follow(live);
        }
    }
}

/// Converts an ETag of `memscape serve` to the version in its messages: without quotes, and without the suffix of
/// compressed responses (`src/cli/serve/mod.rs`).
fn as_told(version: &str) -> String {
    let tag = version.trim_matches('"');
    tag.strip_suffix("-gzip").unwrap_or(tag).to_owned()
}

/// Opens the newer file if automatic reloading is on.
fn follow(live: &mut Live) {
    if live.follows
        && let Some(offer) = &live.offer
    {
        live.wanted = Some(Wanted::Open(offer.address.clone(), Asker::Follower));
    }
}

/// Updates the known files. New ones are listed, and the newest one with the rank of the open file is offered.
fn hear(live: &mut Live, shared: &mut Shared, files: Vec<Heard>) {
    let is_first = !std::mem::replace(&mut live.is_on, true);
    let known = std::mem::replace(&mut live.known, files);
    // If the open file is from elsewhere, no file of the folder is newer or replaces it.
    if live.is_elsewhere(shared) {
        live.offer = None;
        return;
    }
    let open = open(shared).map(str::to_owned);
    let of = |address: &str| known.iter().find(|heard| heard.address == address);
    // A file that was removed keeps its rank.
    if let Some(open) = &open
        && live.of(open).is_none()
    {
        live.known.extend(of(open).cloned());
    }
    let rank = open.as_ref().map(|open| live.of(open).and_then(|heard| heard.rank));
    let since = live.offer.as_ref().map_or(f64::NEG_INFINITY, |offer| offer.changed_ms);
    let mut newest: Option<&Heard> = None;
    let listed = shared.snapshots.len();
    for heard in &live.known {
        let is_listed = place(shared, &heard.address).is_some();
        if !is_listed && shared.snapshots.len() < MOST_LISTED {
            shared.snapshots.push(Choice {
                origin: Origin::Link(heard.address.clone()),
                member: None,
                file: url::file_name(&heard.address),
                path: None,
                bytes: None,
                load: None,
            });
        }
        let is_newer = match of(&heard.address) {
            Some(before) => before.version != heard.version,
            // A file that was listed before is new only because writing it has finished.
            None => !is_first && !is_listed,
        };
        let is_asked = rank.is_none_or(|rank| rank == heard.rank) || Some(&heard.address) == open.as_ref();
        if is_newer && is_asked && newest.is_none_or(|newest| newest.changed_ms <= heard.changed_ms) {
            newest = Some(heard);
        }
    }
    if shared.snapshots.len() > listed {
        ranks::grown(shared);
    }
    if let Some(heard) = newest.filter(|heard| heard.changed_ms >= since) {
        let is_open = open.as_ref() == Some(&heard.address);
        live.offer = Some(Offer { address: heard.address.clone(), changed_ms: heard.changed_ms, is_open });
    }
}
