//! Argument that selects a stream.

use super::open_snapshot::OpenSnapshot;
use clap::Args;
use protocol::Query;

/// Argument for a stream.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct StreamArg {
    /// Only allocations on this stream: 0 for the default stream, or a handle such as 0x55d0
    #[arg(long = "stream", value_name = "N", value_parser = parse_stream)]
    pub(crate) stream: Option<u64>,
}

fn parse_stream(text: &str) -> Result<u64, String> {
    match Query::parse(&["stream:", text].concat()) {
        Ok(Query::Stream(stream)) => Ok(stream),
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("expected a stream such as 0 or 0x55d0".to_owned()),
    }
}

impl StreamArg {
    /// Returns the search for the allocations on the stream.
    pub(crate) fn query(self) -> Option<String> {
        self.stream.map(|stream| format!("stream:{stream}"))
    }

    /// Fails if no allocation of the selected device is on the stream.
    pub(crate) fn check(self, snapshot: &OpenSnapshot) -> Result<(), String> {
        let Some(stream) = self.stream else { return Ok(()) };
        let streams = snapshot.side().map(|side| side.streams()).unwrap_or_default();
        if streams.contains(&stream) {
            return Ok(());
        }
        let known: Vec<String> = streams.iter().map(|&stream| stream_text(stream)).collect();
        Err(match known.is_empty() {
            true => "no stream is recorded".to_owned(),
            false => format!("no allocation on stream {}; the streams are {}", stream_text(stream), known.join(", ")),
        })
    }
}

/// Formats a stream: handles other than the default stream are hexadecimal.
pub(crate) fn stream_text(stream: u64) -> String {
    if stream == 0 { "0".to_owned() } else { format!("{stream:#x}") }
}
