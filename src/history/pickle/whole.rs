//! What dicts that are read at a stroke are made of: the keys of the one before, and the values as they come.

use super::pile::Pile;

/// Stands for the dict itself among the numbers of its values.
pub(super) const DICT: usize = usize::MAX;

/// The keys of the dict before, and room for what the next one holds.
pub(super) struct Whole<V> {
    pub(super) fetches: Vec<Fetch>,
    pub(super) keys: Vec<V>,
    pub(super) values: Pile<V>,
    /// What goes to the end of the memo, one after another: the value of that number, or [`DICT`].
    pub(super) puts: Pile<usize>,
    /// Trials in vain since the last that was not.
    in_vain: u32,
    /// Dicts to be left to the plain road before the next trial.
    pause: u32,
}

/// After so many trials in vain the dicts are of a kind that can't be read at a stroke: nested, or with floats…
const MOST_IN_VAIN: u32 = 32;
/// …and only each of so many is tried, until one can be.
const PAUSE: u32 = 15;

/// The instruction that fetches a key, as the first of eight bytes.
#[derive(Clone, Copy)]
pub(super) struct Fetch {
    pub(super) bytes: u64,
    pub(super) mask: u64,
    pub(super) length: usize,
}

impl Fetch {
    #[inline(always)]
    pub(super) fn new(bytes: u64, length: usize) -> Fetch {
        let mask = (1 << (8 * length)) - 1;
        Fetch { bytes: bytes & mask, mask, length }
    }
}

impl<V: Copy> Whole<V> {
    pub(super) fn new() -> Self {
        Whole { fetches: Vec::new(), keys: Vec::new(), values: Pile::new(), puts: Pile::new(), in_vain: 0, pause: 0 }
    }

    /// Whether the next dict shall be tried: a trial in vain costs as much as what it read.
    #[inline(always)]
    pub(super) fn is_worth_a_trial(&mut self) -> bool {
        let is_worth_it = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_worth_it
    }

    /// A trial was a success or in vain.
    #[inline(always)]
    pub(super) fn learn_from(&mut self, made: Option<V>) {
        self.in_vain = if made.is_some() { 0 } else { self.in_vain.saturating_add(1) };
        self.pause = if self.in_vain < MOST_IN_VAIN { 0 } else { PAUSE };
    }

    /// A filled memo slot is about to change, and the keys come from there.
    pub(super) fn forget(&mut self) {
        self.fetches.clear();
        self.keys.clear();
    }

    /// The key of this number is another.
    #[cold]
    pub(super) fn learn(&mut self, number: usize, fetch: Fetch, key: V) {
        self.fetches.truncate(number);
        self.keys.truncate(number);
        self.fetches.push(fetch);
        self.keys.push(key);
    }
}
