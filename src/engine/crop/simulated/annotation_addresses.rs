//! Simulated addresses of the allocations that annotations refer to.

use allocator::Recording;
use allocator::recording::{Step, What};
use allocator::simulation::Traced;
use allocator::trace::Deeds;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::Action;

/// Simulated addresses of live allocations, by recorded address. They replace the addresses in annotations. `None` if
/// the trace has no annotations.
#[derive(Default)]
pub(super) struct AnnotationAddresses(Option<HashMap<u64, u64, RandomState>>);

impl AnnotationAddresses {
    pub(super) fn start(&mut self, history: &DeviceHistory, traced: &Traced<'_>) {
        let annotate = Action::ALL.iter().position(|action| *action == Action::Annotate);
        let count = annotate.and_then(|index| history.action_counts.get(index)).copied().unwrap_or(0);
        self.0 = (count > 0).then(|| {
            let early = traced.recording.early.iter().map(|early| early.allocation);
            let known = early.map(|number| {
                let block = traced.trace.run().block(number);
                (traced.recording.allocations.at(number as usize).address, block.map_or(0, |block| block.address))
            });
            known.collect()
        });
    }

    pub(super) fn update(&mut self, recording: &Recording, step: Step, deeds: &Deeds) {
        if let (Some(live), What::Alloc(number), Some((_, address))) = (&mut self.0, step.what, deeds.subject) {
            live.insert(recording.allocations.at(number as usize).address, address);
        }
    }

    /// Returns the simulated address for a recorded address, or the same address if none is known.
    pub(super) fn address(&self, recorded: u64) -> u64 {
        self.0.as_ref().and_then(|live| live.get(&recorded)).copied().unwrap_or(recorded)
    }
}
