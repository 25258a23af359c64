//! The snapshots that ship with the page, each with the view that tells its story.

use super::link::Link;

base::listed! {
    /// A snapshot that ships with the page (`./run samples` makes them, by `tests/generate/options.rs`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Sample {
        /// A request that fails while most of what is reserved is free, in pieces.
        OutOfMemory,
        /// A tensor that every step keeps.
        Leak,
        /// Healthy training steps with annotations.
        Training,
        /// A server with a private pool for each CUDA graph.
        Graphs,
    }
}

/// Whether an address is that of a snapshot that ships with the page.
pub(super) fn is_sample(address: &str) -> bool {
    Sample::ALL.into_iter().any(|sample| Link::parse(sample.link()).urls == [address])
}

impl Sample {
    /// The link that opens it: where it lies beside the page, and what is seen of it.
    pub(super) fn link(self) -> &'static str {
        match self {
            Sample::OutOfMemory => "url=out-of-memory.pickle.gz",
            Sample::Leak => "url=leak.pickle.gz&stack=site&colour=site&tab=why&topic=leaks",
            Sample::Training => "url=training.pickle.gz&stack=category&colour=category&tab=why&topic=steps",
            Sample::Graphs => "url=cuda-graphs.pickle.gz&stack=pool&colour=pool&tab=why&topic=pools",
        }
    }
}
