//! Connections: so many at a time and so many of one client, a deadline for what each of them waits for, and an end that lets answers
//! on their way arrive. HTTP itself is hyper's.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io::Write;
use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;

/// Connections at a time, in all and of one client: a browser makes six to a server. Who comes after is asked to come again.
const MOST: usize = 256;
const MOST_OF_CLIENT: usize = 64;
/// A browser's heads are about a thousand bytes; ours has no cookies.
const LONGEST_HEAD: usize = 16 << 10;
/// How long a client may leave what it is sent untouched: a tab may be busy decoding.
const WRITING: Duration = Duration::from_secs(600);
/// How long answers on their way may take once the server is to end.
const ENDING: Duration = Duration::from_secs(1);

const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Answers, one request a connection, until `ended`. A client has `heading` for the head of its request.
///
/// # Errors
/// The system's.
pub(super) async fn answer(
    listener: TcpListener,
    routes: Router,
    heading: Duration,
    ended: impl Future<Output = ()>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut http = http1::Builder::new();
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(heading).max_buf_size(LONGEST_HEAD);
    let graceful = GracefulShutdown::new();
    let mut open: Vec<(IpAddr, Weak<()>)> = Vec::new();
    tokio::pin!(ended);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut ended => break,
        };
        let Ok((stream, client)) = accepted else {
            // Out of files, most likely: those that are open end at some time.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        open.retain(|(_, connection)| connection.strong_count() > 0);
        let of_client = open.iter().filter(|(address, _)| *address == client.ip()).count();
        if open.len() >= MOST || of_client >= MOST_OF_CLIENT {
            refuse(stream);
            continue;
        }
        let connection = Arc::new(());
        open.push((client.ip(), Arc::downgrade(&connection)));
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITING));
        let service = TowerToHyperService::new(routes.clone());
        let served = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // A client that hangs up ends its own connection and nothing else.
            let _ = served.await;
            drop(connection);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(ENDING, graceful.shutdown()).await;
    Ok(())
}

/// Into a socket that nothing was sent through there is room for a line.
fn refuse(stream: TcpStream) {
    let _ = stream.into_std().and_then(|mut stream| stream.write_all(BUSY));
}
