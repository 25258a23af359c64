//! References to constructors of plain values, such as `collections.OrderedDict`, and what stands for their results.
//!
//! The builder knows the constructors by name. Nothing is imported or called: an empty dict takes the place of
//! `OrderedDict()`, and an integer that of a NumPy number. Every other name is an error.

use super::builder::{Builder, Constructed};
use super::error::ErrorKind;
use super::fault::{TOP, fault};
use super::opcode::UnsupportedReason;
use super::open::Kind;
use super::stack::{Stack, StackResult};

impl<B: Builder> Stack<B> {
    /// Handles GLOBAL: pushes a reference to a known constructor.
    #[cold]
    #[inline(never)]
    pub(super) fn global(&mut self, module: &str, name: &str) -> StackResult<B> {
        match self.builder.global(module, name, self.values.last().copied()) {
            Some(constructor) => self.push_built(|_| Ok(constructor)),
            None => Err(fault(ErrorKind::Import(format!("{module}.{name}").escape_debug().to_string()), TOP)),
        }
    }

    /// Handles STACK_GLOBAL: as GLOBAL, with module and name on the stack.
    #[cold]
    #[inline(never)]
    pub(super) fn stack_global(&mut self) -> StackResult<B> {
        let at = self.top_position(2)?;
        let finished = |position: usize| self.values.get(position).filter(|_| self.open_at(position).is_none());
        let text = |position: usize| finished(position).and_then(|&value| self.builder.key_text(value));
        let (module, name) = text(at).zip(text(at + 1)).unwrap_or_default();
        self.values.truncate(at);
        self.global(&module, &name)
    }

    /// Handles REDUCE and NEWOBJ: replaces a constructor and its arguments by what the constructor returns.
    #[cold]
    #[inline(never)]
    pub(super) fn construct(&mut self) -> StackResult<B> {
        let at = self.top_position(2)?;
        let are_finished = self.open_at(at).is_none() && self.open_at(at + 1).is_none();
        let constructed = match (self.values.get(at), self.values.get(at + 1)) {
            (Some(&constructor), Some(&arguments)) if are_finished => self.builder.construct(constructor, arguments),
            _ => None,
        };
        let constructed = constructed.ok_or_else(|| fault(ErrorKind::Unsupported(UnsupportedReason::Code), TOP))?;
        self.values.truncate(at);
        let kind = match constructed {
            Constructed::Value(value) => return self.push_built(|_| Ok(value)),
            Constructed::List => Kind::List,
            Constructed::Dict => Kind::Dict,
        };
        self.begin_new(kind)
    }

    /// Handles BINPERSID: replaces the name of a value that is stored outside of the pickle by None.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_out_external(&mut self) -> StackResult<B> {
        let at = self.top_position(1)?;
        if let Some(number) = self.open_at(at) {
            self.finish(number, at)?;
        }
        self.values.truncate(at);
        self.push_built(B::none)
    }

    /// Handles BUILD: drops the state of a value. It has attributes of a subclass, or the byte order of a NumPy type.
    #[cold]
    #[inline(never)]
    pub(super) fn set_state(&mut self) -> StackResult<B> {
        let at = self.top_position(2)?;
        if let Some(number) = self.open_at(at + 1) {
            self.finish(number, at + 1)?;
        }
        if self.open_at(at).is_none()
            && let (Some(&value), Some(&state)) = (self.values.get(at), self.values.get(at + 1))
        {
            let built = self.builder.with_state(value, state);
            let built = built.ok_or_else(|| fault(ErrorKind::Unsupported(UnsupportedReason::Code), at))?;
            if let Some(place) = self.values.get_mut(at) {
                *place = built;
            }
        }
        self.values.truncate(at + 1);
        Ok(())
    }
}
