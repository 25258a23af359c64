//! Files that change while the page is open: which of them are newer than what is shown, and whether they are opened by themselves.
//!
//! `memscape serve` tells of the files in its folder; of a file elsewhere, the shell asks its server. How a newer one is opened with the
//! view kept, says `ui::reloading`: it takes all of the state.

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

/// Snapshots that are listed to compare with: the newest of the same rank.
const MOST_COMPARED: usize = 10;
/// The list of snapshots grows to so many.
const MOST_LISTED: usize = 1000;
/// Milliseconds that what was open stays on the screen while its newer version is read, by who asked for it; then the progress is shown.
const STILL_MS: (f64, f64) = (1000.0, 4000.0);

/// What is known of files that change.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Whether changes are heard of.
    pub(crate) is_on: bool,
    /// Whether a server tells of all its files, which holds whatever is opened.
    is_told: bool,
    /// The load that came through a link, and what its server said of that state of the file.
    fetched: Option<(u32, String)>,
    /// What was heard last.
    known: Vec<Heard>,
    /// The newest file that is newer than the open one.
    pub(crate) offer: Option<Offer>,
    /// Whether it is opened by itself.
    pub(crate) follows: bool,
    /// What is to be done, once.
    pub(crate) wanted: Option<Wanted>,
    /// The load that it began.
    pub(crate) reload: Option<Reload>,
}

/// A file behind a link, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// As the list of snapshots has it.
    pub address: String,
    /// Another one, another file.
    pub version: String,
    pub rank: Option<u32>,
    /// When it was changed, on the shell's clock; infinitely long ago where that is not known.
    pub changed_ms: f64,
}

impl Heard {
    /// What `memscape serve` sends (`src/cli/serve/watch.rs`): a file a line. What is not understood is left out.
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

    /// The number of snapshots that `memscape serve` has, from the line `files COUNT`.
    pub fn count(text: &str) -> Option<usize> {
        text.lines().find_map(|line| line.strip_prefix("files ")?.parse().ok())
    }
}

/// A file that is newer than the open one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) address: String,
    pub(crate) changed_ms: f64,
    /// Whether it is the open one itself.
    pub(crate) is_open: bool,
}

/// What is to be done with all of the state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// Open this address, asked for by a person or by itself.
    Open(String, Asker),
    /// Compare with the snapshot of this place.
    Compare(usize),
}

/// Who asks for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Person,
    /// What is opened by itself says nothing where that fails.
    Follower,
}

/// A newer version on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reload {
    pub(crate) load: u32,
    pub(crate) asker: Asker,
    pub(crate) begun_ms: f64,
}

impl Live {
    /// Whether the screen stays as it is: a newer version of what it shows is about to be there.
    pub fn holds_the_screen(&self, now_ms: f64) -> bool {
        let still = |reload: &Reload| if reload.asker == Asker::Person { STILL_MS.0 } else { STILL_MS.1 };
        self.reload.is_some_and(|reload| now_ms - reload.begun_ms < still(&reload))
    }

    /// Whether a newer file is to be opened by itself, as soon as nothing else is on its way.
    pub fn waits(&self) -> bool {
        self.follows && self.offer.is_some()
    }

    /// Whether a server tells of its files, and what is open is none of them.
    pub(crate) fn is_elsewhere(&self, shared: &Shared) -> bool {
        self.is_told && shared.snapshots.get(shared.chosen).is_some_and(|choice| !ranks::is_served(choice))
    }

    /// Whether the server of what is open has to be asked.
    pub(crate) fn asks(&self) -> bool {
        self.is_on && !self.is_told
    }

    /// What came through a link is asked for from now on, by what was said of load `load`. The newest version of it that was tried is no
    /// news.
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
            // A server that tells is silent about a file that is still being written: what was read of it counts until then.
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

    /// When the file of an address was changed.
    pub(crate) fn changed_ms(&self, address: &str) -> Option<f64> {
        Some(self.of(address)?.changed_ms)
    }

