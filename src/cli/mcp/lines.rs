//! Standard input and output as the transport of rmcp: one message a line. Lines that rmcp should not read are answered here.

use super::messages::Message;
use std::io;
use std::sync::Arc;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Stdout, duplex,
};
use tokio::sync::Mutex;

/// Maximum bytes of a message. The rest of a longer line is skipped.
const MAX_LINE: u64 = 16 << 20;
/// Bytes on their way between standard input or output and rmcp.
const BUFFER: usize = 64 << 10;

/// Both ends of the transport; to be called within a runtime. They close with standard input.
pub(super) fn stdio() -> (DuplexStream, DuplexStream) {
    let (to_rmcp, input) = duplex(BUFFER);
    let (output, from_rmcp) = duplex(BUFFER);
    let out = Arc::new(Mutex::new(tokio::io::stdout()));
    tokio::spawn(receive(to_rmcp, Arc::clone(&out)));
    tokio::spawn(send(from_rmcp, out));
    (input, output)
}

/// Passes on messages until standard input ends.
async fn receive(mut to_rmcp: DuplexStream, out: Arc<Mutex<Stdout>>) -> io::Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut has_begun = false;
    while let Some(line) = next_line(&mut input).await? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match Message::parse(&line) {
            Message::Refused(response) => {
                write_line(&mut *out.lock().await, response.to_string().as_bytes()).await?;
                continue;
            }
            // rmcp ends with anything but a request.
            Message::Other if !has_begun => continue,
            Message::Other => {}
            Message::Request(method) => has_begun |= !matches!(&*method, "ping" | "server/discover"),
        }
        write_line(&mut to_rmcp, &line).await?;
    }
    Ok(())
}

/// Prints the messages of rmcp.
async fn send(from_rmcp: DuplexStream, out: Arc<Mutex<Stdout>>) -> io::Result<()> {
    let mut messages = BufReader::new(from_rmcp);
    let mut line = Vec::new();
    while messages.read_until(b'\n', &mut line).await? > 0 {
        write_line(&mut *out.lock().await, line.trim_ascii_end()).await?;
        line.clear();
    }
    Ok(())
}

async fn write_line(out: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    out.write_all(line).await?;
    out.write_all(b"\n").await?;
    out.flush().await
}

/// A line without its end; `None` at the end of the input. Bytes beyond the maximum are left out, so that it no longer parses.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if (&mut *input).take(MAX_LINE).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    let is_cut = line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE;
    let mut rest = Vec::new();
    while is_cut && rest.last() != Some(&b'\n') {
        rest.clear();
        if (&mut *input).take(BUFFER as u64).read_until(b'\n', &mut rest).await? == 0 {
            break;
        }
    }
    line.truncate(line.trim_ascii_end().len());
    Ok(Some(line))
}
