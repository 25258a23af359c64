//! Summary of an open file: its devices, warnings and settings, and the heap usage of its tables.

use super::OpenFile;
use crate::recorder_facts;
use base::heap::{self, HeapBytes};
use history::replay::DeviceHistory;
use history::snapshot::{Action, WarningKind};
use protocol::{Backend, DeviceSummary, FileSummary, SCHEMA, Warning};

impl OpenFile {
    pub(crate) fn summary(&self) -> FileSummary {
        let warnings = self.snapshot.warnings.iter().chain(self.warnings.iter());
        FileSummary {
            schema: SCHEMA,
            file: self.name.clone(),
            format: self.format.clone(),
            torch: self.snapshot.torch.map(|(since, _)| format!("{since} or later")),
            warnings: warnings
                .map(|(kind, count, example)| Warning {
                    kind: kind.name().to_owned(),
                    message: self.warning_message(kind),
                    count,
                    example: example.to_owned(),
                })
                .collect(),
            devices: self.histories.iter().map(|history| self.device_summary(history)).collect(),
            settings: self.snapshot.settings.clone(),
            pools: self.groups.named_pools(),
            recorder: self.snapshot.recorder.process_facts(),
        }
    }

    /// Returns the message of a warning. Functions that it names are those for the devices of the file.
    pub(crate) fn warning_message(&self, kind: &WarningKind) -> String {
        let message = kind.message();
        match kind {
            WarningKind::NoStacks | WarningKind::NotRecorded | WarningKind::FromProfiler(_) => {
                message.replace(Backend::Cuda.module(), self.backend.module())
            }
            _ => message,
        }
    }

    fn device_summary(&self, history: &DeviceHistory) -> DeviceSummary {
        let recorder = recorder_facts::recorder_facts(&self.snapshot, history);
        DeviceSummary { recorder, ..device_summary(history, self.backend) }
    }

    /// Returns the heap usage in bytes of each table.
    pub(crate) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.snapshot.heap_bytes();
        bytes.extend(self.histories.iter().flat_map(DeviceHistory::heap_bytes));
        bytes.push(("orders", heap::sum(self.orders.iter().map(|stacked| &stacked.order))));
        let passes = self.backward.heap_bytes() + self.forward.heap_bytes();
        bytes.push(("call sites and colours", self.groups.heap_bytes() + self.sites.heap_bytes() + passes));
        bytes.push(("segments over time", heap::sum(&self.segments)));
        bytes.push(("pictures", self.plots.heap_bytes()));
        bytes.push(("versions", heap::sum(&self.versions)));
        bytes.push(("answers", self.stack_trees.heap_bytes()));
        bytes.push(("search", self.found.heap_bytes()));
        bytes
    }
}

fn device_summary(history: &DeviceHistory, backend: Backend) -> DeviceSummary {
    let numbers = &history.numbers;
    let actions = Action::ALL.iter().zip(history.action_counts);
    DeviceSummary {
        device: history.device,
        backend,
        events: u64::from(history.event_count()),
        loaded: history.loaded().map(|loaded| (loaded.first, loaded.later_events)),
        actions: actions.filter(|&(_, count)| count > 0).map(|(a, count)| (a.name().to_owned(), count)).collect(),
        allocations: numbers.allocations,
        base_requested: numbers.baseline,
        peak_requested: numbers.peak,
        peak_event: numbers.peak_event,
        min_requested: numbers.min,
        mean_requested: numbers.mean,
        median_requested: numbers.median,
        time_weighted_mean_requested: numbers.time_weighted_mean,
        end_requested: numbers.end,
        end_rounded: numbers.end_rounded,
        unmatched_frees: numbers.unmatched_frees,
        unmatched_free_bytes: numbers.unmatched_free_bytes,
        static_blocks: numbers.static_blocks,
        static_requested: numbers.static_bytes,
        identity: numbers.remainder == 0,
        unexplained_requested: u64::try_from(numbers.remainder).unwrap_or(0),
        reserved_start: numbers.reserved_start,
        reserved_end: numbers.reserved_end,
        peak_reserved: numbers.peak_reserved,
        segments: numbers.segments,
        annotations: numbers.annotations,
        time_us: numbers.time_us,
        drawn_peak: numbers.drawn_peak,
        recorder: Vec::new(),
    }
}
