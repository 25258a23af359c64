//! What the peak of live bytes is without a group of allocations, for all groups at once and exactly.
//!
//! It is not the peak minus what the group has at the peak: without the group another moment may be the peak. So it is the largest of
//! `live − group` over all moments. Between two changes of a group its own bytes stay the same, so that of such an interval only the
//! largest live bytes matter. Every interval ends at the event that is looked at, so the largest is found among the *tops*: the moments
//! after which nothing as high has come yet.
//!
//! ```text
//! live   ▂▅█▃▆▂▄▁        tops: █ ▆ ▄ ▁, ever lower; the first from a moment on is the largest since then
//! ```
//!
//! One run over the events, and a binary search for each change of a group. Tops that no group can ask for are dropped, so that there
//! are never many more of them than groups.

use base::sorted::sorted_numbers;

/// What a group does to the peak. All are requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Of the group, at the peak.
    pub at_peak: u64,
    /// The peak without the group.
    pub peak: u64,
    /// The first moment of that peak.
    pub moment: u32,
}

/// The peak without each of some groups, followed change by change.
#[derive(Clone, Debug, Default)]
pub struct PeakWithout {
    /// Live bytes now.
    live: i64,
    groups: Vec<Group>,
    tops: Tops,
    /// The moment whose bytes of groups are wanted, until they are known.
    wanted: Option<u32>,
}

/// A group on the way through the trace.
#[derive(Clone, Copy, Debug)]
struct Group {
    live: i64,
    /// The moment of its last change.
    since: u32,
    /// The most that is live without it, until then, and the first moment of that.
    most: (i64, u32),
    at_peak: i64,
}

impl PeakWithout {
    /// Of so many groups. `peak` is the first moment of the peak.
    pub fn new(groups: usize, peak: u32) -> PeakWithout {
        let mut without =
            PeakWithout { groups: vec![Group::new(); groups], wanted: Some(peak), ..PeakWithout::default() };
        // Where nothing was allocated before the recording, nothing is live at its start.
        without.tops.push(0, 0);
        without
    }

    /// Another group, of which nothing was live so far; its number.
    pub fn grow(&mut self) -> u32 {
        self.groups.push(Group::new());
        self.groups.len() as u32 - 1
    }

    /// At `moment` a group grows by so many bytes: before [`PeakWithout::add`] counts what happens at that moment. Moments never fall.
    #[inline]
    pub fn change(&mut self, group: u32, moment: u32, bytes: i64) {
        self.reach(moment);
        let Some(group) = self.groups.get_mut(group as usize) else { return };
        group.close(&self.tops, moment);
        group.live = group.live.saturating_add(bytes);
    }

    /// At `moment` the live bytes grow by so many: 0 where a group alone has changed.
    #[inline]
    pub fn add(&mut self, moment: u32, bytes: i64) {
        self.reach(moment);
        self.live = self.live.saturating_add(bytes);
        self.tops.push(moment, self.live);
        if self.tops.is_full() {
            // A group that is not there yet has not changed since the start.
            self.tops.drop_all_but(std::iter::once(0).chain(self.groups.iter().map(|group| group.since)));
        }
    }

    /// Before anything happens at a moment: keeps what groups have where that is wanted.
    #[inline]
    fn reach(&mut self, moment: u32) {
        if self.wanted.is_some_and(|wanted| wanted < moment) {
            self.keep();
        }
    }

    #[cold]
    fn keep(&mut self) {
        self.wanted = None;
        self.groups.iter_mut().for_each(|group| group.at_peak = group.live);
    }

    /// What each group does, in their order. The last moment is over.
    pub fn finish(mut self) -> Vec<Without> {
        if self.wanted.is_some() {
            self.keep();
        }
        let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let tops = &self.tops;
        let groups = self.groups.iter_mut().map(|group| {
            group.close(tops, u32::MAX);
            Without { at_peak: bytes(group.at_peak), peak: bytes(group.most.0), moment: group.most.1 }
        });
        groups.collect()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Group>() + self.tops.all.capacity() * size_of::<(u32, i64)>()
    }
}

impl Group {
    fn new() -> Group {
        Group { live: 0, since: 0, most: (i64::MIN, 0), at_peak: 0 }
    }

    /// Its bytes have stayed the same up to before `moment`.
    #[inline]
    fn close(&mut self, tops: &Tops, moment: u32) {
        // Most intervals lie where the most that ever was live would not suffice: they need not be looked at.
        if moment > self.since
            && tops.highest().saturating_sub(self.live) > self.most.0
            && let Some((when, most)) = tops.since(self.since)
        {
            let most = most.saturating_sub(self.live);
            if most > self.most.0 {
                self.most = (most, when);
            }
        }
        self.since = moment;
    }
}

/// Tops kept before the first are dropped.
const FEW: usize = 4096;

/// The moments after which nothing higher has come, with what was live then: ascending moments, totals that never rise.
#[derive(Clone, Debug, Default)]
struct Tops {
    all: Vec<(u32, i64)>,
    /// How many there were after some were dropped.
    kept: usize,
}

impl Tops {
    #[inline]
    fn push(&mut self, moment: u32, live: i64) {
        while self.all.last().is_some_and(|&(when, lower)| lower < live || when == moment) {
            self.all.pop();
        }
        self.all.push((moment, live));
    }

    /// The largest live bytes so far: the first top is always kept.
    #[inline]
    fn highest(&self) -> i64 {
        self.all.first().map_or(i64::MIN, |&(_, live)| live)
    }

    /// The first moment with the largest live bytes from a moment on.
    #[inline]
    fn since(&self, moment: u32) -> Option<(u32, i64)> {
        // Most groups that change have changed a short while ago.
        let mut back = 1;
        while back < self.all.len() && self.all.get(self.all.len() - back).is_some_and(|&(when, _)| when >= moment) {
            back *= 2;
        }
        let from = self.all.len().saturating_sub(back);
        let near = self.all.get(from..).unwrap_or_default();
        near.get(near.partition_point(|&(when, _)| when < moment)).copied()
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.all.len() > FEW + 2 * self.kept
    }

    /// Keeps those that a group can ask for that has not changed since one of these moments, and the last.
    #[cold]
    fn drop_all_but(&mut self, asked: impl Iterator<Item = u32>) {
        let asked = sorted_numbers(asked.map(|since| (u128::from(since), since)).collect());
        let mut wanted = 0;
        let last = self.all.last().copied();
        // The first from each of these moments on.
        self.all.retain(|&top| {
            let before = wanted;
            wanted += asked.get(wanted..).unwrap_or_default().partition_point(|&since| since <= top.0);
            wanted > before || Some(top) == last
        });
        self.kept = self.all.len().max(asked.len());
    }
}
