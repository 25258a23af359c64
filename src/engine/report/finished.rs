//! Finished reports of an open file. A cache file contains them, so that its insights are shown at once.

use protocol::{Report, ReportQuestion, decode, encode};

/// Maximum number of reports that are kept. It is enough for all insights of a device, with and without simulations.
const MAX_REPORTS: usize = 64;
/// Maximum length of the encoded reports, in bytes. It fits in a section of a cache file.
const MAX_ENCODED: usize = 2 << 20;

/// A finished report, with the ordinal of its device and its question.
type Finished = (i64, ReportQuestion, Report);

/// The first reports of an open file. They are valid for the rules under which they were made.
#[derive(Default)]
pub(crate) struct FinishedReports {
    reports: Vec<Finished>,
    /// Encoded reports that are not decoded yet.
    encoded: Vec<u8>,
}

base::heap_bytes!(FinishedReports: reports, encoded);

impl FinishedReports {
    /// Returns the reports that [`FinishedReports::encode`] has encoded. They are decoded when the first one is needed,
    /// by code that the page fetches later.
    pub(crate) fn encoded(encoded: Vec<u8>) -> FinishedReports {
        FinishedReports { encoded, ..FinishedReports::default() }
    }

    /// Returns the report for a question, if it is known.
    pub(super) fn find(&mut self, device: i64, question: &ReportQuestion) -> Option<&Report> {
        if !self.encoded.is_empty() {
            self.reports = decode(&std::mem::take(&mut self.encoded)).unwrap_or_default();
        }
        let is_same = |(of, asked, _): &&Finished| *of == device && asked == question;
        self.reports.iter().find(is_same).map(|(.., report)| report)
    }

    /// Keeps a report, unless there are too many.
    pub(super) fn add(&mut self, device: i64, question: &ReportQuestion, report: &Report) {
        if self.reports.len() < MAX_REPORTS {
            self.reports.push((device, question.clone(), report.clone()));
        }
    }

    /// Encodes the reports. Returns no bytes if there are too many.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let encoded = if self.encoded.is_empty() { encode(&self.reports) } else { self.encoded.clone() };
        if encoded.len() <= MAX_ENCODED { encoded } else { Vec::new() }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/engine/report/finished.rs"]
mod tests;
