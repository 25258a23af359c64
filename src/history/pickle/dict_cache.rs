//! State of the dict fast path: the keys of the previous dict, and buffers for the next one.

use super::inline_stack::InlineStack;

/// Entry in [`DictCache::puts`] for the dict itself instead of one of its values.
pub(super) const DICT: usize = usize::MAX;

/// Keys of the previous dict, and buffers for the next one.
pub(super) struct DictCache<V> {
    pub(super) fetches: Vec<Fetch>,
    pub(super) keys: Vec<V>,
    pub(super) values: InlineStack<V>,
    /// Values to append to the memo, in order: the index of a value, or [`DICT`].
    pub(super) puts: InlineStack<usize>,
    /// Number of times that the fast path failed since it last succeeded.
    failed_attempts: u32,
    /// Number of dicts to read without the fast path before it is tried again.
    dicts_to_skip: u32,
}

/// Number of failures after which the fast path pauses. The dicts are then probably nested or contain floats.
const MAX_FAILED_ATTEMPTS: u32 = 32;
/// Number of dicts to read without the fast path during a pause, before each new attempt.
const DICTS_PER_PAUSE: u32 = 15;

/// Instruction that fetches a key from the memo, as a masked word. The next eight input bytes are compared with it at
/// once.
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

impl<V: Copy> DictCache<V> {
    pub(super) fn new() -> Self {
        DictCache {
            fetches: Vec::new(),
            keys: Vec::new(),
            values: InlineStack::new(),
            puts: InlineStack::new(),
            failed_attempts: 0,
            dicts_to_skip: 0,
        }
    }

    /// Returns whether to try the fast path on the next dict. After a failed attempt, the dict must be read again.
    #[inline(always)]
    pub(super) fn should_try(&mut self) -> bool {
        let is_worth_it = self.dicts_to_skip == 0;
        self.dicts_to_skip = self.dicts_to_skip.saturating_sub(1);
        is_worth_it
    }

    /// Records the result of the fast path: the dict, or `None` if it failed.
    #[inline(always)]
    pub(super) fn record_attempt(&mut self, dict: Option<V>) {
        self.failed_attempts = if dict.is_some() { 0 } else { self.failed_attempts.saturating_add(1) };
        self.dicts_to_skip = if self.failed_attempts < MAX_FAILED_ATTEMPTS { 0 } else { DICTS_PER_PAUSE };
    }

    /// Clears the keys. Called before a filled memo slot changes, because the keys are identified by their slots.
    pub(super) fn forget(&mut self) {
        self.fetches.clear();
        self.keys.clear();
    }

    /// Replaces the key at `index` and drops all keys after it.
    #[cold]
    pub(super) fn set_key(&mut self, index: usize, fetch: Fetch, key: V) {
        self.fetches.truncate(index);
        self.keys.truncate(index);
        self.fetches.push(fetch);
        self.keys.push(key);
    }
}
