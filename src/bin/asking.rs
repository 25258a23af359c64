//! A file that is open, and one device of it that is asked about.

use super::input::Input;
use super::opening::{name_of, open};
use memscape::engine::protocol::{DeviceSummary, FileSummary};
use memscape::engine::{Engine, Reply, Request, Work};

/// A file that is open, and one device of it.
pub(crate) struct Asking {
    /// What the file is called.
    pub(crate) summary: FileSummary,
    /// The device.
    pub(crate) device: DeviceSummary,
    engine: Engine,
}

impl Asking {
    /// Opens a file and picks the device with this ordinal, or else the first.
    ///
    /// # Errors
    /// The file can't be read, or has no such device: one sentence.
    pub(crate) fn open(path: &str, device: Option<i64>) -> Result<Asking, String> {
        let mut input = Input::open(path).map_err(|error| error.to_string())?;
        let mut members = Vec::new();
        let (summary, engine) = open(&mut input, name_of(path), None, &mut members)?;
        if members.len() > 1 {
            eprintln!("memscape: {path}: the first of {} snapshots in it", members.len());
        }
        let device = pick(&summary, device)?.clone();
        Ok(Asking { summary, device, engine })
    }

    /// The reply to a request; `None` where it has none.
    pub(crate) fn ask(&mut self, request: Request) -> Option<Reply> {
        self.engine.request(request);
        loop {
            let work = self.engine.step(&mut || true);
            let reply = self.engine.next_reply();
            if reply.is_some() || work == Work::Idle {
                return reply;
            }
        }
    }
}

/// The device with this ordinal, or else the first.
pub(crate) fn pick(summary: &FileSummary, wanted: Option<i64>) -> Result<&DeviceSummary, String> {
    let mut devices = summary.devices.iter();
    let found = devices.find(|device| wanted.is_none_or(|wanted| device.device == wanted));
    found.ok_or_else(|| {
        let devices: Vec<String> = summary.devices.iter().map(|device| device.device.to_string()).collect();
        match devices.len() {
            0 => "no device has events or segments".to_owned(),
            _ => format!("it has no such device, only {}", devices.join(", ")),
        }
    })
}
