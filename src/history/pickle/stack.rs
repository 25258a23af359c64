//! State of the unpickler: stack, marks, memo and open containers. It has one method per opcode.
//!
//! ```text
//!   stack    … │ list │ item item │ dict │ key value key value …
//!                     ▲                  ▲
//!   marks             mark               mark: values below it cannot be accessed until the batch ends
//! ```

mod containers;

use super::builder::Builder;
use super::cursor::Cursor;
use super::dict_cache::DictCache;
use super::error::ErrorKind;
use super::fault::{Fault, TOP, fault};
use super::inline_stack::InlineStack;
use super::limits::Limits;
use super::memo::Memo;
use super::open::{Kind, OpenContainers};
use super::slice_cache::SliceCache;

/// Start of a batch of values, as set by MARK.
pub(super) struct Mark {
    /// Position of the batch's first value on the stack.
    pub(super) at: usize,
    /// True if part of the batch was already passed to the container below. The rest must be passed to this container
    /// too.
    pub(super) is_partly_passed: bool,
    /// Height of the stack at which [`Stack::pass_long_batch`] is called next. Stored per batch, so that the check is
    /// not repeated after each nested batch.
    pub(super) next_room_check: usize,
}

/// Result of an operation. The error is boxed, so that the result fits into a register.
pub(super) type StackResult<B, T = ()> = Result<T, Box<Fault<<B as Builder>::Error>>>;

pub(super) struct Stack<B: Builder> {
    pub(super) builder: B,
    pub(super) limits: Limits,
    pub(super) values: InlineStack<B::Value>,
    pub(super) marks: Vec<Mark>,
    pub(super) open: OpenContainers,
    pub(super) memo: Memo<B::Value>,
    pub(super) slices: SliceCache<B::Value>,
    pub(super) dict_cache: DictCache<B::Value>,
    /// Buffer for the values of the slice that is being read.
    pub(super) scratch: InlineStack<B::Value>,
    /// Position of the last mark, or 0.
    pub(super) batch_start: usize,
    /// Height of the stack at which [`Stack::pass_long_batch`] is called before a push: the last mark's
    /// [`Mark::next_room_check`], or [`Stack::base_room_check`] if there is no mark.
    pub(super) next_room_check: usize,
    /// Height of the stack at which [`Stack::pass_long_batch`] is called if there is no mark.
    pub(super) base_room_check: usize,
}

impl<B: Builder> Stack<B> {
    pub(super) fn new(builder: B, limits: Limits) -> Self {
        let (values, marks, open, memo) = (InlineStack::new(), Vec::new(), OpenContainers::new(), Memo::new());
        let (slices, scratch) = (SliceCache::new(), InlineStack::new());
        Stack {
            builder,
            limits,
            values,
            marks,
            open,
            memo,
            slices,
            dict_cache: DictCache::new(),
            scratch,
            batch_start: 0,
            next_room_check: limits.tuple_items,
            base_room_check: limits.tuple_items,
        }
    }

    /// Pushes the value that `build` returns.
    #[inline]
    pub(super) fn push_built(&mut self, build: impl FnOnce(&mut B) -> Result<B::Value, B::Error>) -> StackResult<B> {
        match build(&mut self.builder) {
            Ok(value) => self.push(value),
            Err(error) => Err(fault(ErrorKind::Builder(error), TOP)),
        }
    }

    pub(super) fn mark(&mut self) -> StackResult<B> {
        // A mark without a container below it belongs to a tuple. Deeper nesting than the limit on containers is
        // malicious.
        if self.marks.len() >= self.limits.open_containers {
            let kind = ErrorKind::Limit { what: "nested batches", max: self.limits.open_containers };
            return Err(fault(kind, TOP));
        }
        let position = self.values.len();
        self.marks.push(Mark {
            at: position,
            is_partly_passed: false,
            next_room_check: position + self.limits.tuple_items,
        });
        self.update_batch_start();
        Ok(())
    }

