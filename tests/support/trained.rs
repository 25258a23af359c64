//! Generated trainings, open, with the truth of what was written beside them.

use crate::generate::{self, Options, truth::Truth};
use crate::opened::{Opened, open};

/// The training that these words of the generator ask for.
pub(crate) fn generated(words: &str) -> (Opened, Truth) {
    let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    assert_eq!(others, Vec::<String>::new());
    let (bytes, truth) = generate::generate(&options, Vec::new()).unwrap();
    (open(&bytes).unwrap(), truth)
}
