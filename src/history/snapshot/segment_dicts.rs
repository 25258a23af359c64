//! Interpretation of the dicts of segments, of their blocks, and of the history of blocks.

use super::dicts::fields;
use super::error::{ContentError, Problem};
use super::schema::Key;
use super::segments::{Block, BlockState, Segment};
use super::stacks::StackId;
use super::store::{HistoryEntry, ReadBlock, Store};
use super::strings::StringId;
use super::unknown::{SeenWords, UnknownOwner};
use super::value::{Kind, Value};

impl Store {
    /// Parses a block. A missing address is computed when its segment is parsed.
    pub(super) fn parse_block(&mut self, pairs: &[Value], seen: &mut SeenWords) -> Result<ReadBlock, ContentError> {
        let (mut size, mut requested, mut state, mut address) = (None, None, None, None);
        let (mut stack, mut history) = (StackId::NONE, None);
        for (key, word, value) in fields(pairs) {
            match key {
                Some(Key::Size) => size = Some(self.bytes_at(Key::Size, value)?),
                Some(Key::RequestedSize) => requested = Some(self.bytes_at(Key::RequestedSize, value)?),
                Some(Key::Address) => address = Some(self.address_at(Key::Address, value)?),
                Some(Key::Frames) => stack = self.stack_at(Key::Frames, value)?,
                Some(Key::State) => {
                    let word = self.string_at(Key::State, value)?;
                    state = Some(match Key::from_id(word) {
                        Some(Key::ActiveAllocated) => BlockState::Allocated,
                        Some(Key::ActivePendingFree | Key::ActiveAwaitingFree) => BlockState::AwaitingFree,
                        Some(Key::Inactive) => BlockState::Inactive,
                        _ => {
                            seen.add_unknown(UnknownOwner::State, value, self.blocks.len() as u32);
                            BlockState::Inactive
                        }
                    });
                }
                Some(Key::History) => history = self.newest_history_entry(value)?,
                _ => {
                    seen.add_unknown(UnknownOwner::Block, word, self.blocks.len() as u32);
                    continue;
                }
            }
            if let Some(key) = key {
                seen.mark_key(key);
            }
        }
        let size = size.ok_or_else(|| ContentError::at_key(Key::Size, Problem::Missing))?;
        let state = state.ok_or_else(|| ContentError::at_key(Key::State, Problem::Missing))?;
        if stack == StackId::NONE {
            stack = history.map_or(StackId::NONE, |entry| entry.stack);
        }
        let requested = match (requested, history) {
            (Some(bytes), _) if bytes > 0 => bytes,
            (_, Some(entry)) => entry.real_size,
            (requested, None) => requested.unwrap_or(size),
        };
        let has_address = address.is_some();
        let block = Block { address: address.unwrap_or(0), size, requested, state, stack };
        Ok(ReadBlock { block, has_address })
    }

