//! Connects rmcp to standard input and output, with one message per line. Responds here to messages that rmcp cannot
//! handle.

use super::messages::Message;
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Stdout, duplex,
};
use tokio::sync::{Mutex, watch};

/// Maximum length of a message in bytes. Longer lines are rejected.
const MAX_LINE: u64 = 16 << 20;
/// Number of bytes at each end of a rejected line that are searched for its id.
const END: usize = 4 << 10;
/// Size in bytes of the buffers between standard input or output and rmcp.
const BUFFER: usize = 64 << 10;

/// Ids of the requests that have no response yet, as JSON.
type OpenRequests = watch::Sender<HashSet<String>>;

/// Returns the two streams that rmcp reads from and writes to. Must be called within a Tokio runtime. The streams close
/// once standard input has ended and all requests have responses.
pub(super) fn stdio() -> (DuplexStream, DuplexStream) {
    let (to_rmcp, input) = duplex(BUFFER);
    let (output, from_rmcp) = duplex(BUFFER);
    let out = Arc::new(Mutex::new(tokio::io::stdout()));
    let open = Arc::new(OpenRequests::default());
    tokio::spawn(receive(to_rmcp, Arc::clone(&out), Arc::clone(&open)));
    tokio::spawn(send(from_rmcp, out, open));
    (input, output)
}

/// Forwards messages to rmcp until standard input ends. Then waits until all requests have responses, because rmcp
/// drops open requests when its input ends.
async fn receive(mut to_rmcp: DuplexStream, out: Arc<Mutex<Stdout>>, open: Arc<OpenRequests>) -> io::Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut has_begun = false;
    while let Some(Line { bytes: line, tail }) = next_line(&mut input).await? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let message = tail.map_or_else(|| Message::parse(&line), |tail| Message::too_long(&line, &tail));
        match message {
            Message::Invalid(response) => {
                write_line(&mut *out.lock().await, response.to_string().as_bytes()).await?;
                continue;
            }
            // rmcp stops if the first message is not a request.
            Message::Other if !has_begun => continue,
            Message::Ignored => continue,
            Message::Other => {}
            Message::Request(method) => has_begun |= !matches!(&*method, "ping" | "server/discover"),
        }
        track_request(&open, &line);
        write_line(&mut to_rmcp, &line).await?;
    }
    // Fails only if the sender is gone, but `open` is the sender.
    let _ = open.subscribe().wait_for(HashSet::is_empty).await;
    Ok(())
}

/// Adds a request to `open`, or removes a request that was answered or cancelled.
fn track_request(open: &OpenRequests, line: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
    let (method, id) = (message.get("method").and_then(Value::as_str), message.get("id").map(Value::to_string));
    match (method, id) {
        (Some(_), Some(id)) => open.send_modify(|open| {
            open.insert(id);
        }),
        (None, Some(id)) => open.send_modify(|open| {
            open.remove(&id);
        }),
        (Some("notifications/cancelled"), None) => {
            let id = message.pointer("/params/requestId").map(Value::to_string).unwrap_or_default();
            open.send_modify(|open| {
                open.remove(&id);
            });
        }
        _ => {}
    }
}

/// Writes messages from rmcp to standard output.
async fn send(from_rmcp: DuplexStream, out: Arc<Mutex<Stdout>>, open: Arc<OpenRequests>) -> io::Result<()> {
    let mut messages = BufReader::new(from_rmcp);
    let mut line = Vec::new();
    while messages.read_until(b'\n', &mut line).await? > 0 {
        write_line(&mut *out.lock().await, line.trim_ascii_end()).await?;
        track_request(&open, &line);
        line.clear();
    }
    Ok(())
}

async fn write_line(out: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    out.write_all(line).await?;
    out.write_all(b"\n").await?;
    out.flush().await
}

/// A line of input.
struct Line {
    /// The line without its line end. Of a line above [`MAX_LINE`], its first [`END`] bytes.
    bytes: Vec<u8>,
    /// Of a line above [`MAX_LINE`], its last [`END`] bytes.
    tail: Option<Vec<u8>>,
}

/// Reads a line, or returns `None` at the end of the input. Only the ends of a line above [`MAX_LINE`] are kept.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    if (&mut *input).take(MAX_LINE + 1).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || line.len() as u64 <= MAX_LINE {
        line.truncate(line.trim_ascii_end().len());
        return Ok(Some(Line { bytes: line, tail: None }));
    }
    let mut rest = line.split_off(END);
    line.shrink_to_fit();
    while rest.last() != Some(&b'\n') {
        rest.drain(..rest.len().saturating_sub(END));
        if (&mut *input).take(BUFFER as u64).read_until(b'\n', &mut rest).await? == 0 {
            break;
        }
    }
    rest.drain(..rest.len().saturating_sub(END));
    Ok(Some(Line { bytes: line, tail: Some(rest) }))
}
