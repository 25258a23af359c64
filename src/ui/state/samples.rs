//! Sample snapshots that ship with the page, each with a link that opens its most relevant view.

use crate::state::link::Link;

base::listed! {
    /// A sample snapshot that ships with the page. `./run samples` generates them with `tests/generate/options.rs`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Sample {
        /// An out-of-memory error caused by fragmentation: most of the reserved memory is free.
        OutOfMemory,
        /// A tensor that is leaked in every step.
        Leak,
        /// Healthy training steps with annotations.
        Training,
        /// An inference server with a private memory pool for each CUDA graph.
        Graphs,
    }
}

/// Returns whether an address belongs to a sample.
pub(crate) fn is_sample(address: &str) -> bool {
    Sample::ALL.into_iter().any(|sample| Link::parse(sample.link()).urls == [address])
}

impl Sample {
    /// Returns the link that opens the sample: a path relative to the page, and the view to show.
    pub(crate) fn link(self) -> &'static str {
        match self {
            Sample::OutOfMemory => "url=out-of-memory.pickle.gz",
            Sample::Leak => "url=leak.pickle.gz&stack=site&colour=site&tab=why&topic=leaks",
            Sample::Training => "url=training.pickle.gz&stack=category&colour=category&tab=why&topic=steps",
            Sample::Graphs => "url=cuda-graphs.pickle.gz&stack=pool&colour=pool&tab=why&topic=pools",
        }
    }
}
