//! Unit tests of `src/cli/serve/hosts.rs`.

use super::*;

#[test]
fn request_with_foreign_host_header_is_rejected() {
    let own = Hosts { name: None, address: IpAddr::V4(Ipv4Addr::LOCALHOST) };
    for host in ["127.0.0.1", "127.0.0.1:8765", "LOCALHOST:1", "[::1]", "[::1]:80", "127.0.0.2"] {
        assert!(own.accepts(host), "{host}");
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
        assert!(!own.accepts(host), "{host}");
    }
}

#[test]
fn wildcard_address_accepts_ip_addresses_and_configured_name() {
    let name = |name: &str, address: &str| Hosts { name: Some(name.to_owned()), address: address.parse().unwrap() };
    let all = name("0.0.0.0", "0.0.0.0");
    assert!(all.accepts("10.1.2.3:8765") && all.accepts("localhost") && !all.accepts("evil.example"));
    let node = name("node7.cluster", "10.1.2.3");
    assert!(node.accepts("NODE7.cluster:80") && node.accepts("10.1.2.3") && !node.accepts("node8.cluster"));
    assert_eq!((node.url_host().as_str(), all.url_host().as_str()), ("node7.cluster", "127.0.0.1"));
    assert_eq!(name("::1", "::1").url_host(), "[::1]");
    assert!(!name("::1", "::1").is_reachable_from_network() && all.is_reachable_from_network());
    assert!(!name("::ffff:127.0.0.1", "::ffff:127.0.0.1").is_reachable_from_network());
}

/// Returns the printed host, the host for `ssh -L`, whether the forwarded address equals the printed one, and the host
/// for other machines.
fn hints(name: &str, address: &str) -> (String, String, bool, Option<String>) {
    let hosts = Hosts { name: Some(name.to_owned()), address: address.parse().unwrap() };
    let outward = Some("10.1.2.3".parse().unwrap());
    (hosts.url_host(), hosts.ssh_target(), hosts.works_through_ssh(), hosts.network_host(outward))
}

#[test]
fn printed_hints_match_address_kind() {
    let hint = |shown: &str, forwarded: &str, is_same| (shown.to_owned(), forwarded.to_owned(), is_same, None);
    assert_eq!(hints("127.0.0.1", "127.0.0.1"), hint("127.0.0.1", "127.0.0.1", true));
    assert_eq!(hints("127.0.0.2", "127.0.0.2"), hint("127.0.0.2", "127.0.0.2", false));
    assert_eq!(hints("::1", "::1"), hint("[::1]", "[::1]", false));
    assert_eq!(hints("localhost", "::1"), hint("localhost", "[::1]", true));
    assert_eq!(hints("node7", "127.0.1.1"), hint("node7", "127.0.1.1", false));
    assert_eq!(hints("::ffff:127.0.0.2", "::ffff:127.0.0.2"), hint("127.0.0.2", "127.0.0.2", false));
    assert_eq!(hints("10.1.2.3", "10.1.2.3").0, "10.1.2.3");
    assert_eq!(hints("fd00::7", "fd00::7").0, "[fd00::7]");
    assert_eq!(hints("node7", "10.1.2.3").0, "node7");
    for (all, shown) in [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")] {
        let (found, _, _, on_network) = hints(all, all);
        assert_eq!((found.as_str(), on_network.as_deref()), (shown, Some("10.1.2.3")));
    }
}

#[test]
fn name_resolving_to_loopback_is_reported() {
    let named = |name: &str, address: &str| Hosts { name: Some(name.to_owned()), address: address.parse().unwrap() };
    assert_eq!(named("node7", "127.0.1.1").hidden_loopback(), Some(("node7", "127.0.1.1".parse().unwrap())));
    for (name, address) in [("localhost", "::1"), ("127.0.0.2", "127.0.0.2"), ("node7", "10.1.2.3")] {
        assert_eq!(named(name, address).hidden_loopback(), None, "{name}");
    }
}
