//! The address that `memscape serve` listens on, and the check of the `Host` header.
//!
//! A website can resolve its own name to 127.0.0.1 and then read responses of local servers (DNS rebinding). Such
//! requests carry the website's name in the `Host` header, so unknown names are rejected. IP addresses in `Host` are
//! safe, because the browser connects to exactly that address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs, UdpSocket};

/// First port to try if none is given.
const FIRST_PORT: u16 = 8765;

/// The address that the server listens on, and the names that refer to it.
pub(super) struct Hosts {
    /// Value of `--host`. `None` to listen on the loopback address only.
    name: Option<String>,
    address: IpAddr,
}

impl Hosts {
    /// Binds a listener to a name or address of this machine, or to the loopback address if `name` is `None`. If `port`
    /// is `None`, uses the first free port at or above [`FIRST_PORT`].
    ///
    /// # Errors
    /// Returns an error message if the name has no address on this machine or the port is not free.
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
        let mut ports = port.map_or(FIRST_PORT..=u16::MAX, |port| port..=port);
        loop {
            let next = ports.next().ok_or("no free port")?;
            match TcpListener::bind((address, next)) {
                Ok(listener) => return Ok((hosts, listener)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && port.is_none() => {}
                Err(error) => return Err(format!("port {next} of {address}: {error}")),
            }
        }
    }

    /// Returns true if other machines can connect.
    pub(super) fn is_reachable_from_network(&self) -> bool {
        !self.address.to_canonical().is_loopback()
    }

    /// Returns the host part of the printed URL, which works on this machine.
    pub(super) fn url_host(&self) -> String {
        match (&self.name, self.address) {
            (_, IpAddr::V4(Ipv4Addr::UNSPECIFIED)) => Ipv4Addr::LOCALHOST.to_string(),
            // An IPv6 socket does not accept IPv4 connections on every system.
            (_, IpAddr::V6(Ipv6Addr::UNSPECIFIED)) => url_host(Ipv6Addr::LOCALHOST.into()),
            (Some(name), _) if name.parse::<IpAddr>().is_err() => name.clone(),
            (_, address) => url_host(address),
        }
    }

    /// Returns the host that other machines must use in the URL, if the server listens on all addresses. `outward` is
    /// the address of this machine on the network.
    pub(super) fn network_host(&self, outward: Option<IpAddr>) -> Option<String> {
        self.address.is_unspecified().then(|| outward.map_or("ADDRESS-OF-THIS-MACHINE".to_owned(), url_host))
    }

    /// Returns the host and port that `ssh -L` must forward to.
    pub(super) fn ssh_target(&self) -> String {
        url_host(self.address)
    }

    /// Returns true if the printed URL also works on a machine that forwards the port with `ssh -L`, which listens on
    /// 127.0.0.1.
    pub(super) fn works_through_ssh(&self) -> bool {
        self.url_host() == Ipv4Addr::LOCALHOST.to_string() || self.url_host() == "localhost"
    }

    /// Returns the name and address given by `--host` if the address is a loopback address but the name does not look
    /// like one.
    pub(super) fn hidden_loopback(&self) -> Option<(&str, IpAddr)> {
        let name = self.name.as_deref().filter(|name| name.parse::<IpAddr>().is_err())?;
        (!self.is_reachable_from_network() && !name.eq_ignore_ascii_case("localhost")).then_some((name, self.address))
    }

    /// Returns true if a `Host` header names this server. Any port is accepted, because `ssh -L` may forward a
    /// different one.
    pub(super) fn accepts(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        match name.parse::<IpAddr>() {
            Ok(number) => number.to_canonical().is_loopback() || self.is_reachable_from_network(),
            Err(_) => {
                let is_ours = self.name.as_deref().is_some_and(|host_name| host_name.eq_ignore_ascii_case(name));
                name.eq_ignore_ascii_case("localhost") || is_ours
            }
        }
    }
}

/// Returns the address of this machine on the network, according to the system's routing table. Sends nothing.
pub(super) fn network_address(is_v6: bool) -> Option<IpAddr> {
    // Addresses reserved for documentation.
    let (from, to): (IpAddr, &str) = match is_v6 {
        true => (Ipv6Addr::UNSPECIFIED.into(), "[2001:db8::1]:9"),
        false => (Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1:9"),
    };
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect(to).ok()?;
    socket.local_addr().map(|address| address.ip()).ok().filter(|address| !address.is_loopback())
}

fn url_host(address: IpAddr) -> String {
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
