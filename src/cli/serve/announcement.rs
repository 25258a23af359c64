//! The text that `memscape serve` prints at startup: the address, how to reach it from other machines, and which files
//! are not listed.

use super::hosts::{Hosts, network_address};
use super::lake::Lake;
use super::listing::CurrentListing;
use base::units::{group_digits, pluralize};

/// Snapshots at startup.
pub(super) struct Found {
    count: u64,
    /// Sentences about those that are not listed.
    notes: Vec<String>,
    /// Sentence about snapshots that are added later.
    additions: &'static str,
}

impl Found {
    /// Returns what the search of the folders has found.
    pub(super) fn in_folders(listed: CurrentListing) -> Found {
        let mut notes = Vec::new();
        if listed.left_out > 0 {
            let listed = group_digits(listed.files.len() as u64);
            notes.push(format!("The page lists the {listed} newest. A survey of ranks reads all."));
        }
        notes.extend(listed.not_searched);
        let additions = "The page lists new snapshots as they come.";
        Found { count: (listed.files.len() + listed.left_out) as u64, notes, additions }
    }

    /// Returns what the tables have.
    pub(super) fn in_lake(lake: &Lake) -> Found {
        Found { count: lake.snapshots, notes: Vec::new(), additions: "Reload the list of jobs after a survey." }
    }
}

/// Returns the startup text for a server on this port.
pub(super) fn announcement(hosts: &Hosts, port: u16, token: &str, found: &Found) -> String {
    let server = format!("http://{}:{port}", hosts.url_host());
    let mut text = format!("{} at {server}/{token}/\n", pluralize(found.count, "snapshot"));
    found.notes.iter().for_each(|sentence| text += &format!("{sentence}\n"));
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
    text + &format!("{} Press Ctrl+C to stop.\n", found.additions)
}

/// Returns the host name of this machine, or a placeholder if the name contains unusual characters.
fn machine_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_plain =
        |name: &&str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it));
    Some(machine.trim()).filter(is_plain).unwrap_or("THIS-MACHINE").to_owned()
}
