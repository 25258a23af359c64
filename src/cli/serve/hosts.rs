//! Where `memscape serve` listens, and the names it answers to.
//!
//! A site can point its own name at 127.0.0.1 and then read what is there as its own (DNS rebinding): its name in `Host` gives it away.
//! A number in `Host` can't: nobody but the machine with that number is asked for it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs, UdpSocket};

/// Where it begins to look for a free port.
const PORT: u16 = 8765;

/// Where we listen, and whom we are known as.
pub(super) struct Hosts {
    /// The name to listen on; none: on this machine's own loopback alone.
    name: Option<String>,
    address: IpAddr,
}

impl Hosts {
    /// Listens on a name or number of this machine, or else where this machine alone can connect. Without a port: on the first free one.
    ///
    /// # Errors
    /// There is no such address here, or no such port is free: one sentence.
    pub(super) fn listen(name: Option<&str>, port: Option<u16>) -> Result<(Hosts, TcpListener), String> {
        let address = match name {
            None => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Some(name) => (name, 0)
                .to_socket_addrs()
                .map_err(|error| format!("--host {name}: {error}"))?
                .next()
                .ok_or_else(|| format!("--host {name} has no address"))?
                .ip(),
        };
        let hosts = Hosts { name: name.map(str::to_owned), address };
        let mut ports = port.map_or(PORT..=u16::MAX, |port| port..=port);
        loop {
            let next = ports.next().ok_or("no free port")?;
            match TcpListener::bind((address, next)) {
                Ok(listener) => return Ok((hosts, listener)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && port.is_none() => {}
                Err(error) => return Err(format!("port {next} of {address}: {error}")),
            }
        }
    }

    /// Whether other machines can connect.
    pub(super) fn is_open(&self) -> bool {
        !self.address.to_canonical().is_loopback()
    }

    /// The host of the printed address, which this machine can connect to.
    pub(super) fn shown(&self) -> String {
        match (&self.name, self.address) {
            (_, IpAddr::V4(Ipv4Addr::UNSPECIFIED)) => Ipv4Addr::LOCALHOST.to_string(),
            // Not every system connects IPv4 to a socket of IPv6.
            (_, IpAddr::V6(Ipv6Addr::UNSPECIFIED)) => in_url(Ipv6Addr::LOCALHOST.into()),
            (Some(name), _) if name.parse::<IpAddr>().is_err() => name.clone(),
            (_, address) => in_url(address),
        }
    }

    /// The host that other machines use in place of the printed one, where that is of this machine alone. `outward` is the address
    /// of this machine on the network.
    pub(super) fn on_network(&self, outward: Option<IpAddr>) -> Option<String> {
        self.address.is_unspecified().then(|| outward.map_or("ADDRESS-OF-THIS-MACHINE".to_owned(), in_url))
    }

    /// The target of `ssh -L` on this machine.
    pub(super) fn forwarded(&self) -> String {
        in_url(self.address)
    }

    /// Whether the other end of `ssh -L`, which listens on 127.0.0.1, is reached by the printed address.
    pub(super) fn is_same_by_ssh(&self) -> bool {
        self.shown() == Ipv4Addr::LOCALHOST.to_string() || self.shown() == "localhost"
    }

    /// The address that `--host` names, where its name hides that only this machine can connect.
    pub(super) fn hidden_loopback(&self) -> Option<(&str, IpAddr)> {
        let name = self.name.as_deref().filter(|name| name.parse::<IpAddr>().is_err())?;
        (!self.is_open() && !name.eq_ignore_ascii_case("localhost")).then_some((name, self.address))
    }

    /// Whether a `Host` names us. Any port: `ssh -L` may use another one at its other end.
    pub(super) fn answer_to(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        match name.parse::<IpAddr>() {
            Ok(number) => number.to_canonical().is_loopback() || self.is_open(),
            Err(_) => {
                let is_ours = self.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
                name.eq_ignore_ascii_case("localhost") || is_ours
            }
        }
    }
}

/// The address of this machine that packets to other networks come from. Nothing is sent.
pub(super) fn outward_address(is_v6: bool) -> Option<IpAddr> {
    // Addresses for documentation, which are nobody's.
    let (from, to): (IpAddr, &str) = match is_v6 {
        true => (Ipv6Addr::UNSPECIFIED.into(), "[2001:db8::1]:9"),
        false => (Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1:9"),
    };
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect(to).ok()?;
    socket.local_addr().map(|address| address.ip()).ok().filter(|address| !address.is_loopback())
}

fn in_url(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V6(address) => format!("[{address}]"),
        IpAddr::V4(address) => address.to_string(),
    }
}

fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            rest.split_once(']').map(|(name, rest)| (name, rest.strip_prefix(':').or(rest.is_empty().then_some(""))))
        }
        None => Some(host.split_once(':').map_or((host, Some("")), |(name, port)| (name, Some(port)))),
    }?;
    port?.bytes().all(|it| it.is_ascii_digit()).then_some(name)
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/hosts.rs"]
mod tests;
