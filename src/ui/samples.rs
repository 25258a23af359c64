//! Sample snapshots that ship with the page, each with a link that opens its most relevant view.

use super::link::Link;

base::listed! {
    /// A sample snapshot that ships with the page. `./run samples` generates them with `tests/generate/options.rs`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Sample {
        /// An out-of-memory error due to fragmentation, although most reserved memory is free.
        OutOfMemory,
        /// A tensor that is leaked in every step.
        Leak,
        /// Healthy training steps with annotations.
        Training,
        /// A server with a private pool for each CUDA graph.
        Graphs,
    }
}

/// Returns true if an address is that of a sample.
pub(super) fn is_sample(address: &str) -> bool {
    Sample::ALL.into_iter().any(|sample| Link::parse(sample.link()).urls == [address])
}

impl Sample {
    /// Returns the link that opens the sample, with its path relative to the page and the view to show.
    pub(super) fn link(self) -> &'static str {
        match self {
            Sample::OutOfMemory => "url=out-of-memory.pickle.gz",
            Sample::Leak => "url=leak.pickle.gz&stack=site&colour=site&tab=why&topic=leaks",
            Sample::Training => "url=training.pickle.gz&stack=category&colour=category&tab=why&topic=steps",
            Sample::Graphs => "url=cuda-graphs.pickle.gz&stack=pool&colour=pool&tab=why&topic=pools",
        }
    }
}
