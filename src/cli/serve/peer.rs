//! Whether somebody waits at the other end of a connection.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

/// The other end; without a connection, somebody who waits for ever.
#[derive(Clone, Default)]
pub(super) struct Peer(Option<Arc<TcpStream>>);

impl Peer {
    /// The one who has sent a request through this connection.
    pub(super) fn of(stream: &TcpStream) -> Peer {
        Peer(stream.try_clone().ok().map(Arc::new))
    }

    /// Nothing, while it waits. To be asked by the thread that answers it, and not while that reads or writes.
    ///
    /// # Errors
    /// It has closed the connection, or broken it. Who sends no more and goes on reading can't be told from that; no browser does so.
    pub(super) fn waits(&self) -> io::Result<()> {
        let Some(stream) = &self.0 else { return Ok(()) };
        stream.set_nonblocking(true)?;
        let next = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        match next {
            Ok(0) => Err(io::ErrorKind::ConnectionAborted.into()),
            Ok(_) => Ok(()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    #[test]
    fn who_closes_no_longer_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        let peer = Peer::of(&ours);
        assert!(peer.waits().is_ok() && Peer::default().waits().is_ok());
        client.write_all(b"x").unwrap();
        assert!(peer.waits().is_ok());
        drop(client);
        let gone = |_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            // What it had sent is still there to be read.
            let _ = io::Read::read(&mut &ours, &mut [0; 9]);
            peer.waits().is_err()
        };
        assert!((0..500).any(gone));
    }
}
