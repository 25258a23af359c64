//! Description of the machine, its free resources, and measurements of processes.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Available memory in bytes (`MemAvailable`); `u64::MAX` if it is unknown.
pub(crate) fn available_memory() -> u64 {
    kibibytes_of("/proc/meminfo", "MemAvailable:").unwrap_or(u64::MAX)
}

/// Free bytes on the disk with `folder`; `u64::MAX` if `df` fails.
pub(crate) fn free_space(folder: &Path) -> u64 {
    let listing = output_of(Command::new("df").arg("-Pk").arg(folder));
    let kibibytes = listing.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    kibibytes.map_or(u64::MAX, |kibibytes| kibibytes * 1024)
}

/// Largest resident set of a process so far, in bytes (`VmHWM`).
pub(crate) fn peak_resident(process: &str) -> Option<u64> {
    kibibytes_of(&format!("/proc/{process}/status"), "VmHWM:")
}

/// Largest resident set so far of the running descendants of this process with `word` in their command line, in bytes.
pub(crate) fn largest_descendant(word: &str) -> Option<u64> {
    let ids = || {
        std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|it| it.file_name().into_string().ok())
    };
    let status = |id: &str| std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let parents: HashMap<String, String> = ids()
        .filter_map(|id| {
            let parent =
                status(&id).lines().find_map(|line| line.strip_prefix("PPid:").map(|id| id.trim().to_owned()))?;
            Some((id, parent))
        })
        .collect();
    let own = std::process::id().to_string();
    let descends = |id: &String| {
        let parents = std::iter::successors(Some(id), |id| parents.get(*id));
        parents.skip(1).any(|parent| *parent == own)
    };
    let has_word = |id: &String| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    parents.keys().filter(|id| has_word(id) && descends(id)).filter_map(|id| peak_resident(id)).max()
}

/// Processor seconds of the threads of a process whose names start with `name`; 0 outside Linux. Unlike elapsed time,
/// it excludes other processes.
pub(crate) fn thread_seconds(process: &str, name: &str) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let worked = |thread: std::fs::DirEntry| {
        let read = |file: &str| std::fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let nanos = read("schedstat").split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok());
        nanos.filter(|_| read("comm").starts_with(name)).map_or(0.0, |nanos| nanos / 1e9)
    };
    threads.map(worked).sum()
}

/// List of the machine (processor, cores, memory, load), the compared programs, and the commit: one line each.
pub(crate) fn describe(browsers: &str) -> String {
    let model = field_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "an unnamed processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = kibibytes_of("/proc/meminfo", "MemTotal:").unwrap_or(0) >> 30;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    let python = output_of(Command::new("python3").arg("--version"));
    let commit = output_of(Command::new("git").args(["describe", "--always", "--dirty"]));
    let date = output_of(Command::new("date").args(["-u", "+%Y-%m-%d"]));
    format!(
        "* {model}, {cores} cores, {memory} GiB of memory; load average {load} when the run began (1.00 keeps one core busy)\n\
         * {browsers}, {python}\n* commit {commit}, {date}\n"
    )
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}

fn field_of(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches(['\t', ' ', ':']).trim().to_owned())
}

fn kibibytes_of(file: &str, name: &str) -> Option<u64> {
    let kibibytes: u64 = field_of(file, name)?.split(' ').next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
