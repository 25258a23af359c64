//! Where `memscape serve` listens, and the names it answers to.
//!
//! A site can point its own name at 127.0.0.1 and then read what is there as its own (DNS rebinding): its name in `Host` gives it away.
//! A number in `Host` can't: nobody but the machine with that number is asked for it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs};

/// Where it begins to look for a free port.
const PORT: u16 = 8765;

/// Where we listen, and whom we are known as.
pub(super) struct Hosts {
    /// The name we were told to listen on; none: on this machine's own loopback alone.
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
            let next = ports.next().ok_or("no port is free")?;
            match TcpListener::bind((address, next)) {
                Ok(listener) => return Ok((hosts, listener)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && port.is_none() => {}
                Err(error) => return Err(format!("port {next} of {address}: {error}")),
            }
        }
    }

    /// Whether other machines can connect.
    pub(super) fn is_open(&self) -> bool {
        !self.address.is_loopback()
    }

    /// As it stands in an address.
    pub(super) fn shown(&self) -> String {
        match (&self.name, self.address) {
            (Some(name), address) if !address.is_unspecified() && name.parse::<IpAddr>().is_err() => name.clone(),
            (_, address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
            (_, IpAddr::V6(address)) => format!("[{address}]"),
            (_, address) => address.to_string(),
        }
    }

    /// Whether a `Host` names us. Any port: `ssh -L` may use another one at its other end.
    pub(super) fn answer_to(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        match name.parse::<IpAddr>() {
            Ok(number) => number.is_loopback() || self.is_open(),
            Err(_) => {
                let is_ours = self.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
                name.eq_ignore_ascii_case("localhost") || is_ours
            }
        }
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
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let own = Hosts { name: None, address: IpAddr::V4(Ipv4Addr::LOCALHOST) };
        for host in ["127.0.0.1", "127.0.0.1:8765", "LOCALHOST:1", "[::1]", "[::1]:80", "127.0.0.2"] {
            assert!(own.answer_to(host), "{host}");
        }
        for host in [
            "",
            ":8765",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "localhost:80:80",
            "localhost:x",
            "[::1",
            "[::1]x",
            "[::2]",
            "user@localhost",
            "localhost/",
            "10.0.0.1",
            "127.0.0.1 evil",
            "::1",
            "127.1",
        ] {
            assert!(!own.answer_to(host), "{host}");
        }
    }

    #[test]
    fn who_listens_to_all_is_known_by_numbers_and_by_the_name_told() {
        let name = |name: &str, address: &str| Hosts { name: Some(name.to_owned()), address: address.parse().unwrap() };
        let all = name("0.0.0.0", "0.0.0.0");
        assert!(all.answer_to("10.1.2.3:8765") && all.answer_to("localhost") && !all.answer_to("evil.example"));
        let node = name("node7.cluster", "10.1.2.3");
        assert!(node.answer_to("NODE7.cluster:80") && node.answer_to("10.1.2.3") && !node.answer_to("node8.cluster"));
        assert_eq!((node.shown().as_str(), all.shown().as_str()), ("node7.cluster", "127.0.0.1"));
        assert_eq!(name("::1", "::1").shown(), "[::1]");
        assert!(!name("::1", "::1").is_open() && all.is_open());
    }
}
