//! Accepts HTTP connections, with limits per client and in total, timeouts, and a graceful shutdown. hyper implements
//! HTTP itself.

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

/// Maximum number of open connections. Further connections get status 503.
const MAX_CONNECTIONS: usize = 256;
/// Maximum number of open connections per client. Browsers open six per server.
const MAX_PER_CLIENT: usize = 64;
/// Maximum size of a request head in bytes. Browsers send about 1,000 bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Maximum time for which a client may stop reading a response, for example while the page is busy decoding.
const WRITE_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum time for which open responses may continue after shutdown is requested.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Accepts connections until `ended` resolves, and serves one request per connection. `head_timeout` is the maximum
/// time that a client may take to send the request head.
///
/// # Errors
/// Returns the I/O error if the listener cannot be set up.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    head_timeout: Duration,
    ended: impl Future<Output = ()>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut http = http1::Builder::new();
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(head_timeout).max_buf_size(MAX_HEAD_BYTES);
    let graceful = GracefulShutdown::new();
    let mut open: Vec<(IpAddr, Weak<()>)> = Vec::new();
    tokio::pin!(ended);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut ended => break,
        };
        let Ok((stream, client)) = accepted else {
            // Most likely out of file descriptors. Wait for open connections to end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        open.retain(|(_, connection)| connection.strong_count() > 0);
        let client_connections = open.iter().filter(|(address, _)| *address == client.ip()).count();
        if open.len() >= MAX_CONNECTIONS || client_connections >= MAX_PER_CLIENT {
            send_busy(stream);
            continue;
        }
        let connection = Arc::new(());
        open.push((client.ip(), Arc::downgrade(&connection)));
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT));
        let service = TowerToHyperService::new(routes.clone());
        let served = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // An error affects only this connection.
            let _ = served.await;
            drop(connection);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}

/// Responds with status 503. Does not block, because the response fits into the send buffer of a new socket.
fn send_busy(stream: TcpStream) {
    let _ = stream.into_std().and_then(|mut stream| stream.write_all(BUSY));
}
