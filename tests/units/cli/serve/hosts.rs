//! Tests of `src/cli/serve/hosts.rs`, a module of its: they reach what is private there.

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
