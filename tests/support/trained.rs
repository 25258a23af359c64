//! Generated training runs, opened, with the generator's expected values.

use crate::generate::{self, Options, expected::Expected};
use crate::opened::{Opened, open};

/// Generates and opens a training run from the generator's command-line options.
pub(crate) fn generated(words: &str) -> (Opened, Expected) {
    let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    assert_eq!(others, Vec::<String>::new());
    let (bytes, truth) = generate::generate(&options, Vec::new()).unwrap();
    (open(&bytes).unwrap(), truth)
}
