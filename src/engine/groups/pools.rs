//! Names of the private pools of a file. They come from the metadata of allocations in the pools (`{"pool": "kv
//! cache"}`), from the code that created the pools, or from the pools' ids.

use super::Groups;
use super::pool_names::{KnownNames, PoolNames};
use crate::origin::{labels_of, stack_of};
use analysis::{IdSet, metadata};
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, Snapshot, StringId};
use protocol::{PoolName, default_pool_name};

/// Maximum length of a pool name, in characters.
const MAX_NAME_LEN: usize = 100;

impl Groups {
    /// Continues collecting the names of pools.
    pub(super) fn name_pools(
        &mut self,
        snapshot: &Snapshot,
        histories: &[DeviceHistory],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let mut names = std::mem::take(&mut self.pool_names);
        let result = self.collect_pool_names(&mut names, snapshot, histories, slice);
        self.pool_names = names;
        result
    }

    fn collect_pool_names(
        &self,
        names: &mut PoolNames,
        snapshot: &Snapshot,
        histories: &[DeviceHistory],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        // The default pool needs no name.
        if names.is_done || !self.pools.iter().any(|&pool| pool != (0, 0)) {
            return Ok(());
        }
        if names.known.is_empty() {
            names.known = vec![KnownNames::default(); self.pools.len()];
            names.stacks = IdSet::with_bound(snapshot.stacks.len());
            for segment in &snapshot.segments {
                names.examine_stack(snapshot, self.pool_number(segment.pool), segment.stack);
            }
        }
        let pool_name = |string: Option<StringId>| {
            let name = metadata::value_of(&snapshot.strings.text(string?), "pool")?;
            Some(name.chars().take(MAX_NAME_LEN).collect::<String>())
        };
        while let Some(labels) = snapshot.labels.rows().get(names.labels) {
            slice.spend(4)?;
            names.labels += 1;
            match (pool_name(labels.user_metadata), labels.pool) {
                (Some(name), Some(pool)) => names.add_name(self.pool_number(Some(pool)), name),
                (Some(_), None) => names.has_unassigned_names = true,
                _ => {}
            }
        }
        while let Some(history) = histories.get(names.device) {
            while !names.is_in_events
                && let Some(ids) = slice.next_range(&mut names.next, history.allocations.len(), 2)?
            {
                for id in ids.map(|id| AllocationId(id as u32)) {
                    let Some(pool) = self.pool(snapshot, history, id).filter(|&pool| pool != (0, 0)) else { continue };
                    let number = self.pool_number(Some(pool));
                    names.examine_stack(snapshot, number, stack_of(snapshot, history, id));
                    if names.has_unassigned_names
                        && let Some(name) = pool_name(labels_of(snapshot, history, id).user_metadata)
                    {
                        names.add_name(number, name);
                    }
                }
            }
            if !names.is_in_events {
                (names.is_in_events, names.next) = (true, 0);
            }
            // A segment is requested from the driver with the metadata of the allocation that needs it.
            let events = if names.has_unassigned_names { history.event_count() as usize } else { 0 };
            while let Some(part) = slice.next_range(&mut names.next, events, 1)? {
                for event in part.map(|event| event as u32) {
                    if !matches!(history.events.action(event), Action::SegmentAlloc | Action::SegmentMap) {
                        continue;
                    }
                    let labels = snapshot.labels.labels(history.events.labels(event));
                    let (address, _) = history.address_and_size(base::units::EventIdx(event));
                    let segment = self.segment_at(history.device, address).map(|index| index as usize);
                    let pool = segment.and_then(|index| snapshot.segments.get(index)).and_then(|segment| segment.pool);
                    if let (Some(name), None) = (pool_name(labels.user_metadata), labels.pool) {
                        names.add_name(self.pool_number(pool), name);
                    }
                }
            }
            (names.device, names.next, names.is_in_events) = (names.device + 1, 0, false);
        }
        names.stacks = IdSet::default();
        names.is_done = true;
        Ok(())
    }

    pub(crate) fn pool_label(&self, pool: (u64, u64)) -> String {
        let number = self.pool_number(Some(pool));
        let known = number.checked_sub(1).and_then(|index| self.pool_names.known.get(index as usize));
        let by_id = default_pool_name(pool);
        let name = known.filter(|_| pool != (0, 0)).and_then(|known| {
            let named = known.from_metadata.as_ref().and_then(|named| named.as_ref().ok());
            named.map(String::as_str).or(known.from_code)
        });
        match name {
            Some(name) => [name, ", ", &by_id].concat(),
            None => by_id,
        }
    }

    /// Returns the labels of the private pools of the file, up to [`MAX_NAMED`].
    pub(crate) fn named_pools(&self) -> Vec<PoolName> {
        let private = self.pools.iter().filter(|&&pool| pool != (0, 0)).take(MAX_NAMED);
        private.map(|&pool| PoolName { pool, name: self.pool_label(pool) }).collect()
    }
}

/// Maximum number of pools that are named in the summary. Real processes have few.
const MAX_NAMED: usize = 1000;
