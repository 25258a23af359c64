//! Warns, before a file is read, that its contents may not fit in memory.

use base::units::Bytes;
use clap::Args;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use ui::text::file_memory::estimated_memory;

/// Arguments for the memory warning.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct MemoryArgs {
    /// Bytes of free memory, instead of the value that the system reports: for tests
    #[arg(long, global = true, hide = true, value_name = "BYTES")]
    free_memory: Option<u64>,
}

/// Arguments, and true if the command can load a part of the file. Set once at startup.
static SETTINGS: OnceLock<(MemoryArgs, bool)> = OnceLock::new();

impl MemoryArgs {
    /// Enables the warning. If `can_load_a_range` is true, the warning suggests `--load-last`.
    pub(crate) fn apply(self, can_load_a_range: bool) {
        let _ = SETTINGS.set((self, can_load_a_range));
    }
}

/// Returns a warning if a file of `bytes` bytes may not fit in memory. Returns `None` if it fits or if the free memory
/// is unknown.
pub(crate) fn warning(name: &str, bytes: u64) -> Option<String> {
    let &(arguments, can_load_a_range) = SETTINGS.get()?;
    let free = arguments.free_memory.or_else(free_bytes)?;
    let [min_bytes, max_bytes] = estimated_memory(name, bytes);
    if max_bytes <= free {
        return None;
    }
    let what = match min_bytes > free {
        true => format!("at least {}", Bytes(min_bytes)),
        false => format!("from {} to {}", Bytes(min_bytes), Bytes(max_bytes)),
    };
    let advice = if can_load_a_range { ". A range takes less: --load-last 1000000" } else { "" };
    Some(format!(
        "{name}: {}, may not fit into memory. All events take {what}, and {} is free{advice}",
        Bytes(bytes),
        Bytes(free)
    ))
}

/// Returns the number of bytes that this process can still allocate, given the machine's memory and the limits of its
/// control groups. Linux only.
fn free_bytes() -> Option<u64> {
    let available = table_value(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.saturating_mul(1024);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(cgroup_bytes_left(Path::new("/sys/fs/cgroup"), &groups).map_or(available, |left| left.min(available)))
}

/// Returns the number that follows `name` in a table such as `/proc/meminfo`.
fn table_value(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the smallest number of bytes left under the memory limits of the process's control groups and their
/// ancestors, or `None` without a limit. `root` is the mount point, `groups` the contents of `/proc/self/cgroup`.
fn cgroup_bytes_left(root: &Path, groups: &str) -> Option<u64> {
    let bytes_left = groups.lines().flat_map(|line| {
        // Version 2: `0::/a/b`. Version 1: `9:memory:/a/b`.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (folder, names) = match controllers {
            "" => ("", ["memory.max", "memory.current", "inactive_file "]),
            _ => ("memory", ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "]),
        };
        let limits_memory = controllers.is_empty() || controllers.split(',').any(|controller| controller == "memory");
        // In a container the path may be the host's. The container's own group is then at the root.
        let ancestors = Path::new(path.trim_start_matches('/')).ancestors().filter(move |_| limits_memory);
        ancestors.filter_map(move |group| group_bytes_left(&root.join(folder).join(group), names))
    });
    bytes_left.min()
}

/// Returns the number of bytes left under the memory limit of one control group. Inactive file pages count as free,
/// because the kernel can reclaim them.
fn group_bytes_left(group: &Path, [limit, used, unused]: [&str; 3]) -> Option<u64> {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok();
    // The file contains `max` if there is no limit.
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(used)?.trim().parse().ok()?;
    let unused = read("memory.stat").and_then(|table| table_value(&table, unused)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(unused)))
}

#[cfg(test)]
#[path = "../../tests/units/cli/room.rs"]
mod tests;
