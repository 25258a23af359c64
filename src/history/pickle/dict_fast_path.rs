//! Fast path for dicts without nested dicts, which are read at once from `}` to SETITEMS.
//!
//! Besides stacks, a snapshot consists mostly of entries: dicts of a few numbers and references, with the same keys as
//! the previous one:
//!
//! ```text
//!   }  ␞  (  j 07 01 00 00  j 1c 01 00 00   h 15  M 00 02   h 10  ]  ␞  (  ...  e   u  }
//!            └─── key ────┘ └── value ───┘  └key┘ └value┘   └key┘ └── value ─────┘     the next dict
//! ```
//!
//! The keys are compared with the bytes of the previous dict's keys, the values are collected, and the builder builds
//! the complete dict. No container is opened and the stack is not touched. This is sound for three reasons:
//! - Only values are built until everything was read, including the `}` after the dict, which shows that the dict is
//!   finished.
//! - Only references to finished values are accepted.
//! - Memo slots are written last, and only at the end of the memo. Overwriting a filled slot clears the keys.
//!
//! In all other cases, the general path starts at the same `}`.

use super::builder::Builder;
use super::cursor::Cursor;
use super::dict_cache::{DICT, DictCache, Fetch};
use super::opcode;
use super::open::Kind;
use super::stack::Stack;

impl<B: Builder> Stack<B> {
    /// Tries to read a whole dict after `}`, including SETITEMS. Returns `true` if the fast path applied. Otherwise
    /// consumes nothing.
    #[inline(always)]
    pub(super) fn try_dict_fast_path(&mut self, cursor: &mut Cursor<'_>) -> bool {
        // Errors are left to the general path.
        let has_room = self.has_room_for_batches(2) && self.open.has_room(2, &self.limits);
        if self.limits.fast_dict_pairs == 0 || !has_room || !self.dict_cache.should_try() {
            return false;
        }
        let mut ahead = *cursor;
        let read = self.read_pairs(&mut ahead);
        let DictCache { keys, values, .. } = &self.dict_cache;
        let built = read.and_then(|()| self.builder.build_dict(keys, values));
        self.dict_cache.record_attempt(built);
        let Some(dict) = built else { return false };
        let DictCache { values, puts, .. } = &self.dict_cache;
        for &index in puts.iter() {
            self.memo.push(values.get(index).copied().unwrap_or(dict));
        }
        self.values.push(dict);
        *cursor = ahead;
        true
    }

    /// Reads the keys and values into the cache, without writing to the memo. Returns `None` if the fast path does not
    /// apply.
    #[inline(always)]
    fn read_pairs(&mut self, ahead: &mut Cursor<'_>) -> Option<()> {
        let mut end = self.memo.end()?;
        self.dict_cache.values.truncate(0);
        self.dict_cache.puts.truncate(0);
        // Python writes a container's PUT before its contents, torch's C++ pickler after them.
        self.read_put(ahead, &mut end, DICT)?;
        ahead.expect(opcode::MARK)?;
        let mut index = 0;
        while let Some(next) = ahead.peek_word() {
            match self.dict_cache.fetches.get(index) {
                Some(fetch) if next & fetch.mask == fetch.bytes => ahead.skip(fetch.length),
                _ if next as u8 == opcode::SETITEMS => break,
                _ => {
                    let (slot, length) = ahead.peek_get()?;
                    let key = self.memo.get(slot).filter(|&key| self.builder.open_slot(key).is_none())?;
                    self.dict_cache.set_key(index, Fetch::new(next, length), key);
                    ahead.skip(length);
                }
            }
            if index == self.limits.fast_dict_pairs {
                return None;
            }
            let value = self.read_value(ahead, &mut end, index)?;
            self.dict_cache.values.push(value);
            index += 1;
        }
        ahead.expect(opcode::SETITEMS)?;
        self.dict_cache.fetches.truncate(index);
        self.dict_cache.keys.truncate(index);
        self.read_put(ahead, &mut end, DICT)?;
        // Empty dicts, and dicts that a second batch or APPENDS may follow, are left to the general path.
        (index > 0 && ahead.peek() == Some(opcode::EMPTY_DICT)).then_some(())
    }