    /// Places of the newest snapshots of the open one's rank, without itself.
    pub(crate) fn comparable(&self, shared: &Shared) -> Vec<usize> {
        let Some(open) = open(shared) else { return Vec::new() };
        let Some(rank) = self.of(open).map(|heard| heard.rank) else { return Vec::new() };
        let others = self.known.iter().filter(|heard| heard.rank == rank && heard.address != open).collect();
        let newest = sorted_by_key(others, |heard: &&Heard| ascending(-(heard.changed_ms.max(-1e15) as i64)).into());
        newest.into_iter().take(MOST_COMPARED).filter_map(|heard| place(shared, &heard.address)).collect()
    }
}

/// The address of the snapshot that is open, loading or could not be opened.
pub(crate) fn open(shared: &Shared) -> Option<&str> {
    match &shared.snapshots.get(shared.chosen)?.origin {
        Origin::Link(address) => Some(address),
        Origin::File(_) => None,
    }
}

/// The place of an address in the list of snapshots.
pub(crate) fn place(shared: &Shared, address: &str) -> Option<usize> {
    shared.snapshots.iter().position(|choice| matches!(&choice.origin, Origin::Link(link) if link == address))
}

/// What happens to files that change.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveAction {
    /// A server tells that there are these files now.
    Told(Vec<Heard>),
    /// A server that tells has so many snapshots, also those that it does not list.
    Counted(usize),
    /// A load came through a link, and its server said so of that state of the file.
    Fetched {
        load: u32,
        version: String,
    },
    /// The server of the open file was asked what it is now.
    Asked(Heard),
    /// The server of this file does not answer.
    Silent(String),
    /// Time went by.
    Waited,
    Dismissed,
    /// The snapshot of this place is to be compared with.
    Compared(usize),
}

/// What keys and controls do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiveStep {
    /// Open the newer file.
    Reload,
    /// Open newer ones by themselves, or no longer.
    Follow,
}

const KEYS: &[Binding<LiveStep>] = &[
    line(Scope::Page, &["!"], LiveStep::Reload, "Reload the file that changed", "live-reload"),
    line(Scope::Page, &["'"], LiveStep::Follow, "Follow changes: reload by itself, or not", "live-follow"),
];

/// How it takes part.
pub(crate) const FEATURE: Feature<Live, LiveAction, LiveStep> =
    Feature { reset, asks: &[], take: takes_nothing, act, command, keys: KEYS, links: &[], escape: ends_nothing };

/// What is newer than a file, is about that file.
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
                // What was said of the file when it was read counts: it may be another one by now.
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

/// A version that came with a file of `memscape serve`, as it tells of it: there it is quoted, and marked where the file travelled packed
/// (`src/cli/serve/mod.rs`).
fn as_told(version: &str) -> String {
    let tag = version.trim_matches('"');
    tag.strip_suffix("-gzip").unwrap_or(tag).to_owned()
}

/// Whoever follows opens what is newer.
fn follow(live: &mut Live) {
    if live.follows
        && let Some(offer) = &live.offer
    {
        live.wanted = Some(Wanted::Open(offer.address.clone(), Asker::Follower));
    }
}

/// Takes in which files there are: new ones are listed, and the newest of the open one's rank is offered.
fn hear(live: &mut Live, shared: &mut Shared, files: Vec<Heard>) {
    let is_first = !std::mem::replace(&mut live.is_on, true);
    let known = std::mem::replace(&mut live.known, files);
    // Nothing that a folder holds is newer than what is from elsewhere, or takes its place.
    if live.is_elsewhere(shared) {
        live.offer = None;
        return;
    }
    let open = open(shared).map(str::to_owned);
    let of = |address: &str| known.iter().find(|heard| heard.address == address);
    // One that was removed is of the rank that it was of.
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
            // What was listed from the beginning was written to its end only now.
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
