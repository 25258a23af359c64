//! Reduces an open snapshot to one stream, in memory.

use super::cancellation;
use super::kept_file::OpenedFile;
use super::open_snapshot::OpenSnapshot;
use super::stream_arg::StreamArg;
use engine::crop::{Crop, CropError};
use engine::{Engine, NeededBytes, Reply, Request, Work};
use protocol::{Access, FileSummary};

/// Returns a snapshot with only the events and segments of a stream, as `memscape crop --stream` writes it. Events are
/// numbered within the stream. Returns the snapshot unchanged if no stream is selected.
///
/// # Errors
/// Returns an error message if no allocation of the selected device is on the stream, or if it cannot be cropped.
pub(crate) fn only_stream(snapshot: OpenSnapshot, stream: StreamArg) -> Result<OpenSnapshot, String> {
    if stream.stream.is_none() {
        return Ok(snapshot);
    }
    stream.check(&snapshot)?;
    let (device, name) = (snapshot.device.device, snapshot.summary.file.clone());
    let crop =
        Crop { devices: vec![(device, [0, u32::MAX])], prologue: false, stream: stream.stream, source: name.clone() };
    let mut bytes = Vec::new();
    snapshot.into_engine().crop(&crop, &mut bytes).map_err(|error| match error {
        CropError::Invalid(why) => why,
        CropError::Io(error) => error.to_string(),
    })?;
    let (summary, engine) = open_bytes(name, bytes)?;
    let mut snapshot = OpenSnapshot::with_device(summary, OpenedFile::new(engine, None), Some(device))?;
    snapshot.prepare();
    Ok(snapshot)
}

/// Opens a pickle that was written by [`Engine::crop`].
fn open_bytes(name: String, bytes: Vec<u8>) -> Result<(FileSummary, Engine), String> {
    let mut engine = Engine::new();
    let total_bytes = Some(bytes.len() as u64);
    engine.request(Request::Open { name, total_bytes, access: Access::Sequential, member: None });
    let mut bytes = Some(bytes);
    loop {
        cancellation::check()?;
        match (engine.wants(), bytes.take()) {
            (Some(NeededBytes::Next), Some(bytes)) => engine.feed(bytes),
            (Some(_), None) => engine.request(Request::EndOfFile),
            (_, rest) => bytes = rest,
        }
        let work = engine.step(&mut cancellation::should_continue);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(summary) => return Ok((*summary, engine)),
                Reply::Failed { message } => return Err(message),
                _ => {}
            }
        }
        if work == Work::Idle && !engine.is_loading() {
            return Err("the stream could not be opened".to_owned());
        }
    }
}
