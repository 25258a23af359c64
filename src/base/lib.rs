//! What every layer speaks in: bytes and event numbers with their one text form, columns, sorting, slices of time.

// Functions that stay small where many meet in one.
pub mod apart;

// A table column that grows by chunks, never by doubling.
pub mod column;

// Enumerations that know all their variants.
pub mod listed;

// The time that work has before it is called again.
pub mod slice;

// The order of names with numbers in them.
pub mod natural;

// One sort for everything that is small or rare.
pub mod sorted;

// Bytes, event indices and moments, and their one text form.
pub mod units;