    /// Reads the value at `index` and the memo write that may follow it. `end` is the next memo slot. Returns `None` if
    /// the fast path does not apply.
    #[inline(always)]
    fn read_value(&mut self, ahead: &mut Cursor<'_>, end: &mut u32, index: usize) -> Option<B::Value> {
        let builder = &mut self.builder;
        match ahead.peek()? {
            opcode::BINGET | opcode::LONG_BINGET => {
                let (slot, length) = ahead.peek_get()?;
                ahead.skip(length);
                self.memo.get(slot).filter(|&value| builder.open_slot(value).is_none())
            }
            opcode::BININT1 | opcode::BININT2 | opcode::BININT | opcode::LONG1 => {
                let value = builder.int(ahead.integer(self.limits.integer_bytes)?).ok()?;
                // If neither the next key nor the end follows, it can only be the first element of a pair.
                if matches!(ahead.peek()?, opcode::BINGET | opcode::LONG_BINGET | opcode::SETITEMS) {
                    return Some(value);
                }
                let pair = self.read_second(ahead, value)?;
                self.read_put(ahead, end, index)?;
                Some(pair)
            }
            opcode::EMPTY_LIST => {
                ahead.skip(1);
                self.read_put(ahead, end, index)?;
                let list = if ahead.peek() == Some(opcode::MARK) {
                    ahead.skip(1);
                    self.read_slice(ahead)?
                } else {
                    self.empty_list()?
                };
                self.read_put(ahead, end, index)?;
                Some(list)
            }
            code @ (opcode::SHORT_BINUNICODE | opcode::BINUNICODE) => {
                ahead.skip(1);
                let length = match code {
                    opcode::BINUNICODE => usize::try_from(u32::from_le_bytes(ahead.array().ok()?)).ok()?,
                    _ => ahead.byte().ok()?.into(),
                };
                if length > self.limits.string_bytes {
                    return None;
                }
                let text = builder.string(ahead.bytes(length).ok()?).ok()?;
                self.read_put(ahead, end, index)?;
                Some(text)
            }
            code @ (opcode::NONE | opcode::NEWTRUE | opcode::NEWFALSE) => {
                ahead.skip(1);
                match code {
                    opcode::NONE => builder.none().ok(),
                    _ => builder.bool(code == opcode::NEWTRUE).ok(),
                }
            }
            _ => None,
        }
    }

    /// Reads the second element of a pair and TUPLE2. Returns the pair.
    #[inline(never)]
    fn read_second(&mut self, ahead: &mut Cursor<'_>, first: B::Value) -> Option<B::Value> {
        let second = self.builder.int(ahead.integer(self.limits.integer_bytes)?).ok()?;
        ahead.expect(opcode::TUPLE2)?;
        self.builder.tuple(&[first, second]).ok()
    }

    /// Reads a list of references and returns the known list with the same bytes. Unknown lists are left to the general
    /// path, which adds them to the cache.
    #[inline(never)]
    fn read_slice(&mut self, ahead: &mut Cursor<'_>) -> Option<B::Value> {
        if self.limits.slice_bytes == 0 {
            return None;
        }
        let (entry, length) = match self.slices.guess_next(ahead.rest()) {
            Some(known) => known,
            None => {
                let slice = ahead.peek_references()?;
                (self.slices.find(slice)?, slice.len())
            }
        };
        ahead.skip(length);
        self.slices.record(entry);
        self.slices.value(entry)
    }

    /// Reads a memo write for the value at `index`, if there is one. The write must be to the slot `end`, which is then
    /// incremented.
    #[inline(always)]
    fn read_put(&mut self, ahead: &mut Cursor<'_>, end: &mut u32, index: usize) -> Option<()> {
        if !matches!(ahead.peek(), Some(opcode::MEMOIZE | opcode::BINPUT | opcode::LONG_BINPUT)) {
            return Some(());
        }
        let (slot, length) = ahead.peek_put()?;
        if slot.is_some_and(|slot| slot != *end) || *end as usize >= self.limits.memo_slots {
            return None;
        }
        ahead.skip(length);
        self.dict_cache.puts.push(index);
        *end += 1;
        Some(())
    }

    fn empty_list(&mut self) -> Option<B::Value> {
        let slot = self.open.open::<()>(Kind::List, self.values.len(), &self.limits).ok()?;
        self.builder.open_list(slot);
        let list = self.builder.finish(slot).ok();
        self.open.release(slot);
        list
    }
}
