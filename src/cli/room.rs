//! Whether a file may not fit into the memory that is free: said before it is read.

use base::units::Bytes;
use clap::Args;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use ui::file_memory::taken;

/// How much memory is free.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes that are free, in place of what the system says: for tests
    #[arg(long, global = true, hide = true, value_name = "BYTES")]
    free_memory: Option<u64>,
}

/// What is known of it, and whether the command can load a range of a file: the program is told once.
static ROOM: OnceLock<(Room, bool)> = OnceLock::new();

impl Room {
    /// Has files that may not fit warned of, from now on. A command that `can_load_a_range` has a way out.
    pub(crate) fn begin(self, can_load_a_range: bool) {
        let _ = ROOM.set((self, can_load_a_range));
    }
}

/// What there is to say before all events of a file of so many bytes are read; `None` where they fit, or the system does not say what is free.
pub(crate) fn warning(name: &str, bytes: u64) -> Option<String> {
    let &(room, can_load_a_range) = ROOM.get()?;
    let free = room.free_memory.or_else(free)?;
    let [least, most] = taken(name, bytes);
    if most <= free {
        return None;
    }
    let what = match least > free {
        true => format!("at least {}", Bytes(least)),
        false => format!("from {} to {}", Bytes(least), Bytes(most)),
    };
    let way_out = if can_load_a_range { ". A range takes less: --load-last 1000000" } else { "" };
    Some(format!(
        "{name}: {}, may not fit into memory. All events take {what}, and {} is free{way_out}",
        Bytes(bytes),
        Bytes(free)
    ))
}

/// Bytes of memory that this process may still take, where Linux says so: of the machine, and of the control groups that it is in.
fn free() -> Option<u64> {
    let of_machine = number_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.saturating_mul(1024);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(left(Path::new("/sys/fs/cgroup"), &groups).map_or(of_machine, |left| left.min(of_machine)))
}

/// The number behind a word in a table of the kernel's.
fn number_of(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes that are left of the limits of control groups, those around them included; `None` where there is no limit. `root` has their files,
/// `groups` is the table of those that a process is in.
fn left(root: &Path, groups: &str) -> Option<u64> {
    let lefts = groups.lines().flat_map(|line| {
        // Version 2: `0::/a/b`. Version 1: `9:memory:/a/b`.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (folder, names) = match controllers {
            "" => ("", ["memory.max", "memory.current", "inactive_file "]),
            _ => ("memory", ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "]),
        };
        let is_of_memory = controllers.is_empty() || controllers.split(',').any(|of| of == "memory");
        // In a container the path may be the host's: its own group then stands at the root.
        let around = Path::new(path.trim_start_matches('/')).ancestors().filter(move |_| is_of_memory);
        around.filter_map(move |group| left_of(&root.join(folder).join(group), names))
    });
    lefts.min()
}

/// What is left of the limit of one: pages of files that nobody uses are given up first.
fn left_of(group: &Path, [limit, used, unused]: [&str; 3]) -> Option<u64> {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok();
    // Without a limit, it is `max`.
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(used)?.trim().parse().ok()?;
    let unused = read("memory.stat").and_then(|table| number_of(&table, unused)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(unused)))
}

#[cfg(test)]
#[path = "../../tests/units/cli/room.rs"]
mod tests;
