//! Incremental pickle parser.
//!
//! [`Unpickler`] takes chunks of any size and passes each finished value to a [`Builder`], whose handles are small and
//! `Copy`. It implements Python's opcodes and nothing specific to PyTorch. Opcodes that name or call something are
//! rejected, except for a few constructors of plain values that the builder recognizes (`globals.rs`). Nothing in a
//! file is ever imported or executed.
//!
//! A container is *open* until it is finished. It is finished when an instruction adds it to another container or
//! returns it (APPEND(S), SETITEM(S), TUPLE*, STOP). A dict is also finished when `}` or `]` is pushed directly on top,
//! because the dict cannot be a key. So a list of millions of entries that PyTorch's C++ pickler writes in one batch
//! has one open entry at a time. Finishing a container replaces its handle everywhere: in memo slots, whether PUT came
//! before its contents (Python) or after them (C++), and on the stack, where a container may occur twice (a segment's
//! `frames` that its blocks share).
//!
//! A batch longer than any tuple belongs to the container below its MARK and is passed to that container in parts. So
//! memory grows with the nesting depth, not with the length of a list.

pub mod builder;
mod cursor;
mod dict_cache;
mod dict_fast_path;
pub mod error;
mod fault;
mod globals;
mod inline_stack;
pub mod limits;
mod lines;
mod list_fast_path;
mod memo;
pub mod opcode;
mod open;
mod path;
mod room;
mod slice_cache;
mod stack;
pub mod unpickler;

pub use builder::{Builder, Constructed};
pub use error::{ErrorKind, PickleError};
pub use limits::Limits;
pub use unpickler::Unpickler;
