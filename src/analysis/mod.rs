//! History → answers.
