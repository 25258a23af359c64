//! What most events share with their neighbours: stream, pool, compile context, metadata. Each distinct combination stands once.

use super::stacks::StackId;
use super::strings::StringId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A combination of labels of one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelsId(pub u32);

/// The labels of an event; `None` where the file has no such key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    /// The stream's handle: an opaque pointer, 0 is the default stream.
    pub stream: Option<u64>,
    /// The pool (2.11): `(0, 0)` is the default one.
    pub pool: Option<(u64, u64)>,
    /// The torch.compile region (2.8): `N/A` outside one.
    pub compile_context: Option<StringId>,
    /// What the user attached (2.10).
    pub user_metadata: Option<StringId>,
    /// What torch attached (2.15).
    pub internal_metadata: Option<StringId>,
    /// torch.profiler's category.
    pub category: Option<StringId>,
    /// The lines of the forward op's traceback (2.11), as a stack in the snapshot's `lines`.
    pub forward_frames: Option<StackId>,
}

/// All combinations.
#[derive(Default)]
pub struct LabelTable {
    rows: Vec<Labels>,
    ids: HashTable<u32>,
    hasher: RandomState,
    last: u32,
}

impl LabelTable {
    /// The id of this combination. `None` when 2^32 − 1 are held.
    pub fn intern(&mut self, labels: Labels) -> Option<LabelsId> {
        if self.rows.get(self.last as usize) == Some(&labels) {
            return Some(LabelsId(self.last));
        }
        let hash = self.hasher.hash_one(labels);
        let LabelTable { rows, ids, hasher, last } = self;
        if let Some(&id) = ids.find(hash, |&id| rows.get(id as usize) == Some(&labels)) {
            *last = id;
            return Some(LabelsId(id));
        }
        let id = u32::try_from(rows.len()).ok().filter(|&id| id < u32::MAX)?;
        rows.push(labels);
        ids.insert_unique(hash, id, |&id| rows.get(id as usize).map_or(0, |row| hasher.hash_one(row)));
        *last = id;
        Some(LabelsId(id))
    }

    /// The labels with this id; none set for an id of another table.
    pub fn labels(&self, id: LabelsId) -> Labels {
        self.rows.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// All combinations, by id.
    pub fn rows(&self) -> &[Labels] {
        &self.rows
    }

    /// How many combinations there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Labels>() + self.ids.allocation_size()
    }
}
