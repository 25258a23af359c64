//! Free bytes by pool, size class and stream, for the reasons why a request could not use them.

use hashbrown::HashMap;
use history::replay::SegmentKind;

/// Reasons why free bytes did not serve a request. The first that holds counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The free bytes belong to another memory pool.
    Pool,
    /// The free bytes are reserved for small blocks and the request is large, or the other way round.
    SizeClass,
    Stream,
    #[default]
    /// The free blocks are too small, or `max_split_size` does not allow to split them.
    TooSmall,
}

impl Reason {
    pub(crate) const ALL: [Reason; 4] = [Reason::Pool, Reason::SizeClass, Reason::Stream, Reason::TooSmall];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Reason::Pool => "another pool",
            Reason::SizeClass => "another size class",
            Reason::Stream => "another stream",
            Reason::TooSmall => "too small or not allowed",
        }
    }

    /// Returns the words after a number of bytes in a sentence.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Reason::Pool => " in another pool",
            Reason::SizeClass => " in the other size class (small or large)",
            Reason::Stream => " of another stream",
            Reason::TooSmall => " too small or not allowed",
        }
    }
}

/// Kinds of segments, and their free bytes.
pub(super) struct Kinds {
    kinds: Vec<SegmentKind>,
    /// For each kind: the groups of all kinds of its pool, of its pool and size class, and of these and its stream.
    groups: Vec<[u32; 3]>,
    /// Free bytes by group.
    free: Vec<u64>,
    total: u64,
}

impl Kinds {
    /// Numbers the groups. Unknown pools and streams count as the default ones.
    pub(super) fn new(kinds: &[SegmentKind]) -> Kinds {
        let mut index: HashMap<SegmentKind, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut number = |kind: SegmentKind| {
            let new = index.len() as u32;
            *index.entry(kind).or_insert(new)
        };
        let mut groups = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let pool = Some(kind.pool.unwrap_or_default());
            // No group of streams lacks the stream, so that the other groups can use it.
            let whole = SegmentKind { pool, stream: None, small: false, expandable: false };
            let class = SegmentKind { small: kind.small, expandable: true, ..whole };
            let stream = Some(kind.stream.unwrap_or_default());
            groups.push([number(whole), number(class), number(SegmentKind { stream, ..class })]);
        }
        Kinds { kinds: kinds.to_vec(), groups, free: vec![0; index.len()], total: 0 }
    }

    /// Returns whether memory of both kinds serves the same requests.
    pub(super) fn serve_same(&self, one: u32, other: u32) -> bool {
        one == other || self.groups_of(one) == self.groups_of(other)
    }

    pub(super) fn kind(&self, kind: u32) -> Option<&SegmentKind> {
        self.kinds.get(kind as usize)
    }

    /// Number of groups.
    pub(super) fn group_count(&self) -> usize {
        self.free.len()
    }

    /// Returns the group of all kinds that serve the same requests as `kind`.
    pub(super) fn stream_group(&self, kind: u32) -> usize {
        self.groups_of(kind).map_or(0, |[.., group]| group as usize)
    }

    fn groups_of(&self, kind: u32) -> Option<[u32; 3]> {
        self.groups.get(kind as usize).copied()
    }

    pub(super) fn add(&mut self, kind: u32, bytes: u64) {
        self.update(kind, |free| free.saturating_add(bytes));
    }

    pub(super) fn subtract(&mut self, kind: u32, bytes: u64) {
        self.update(kind, |free| free.saturating_sub(bytes));
    }

    fn update(&mut self, kind: u32, change: impl Fn(u64) -> u64) {
        self.total = change(self.total);
        let Some(groups) = self.groups.get(kind as usize) else { return };
        for &group in groups {
            if let Some(free) = self.free.get_mut(group as usize) {
                *free = change(*free);
            }
        }
    }

    /// Returns the free bytes that a request for memory of this kind could not use, by [`Reason`].
    pub(super) fn unusable(&self, kind: u32) -> [u64; 4] {
        let free = |group: u32| self.free.get(group as usize).copied().unwrap_or(0);
        let [pool, class, stream] = self.groups_of(kind).map_or([0; 3], |groups| groups.map(free));
        [self.total.saturating_sub(pool), pool.saturating_sub(class), class.saturating_sub(stream), stream]
    }

    /// Returns why a request for memory of kind `wanted` could not use free bytes of kind `free`.
    pub(super) fn reason(&self, wanted: u32, free: u32) -> Reason {
        let [wanted, free] = [wanted, free].map(|kind| self.groups_of(kind).unwrap_or_default());
        let differs = (0..3).find(|&level| wanted.get(level) != free.get(level));
        Reason::ALL[differs.unwrap_or(3)]
    }
}