    /// Handles EMPTY_DICT. If the fast path applies, reads the complete dict at once.
    #[inline(always)]
    pub(super) fn begin_dict(&mut self, cursor: &mut Cursor<'_>) -> StackResult<B> {
        self.prepare()?;
        if self.try_dict_fast_path(cursor) { Ok(()) } else { self.begin(Kind::Dict) }
    }

    /// Handles EMPTY_LIST and EMPTY_SET, and constructors of empty containers.
    pub(super) fn begin_new(&mut self, kind: Kind) -> StackResult<B> {
        self.prepare()?;
        self.begin(kind)
    }

    /// Prepares the stack for a new container: finishes a complete dict on top, and passes on a long batch.
    #[inline(always)]
    fn prepare(&mut self) -> StackResult<B> {
        // A dict directly below cannot be a key and cannot change any more, so it is complete. (A list directly below
        // may still take this container by APPEND.)
        if let Some(top) = self.values.len().checked_sub(1).filter(|&top| top >= self.batch_start)
            && let Some(number) = self.open_at(top)
            && self.open.get(number).is_some_and(|below| below.kind == Kind::Dict)
        {
            self.finish(number, top)?;
        }
        self.pass_long_batch_if_due()
    }

    fn begin(&mut self, kind: Kind) -> StackResult<B> {
        let position = self.values.len();
        let slot = self.open.open(kind, position, &self.limits).map_err(|kind| fault(kind, position))?;
        match kind {
            Kind::List => self.builder.open_list(slot),
            Kind::Dict => self.builder.open_dict(slot),
        }
        self.values.push(self.builder.open_handle(slot));
        Ok(())
    }

    /// Handles LIST or DICT of protocol 0, which must directly follow MARK. The items are added one by one later.
    pub(super) fn begin_at_mark(&mut self, kind: Kind) -> StackResult<B> {
        let mark = self.pop_mark()?;
        if mark.is_partly_passed || mark.at < self.values.len() {
            return Err(fault(ErrorKind::NotEmpty, mark.at));
        }
        self.prepare()?;
        self.begin(kind)
    }

    /// Handles APPEND or SETITEM: passes the `count` topmost values to the container below them, which must be of
    /// `kind`.
    pub(super) fn pass_top(&mut self, kind: Kind, count: usize) -> StackResult<B> {
        let from = self.top_position(count + 1)? + 1;
        self.pass_from(kind, from)
    }

    /// Handles APPENDS, ADDITEMS or SETITEMS: passes all values above the last MARK to the container below it, which
    /// must be of `kind`.
    pub(super) fn pass_batch(&mut self, kind: Kind) -> StackResult<B> {
        let (from, floor) = match self.marks.as_slice() {
            [.., before, mark] => (mark.at, before.at),
            [mark] => (mark.at, 0),
            [] => return Err(fault(ErrorKind::NoMark, TOP)),
        };
        if from <= floor {
            return Err(fault(ErrorKind::TooFewValues, TOP));
        }
        // The mark is popped last, because the path of an error depends on it.
        self.pass_from(kind, from)?;
        self.pop_mark().map(drop)
    }

    /// Handles TUPLE and FROZENSET: builds a tuple of all values above the last MARK.
    pub(super) fn tuple_batch(&mut self) -> StackResult<B> {
        let mark = self.pop_mark()?;
        if mark.is_partly_passed || self.values.len() - mark.at > self.limits.tuple_items {
            let kind = ErrorKind::Limit { what: "values in one tuple", max: self.limits.tuple_items };
            return Err(fault(kind, mark.at));
        }
        self.tuple_from(mark.at)
    }

    /// Handles EMPTY_TUPLE, TUPLE1, TUPLE2 and TUPLE3: builds a tuple of the `count` topmost values.
    #[inline]
    pub(super) fn tuple(&mut self, count: usize) -> StackResult<B> {
        let from = self.top_position(count)?;
        self.tuple_from(from)
    }

