//! What the worker says when a file is open, for pages that are played without one.

use memscape::engine::Reply;
use memscape::engine::protocol::{DeviceSummary, FileSummary};

/// `a.pickle` is open, and has these devices.
pub(crate) fn opened(devices: Vec<DeviceSummary>) -> Reply {
    Reply::Opened(Box::new(FileSummary {
        schema: 1,
        file: "a.pickle".into(),
        format: "pickle 4 (Python)".into(),
        torch: None,
        warnings: vec![],
        devices,
        settings: vec![],
    }))
}
