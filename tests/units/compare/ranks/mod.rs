//! Comparing ranks.