    pub(super) fn memoize(&mut self) -> StackResult<B> {
        // Slots beyond u32 do not exist, and the memo's own limit rejects them.
        self.put(u32::try_from(self.memo.filled_slots()).unwrap_or(u32::MAX))
    }

    #[inline]
    pub(super) fn put(&mut self, slot: u32) -> StackResult<B> {
        let top = self.top_position(1)?;
        let Some(&value) = self.values.get(top) else { return Ok(()) };
        if let Some(number) = self.builder.open_slot(value)
            && let Some(open) = self.open.get_mut(number)
        {
            open.slots.push(slot);
        }
        if self.memo.get(slot).is_some() {
            self.clear_slices();
            self.dict_cache.forget();
        }
        self.memo.put(slot, value, &self.limits).map_err(|kind| fault(kind, top))
    }

    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> StackResult<B> {
        match self.memo.get(slot) {
            Some(value) => match self.builder.open_slot(value) {
                None => self.push(value),
                Some(number) => self.push_copy(value, number),
            },
            None => Err(fault(ErrorKind::EmptyMemoSlot(slot), TOP)),
        }
    }

    /// Handles consecutive BINGETs and LONG_BINGETs, as long as they fetch finished values and the stack has room.
    /// Lists of memo references make up nearly all of a snapshot.
    #[inline(always)]
    pub(super) fn get_many(&mut self, cursor: &mut Cursor<'_>) {
        while let Some((slot, length)) = cursor.peek_get() {
            match self.memo.get(slot) {
                Some(value) if self.builder.open_slot(value).is_none() && self.values.len() < self.next_room_check => {
                    self.values.push(value);
                    cursor.skip(length);
                }
                _ => return,
            }
        }
    }

    /// Handles STOP: finishes and returns the topmost value.
    pub(super) fn stop(&mut self) -> StackResult<B, B::Value> {
        let top = self.top_position(1)?;
        if let Some(number) = self.open_at(top) {
            self.finish(number, top)?;
        }
        self.values.pop().ok_or_else(|| fault(ErrorKind::TooFewValues, TOP))
    }

    /// Returns the slot of the open container at `position` of the stack, if there is one.
    pub(super) fn open_at(&self, position: usize) -> Option<u32> {
        self.builder.open_slot(*self.values.get(position)?)
    }

    #[inline]
    fn push(&mut self, value: B::Value) -> StackResult<B> {
        self.pass_long_batch_if_due()?;
        self.values.push(value);
        Ok(())
    }

    /// Pushes another reference to an open container. Outside the container, this is valid (a list that is also the
    /// value of an earlier key, a frame that occurs twice in a stack), because finishing the container replaces all
    /// references. Inside the container, it is an error, because the container would contain itself.
    #[cold]
    fn push_copy(&mut self, value: B::Value, number: u32) -> StackResult<B> {
        self.pass_long_batch_if_due()?;
        let position = self.values.len();
        if let Some(open) = self.open.get_mut(number) {
            if self.marks.binary_search_by_key(&(open.position + 1), |mark| mark.at).is_ok() {
                return Err(fault(ErrorKind::ContainsItself, position));
            }
            open.copies.push(position);
        }
        self.values.push(value);
        Ok(())
    }

    /// Returns the position of the lowest of the `count` topmost values.
    #[inline]
    pub(super) fn top_position(&self, count: usize) -> StackResult<B, usize> {
        match self.values.len().checked_sub(count) {
            Some(position) if position >= self.batch_start => Ok(position),
            _ => Err(fault(ErrorKind::TooFewValues, TOP)),
        }
    }

    fn pop_mark(&mut self) -> StackResult<B, Mark> {
        let mark = self.marks.pop().ok_or_else(|| fault(ErrorKind::NoMark, TOP))?;
        self.update_batch_start();
        Ok(mark)
    }

    pub(super) fn update_batch_start(&mut self) {
        self.batch_start = self.marks.last().map_or(0, |mark| mark.at);
        let room = self.marks.last().map_or(self.base_room_check, |mark| mark.next_room_check);
        self.next_room_check = room.min(self.limits.stack_values);
    }
}
