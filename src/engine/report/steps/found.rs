//! The steps of a device, and how they were found.

use crate::open::OpenFile;
use crate::protocol::Span;
use base::units::counted;
use history::replay::DeviceHistory;

/// How steps were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::report) enum How {
    /// There are none.
    #[default]
    Nothing,
    /// Annotations of this name, `#` where they have a number.
    Annotations(String),
    /// From the end of one annotation of this name to the end of the next.
    Between(String),
    /// From one allocation by this stack to the next; so many stacks repeat at the same even intervals.
    Stack(history::snapshot::StackId, u32),
}

/// The steps of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::report) struct Steps {
    /// A step each: from the state before its first event to the one after its last.
    pub(in crate::report) spans: Vec<Span>,
    /// What each is called: its row in [`DeviceHistory::annotations`](history::replay::DeviceHistory::annotations); none where they were
    /// not found by annotations of their own.
    pub(in crate::report) rows: Vec<u32>,
    pub(in crate::report) found: How,
}

/// Steps at the beginning that growth leaves out: they make what stays, optimizer state, gradients and caches.
pub(in crate::report) const WARM_UP: usize = 2;

impl Steps {
    /// The moments that growth per step is measured at, in every report: the end of the last step that warms up, which is the baseline,
    /// and the end of each step after it. Nothing where there is no step after it.
    pub(in crate::report) fn growth_ends(&self) -> Vec<u32> {
        let ends: Vec<u32> = self.spans.iter().skip(WARM_UP - 1).map(|step| step.to).collect();
        if ends.len() > 1 { ends } else { Vec::new() }
    }

    /// What the annotation of this step says, counted from 0; `None` where steps have no annotations of their own.
    pub(in crate::report) fn name(&self, file: &OpenFile, history: &DeviceHistory, number: usize) -> Option<String> {
        let annotation = self.rows.get(number).and_then(|&row| history.annotations.get(row as usize))?;
        Some(file.snapshot.strings.text(annotation.name).to_string())
    }

    /// How they were found, as a sentence.
    pub(in crate::report) fn how(&self) -> String {
        match &self.found {
            How::Nothing => "No steps found: neither annotations nor call stacks repeat at even intervals.".to_owned(),
            How::Annotations(name) => format!("Steps from annotations “{name}”."),
            How::Between(name) => format!("Steps between the ends of annotations “{name}”."),
            How::Stack(_, agreeing) => format!(
                "No step annotations. Steps inferred from {} that repeat at even intervals.",
                counted((*agreeing).into(), "stack")
            ),
        }
    }
}
