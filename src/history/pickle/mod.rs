//! Incremental pickle parser.
//!
//! [`Machine`] is fed chunks of any size and passes each finished value to a [`Builder`], whose handles are small and
//! `Copy`. It knows Python's opcodes and nothing about torch. Opcodes that name, import or call something are rejected.
//! A snapshot has none, and nothing in a file is ever executed.
//!
//! A container is *open* until it is finished. It is finished when its parent takes it (APPEND(S), SETITEM(S), TUPLE*,
//! STOP). A dict is also finished when `}` or `]` is pushed directly on top, where the dict cannot be a key. A list of
//! millions of entries that torch's C++ pickler writes in one batch therefore has one open entry at a time. Finishing a
//! container writes its handle to every place that refers to it: memo slots, whether PUT came before its contents
//! (Python) or after them (C++), and the stack, where a container may occur twice before it is taken (a segment's
//! `frames` that its blocks share).
//!
//! A batch longer than any tuple belongs to the container below its MARK and is passed to it in parts. Memory grows
//! with the nesting depth, not with the length of a list.

pub mod builder;
mod cursor;
mod dict_cache;
mod dict_fast_path;
pub mod error;
mod fault;
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

pub use builder::Builder;
pub use error::{ErrorKind, PickleError};
pub use limits::Limits;
pub use unpickler::Unpickler;
