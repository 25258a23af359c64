//! State of the dict fast path: the keys of the previous dict, and buffers for the next one.

use super::pile::Pile;

/// Index that stands for the dict itself among the indices of its values.
pub(super) const DICT: usize = usize::MAX;

/// Keys of the previous dict, and buffers for the next one.
pub(super) struct Whole<V> {
    pub(super) fetches: Vec<Fetch>,
    pub(super) keys: Vec<V>,
    pub(super) values: Pile<V>,
    /// Values to append to the memo, in order: the index of a value, or [`DICT`].
    pub(super) puts: Pile<usize>,
    /// Failed attempts since the last success.
    in_vain: u32,
    /// Dicts that are left to the general path before the next attempt.
    pause: u32,
}

/// Number of failed attempts after which the fast path pauses. The dicts are then probably nested or contain floats.
const MOST_IN_VAIN: u32 = 32;
/// Number of dicts that are skipped during a pause, before each attempt.
const PAUSE: u32 = 15;

/// Instruction that fetches a key, as the first of eight bytes.
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

    /// Returns whether to try the fast path on the next dict. A failed attempt costs as much as the bytes that it read.
    #[inline(always)]
    pub(super) fn is_worth_a_trial(&mut self) -> bool {
        let is_worth_it = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_worth_it
    }

    /// Records whether an attempt succeeded.
    #[inline(always)]
    pub(super) fn learn_from(&mut self, made: Option<V>) {
        self.in_vain = if made.is_some() { 0 } else { self.in_vain.saturating_add(1) };
        self.pause = if self.in_vain < MOST_IN_VAIN { 0 } else { PAUSE };
    }

    /// Forgets the keys, because a filled memo slot is about to change.
    pub(super) fn forget(&mut self) {
        self.fetches.clear();
        self.keys.clear();
    }

    /// Replaces the key at index `number` and drops the later ones.
    #[cold]
    pub(super) fn learn(&mut self, number: usize, fetch: Fetch, key: V) {
        self.fetches.truncate(number);
        self.keys.truncate(number);
        self.fetches.push(fetch);
        self.keys.push(key);
    }
}
