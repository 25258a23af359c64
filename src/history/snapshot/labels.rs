//! Event fields that neighboring events usually share: stream, pool, compile context, metadata. Each distinct
//! combination is stored once.

use super::stacks::StackId;
use super::strings::StringId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Index of a combination of labels in the snapshot's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelsId(pub u32);

/// Labels of an event. A field is `None` if the event does not have the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    /// Stream handle, an opaque pointer. 0 is the default stream.
    pub stream: Option<u64>,
    /// Memory pool (since PyTorch 2.11). `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// `torch.compile` region (since PyTorch 2.8). `N/A` outside of any region.
    pub compile_context: Option<StringId>,
    /// Metadata attached by the user (since PyTorch 2.10).
    pub user_metadata: Option<StringId>,
    /// Metadata attached by PyTorch (since PyTorch 2.15).
    pub internal_metadata: Option<StringId>,
    /// Category assigned by `torch.profiler`.
    pub category: Option<StringId>,
    /// Traceback of the forward op (since PyTorch 2.11), as a stack in the snapshot's `lines`.
    pub forward_frames: Option<StackId>,
}

/// Distinct combinations of labels.
#[derive(Default)]
pub struct LabelTable {
    rows: Vec<Labels>,
    ids: HashTable<u32>,
    hasher: RandomState,
    last: u32,
}

base::heap_bytes!(LabelTable: rows, ids);

impl LabelTable {
    /// Returns the id of this combination, which is added if it is new. Returns `None` if the table is full, with 2^32
    /// − 1 combinations.
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

    /// Adds a combination even if the table has an equal one, so that ids are the row numbers of a file. Returns `None`
    /// if the table is full.
    pub fn push(&mut self, labels: Labels) -> Option<LabelsId> {
        let id = u32::try_from(self.rows.len()).ok().filter(|&id| id < u32::MAX)?;
        self.rows.push(labels);
        Some(LabelsId(id))
    }

    /// Creates a table with these rows. Equal rows are not merged.
    pub(super) fn from_rows(rows: Vec<Labels>) -> LabelTable {
        LabelTable { rows, ..LabelTable::default() }
    }

    /// Returns the labels with this id, or labels without any value if the id is out of range.
    pub fn labels(&self, id: LabelsId) -> Labels {
        self.rows.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Returns all combinations, in the order of their ids.
    pub fn rows(&self) -> &[Labels] {
        &self.rows
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