    /// Returns the newest entry of a block's history, which is the first entry in the list.
    fn newest_history_entry(&self, list: Value) -> Result<Option<HistoryEntry>, ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(ContentError::at_key(Key::History, Problem::Type("a list", list.kind())));
        }
        let Some(first) = self.values(list).next() else { return Ok(None) };
        match first.as_kind(Kind::HistoryEntry) {
            Some(id) => Ok(self.history.get(id as usize).copied()),
            None => Err(ContentError {
                path: format!("{}[0]", Key::History.text()),
                problem: Problem::Type("a history entry", first.kind()),
            }),
        }
    }

    /// Parses an entry of a block's history (PyTorch 1.13 to 2.0).
    pub(super) fn parse_history_entry(
        &mut self,
        pairs: &[Value],
        seen: &mut SeenWords,
    ) -> Result<HistoryEntry, ContentError> {
        let (mut real_size, mut stack) = (None, StackId::NONE);
        for (key, word, value) in fields(pairs) {
            match key {
                Some(Key::RealSize) => real_size = Some(self.bytes_at(Key::RealSize, value)?),
                Some(Key::Frames) => stack = self.stack_at(Key::Frames, value)?,
                Some(Key::Addr) => {}
                _ => seen.add_unknown(UnknownOwner::History, word, self.history.len() as u32),
            }
        }
        let real_size = real_size.ok_or_else(|| ContentError::at_key(Key::RealSize, Problem::Missing))?;
        Ok(HistoryEntry { real_size, stack })
    }

    /// Parses a segment with its blocks.
    pub(super) fn parse_segment(&mut self, pairs: &[Value], seen: &mut SeenWords) -> Result<Segment, ContentError> {
        let mut segment = Segment::new(0);
        let (mut total_size, mut blocks) = (None, None);
        for (key, word, value) in fields(pairs) {
            let Some(key) = key else {
                seen.add_unknown(UnknownOwner::Segment, word, self.segments.len() as u32);
                continue;
            };
            match key {
                Key::Device => segment.device = self.signed_at(key, value)?,
                Key::Address => segment.address = Some(self.address_at(key, value)?),
                Key::TotalSize => total_size = Some(self.bytes_at(key, value)?),
                Key::Stream => segment.stream = Some(self.address_at(key, value)?),
                Key::SegmentType => segment.small = self.string_at(key, value)? == StringId(Key::Small as u32),
                Key::SegmentPoolId => segment.pool = Some(self.pool_at(key, value)?),
                Key::IsExpandable => segment.expandable = self.bool_at(key, value)?,
                Key::Frames => segment.stack = self.stack_at(key, value)?,
                Key::Blocks => blocks = Some(value),
                // Sums over the blocks. They are recomputed, but must be numbers.
                Key::AllocatedSize | Key::ActiveSize | Key::RequestedSize => {
                    self.bytes_at(key, value)?;
                }
                _ => {
                    seen.add_unknown(UnknownOwner::Segment, word, self.segments.len() as u32);
                    continue;
                }
            }
            seen.mark_key(key);
        }
        segment.total_size = total_size.ok_or_else(|| ContentError::at_key(Key::TotalSize, Problem::Missing))?;
        let blocks = blocks.ok_or_else(|| ContentError::at_key(Key::Blocks, Problem::Missing))?;
        segment.blocks = self.segment_blocks(blocks, segment.address)?;
        Ok(segment)
    }

    /// Returns the rows of a segment's blocks, which must be consecutive in the table. Computes missing addresses.
    fn segment_blocks(&mut self, list: Value, address: Option<u64>) -> Result<std::ops::Range<u32>, ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(ContentError::at_key(Key::Blocks, Problem::Type("a list of blocks", list.kind())));
        }
        if let Some((index, other)) = self.first_not_of(list, Kind::Block) {
            let problem = match other.kind() {
                Kind::Dict => {
                    let pairs = self.pairs(other);
                    self.parse_block(&pairs, &mut SeenWords::default()).err()
                }
                _ => None,
            };
            let problem = problem
                .unwrap_or(ContentError { path: String::new(), problem: Problem::Type("a block", other.kind()) });
            return Err(problem.within(&format!("{}[{index}]", Key::Blocks.text())));
        }
        // Blocks are stored in the order of decoding. No writer produces lists with blocks out of order or repeated.
        let Some(first) = self.values(list).next().map(Value::index) else { return Ok(0..0) };
        let mut end = first;
        let in_order = first >= self.blocks_taken
            && self.values(list).map(Value::index).all(|row| {
                end = end.saturating_add(1);
                row.saturating_add(1) == end
            });
        // Set after an error too, so that no list is scanned twice.
        self.blocks_taken = self.blocks_taken.max(end);
        if !in_order {
            return Err(ContentError::at_key(Key::Blocks, Problem::Range("a separate list of blocks")));
        }
        let mut position = address.unwrap_or(0);
        for row in first..end {
            if let Some(read) = self.blocks.get_mut(row as usize) {
                if !read.has_address {
                    read.block.address = position;
                }
                position = read.block.address.wrapping_add(read.block.size);
            }
        }
        Ok(first..end)
    }
}
