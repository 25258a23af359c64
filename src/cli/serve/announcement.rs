//! The text that `memscape serve` prints at startup: the address, how to reach it from other machines, and which files
//! are not listed.

use super::hosts::{Hosts, network_address};
use super::listing::CurrentListing;
use base::units::{group_digits, pluralize};

/// Returns the startup text for a server on this port.
pub(super) fn announcement(hosts: &Hosts, port: u16, token: &str, listed: &CurrentListing) -> String {
    let server = format!("http://{}:{port}", hosts.url_host());
    let count = listed.files.len() + listed.left_out;
    let mut text = format!("{} at {server}/{token}/\n", pluralize(count as u64, "snapshot"));
    if listed.left_out > 0 {
        let listed = group_digits(listed.files.len() as u64);
        text += &format!("The page lists the {listed} newest. A survey of ranks reads all.\n");
    }
    listed.not_searched.iter().for_each(|sentence| text += &format!("{sentence}\n"));
    if let Some((name, address)) = hosts.hidden_loopback() {
        text += &format!("{name} is {address} here, which only this machine can reach.\n");
    }
    if hosts.is_reachable_from_network() {
        // Prefer IPv4, even if the socket accepts both.
        let outward = network_address(false).or_else(|| network_address(true));
        if let Some(host) = hosts.network_host(outward) {
            text += &format!("From another machine: http://{host}:{port}/{token}/\n");
        }
        text += "Unencrypted: anyone on the network can read the address and the data. ssh -L is safer.\n";
    } else {
        let opened = match hosts.works_through_ssh() {
            true => "the address".to_owned(),
            false => format!("http://localhost:{port}/{token}/"),
        };
        let (forwarded, machine) = (hosts.ssh_target(), machine_name());
        text +=
            &format!("From another machine: ssh -L {port}:{forwarded}:{port} {machine}, then open {opened} there.\n");
    }
    text + "The page lists new snapshots as they come. Press Ctrl+C to stop.\n"
}

/// Returns the host name of this machine, or a placeholder if the name contains unusual characters.
fn machine_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_plain =
        |name: &&str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it));
    Some(machine.trim()).filter(is_plain).unwrap_or("THIS-MACHINE").to_owned()
}
