//! Versions of watched files, reloads, and reports about changes.

/// Version of a file that has an address.
#[derive(Clone, Debug, PartialEq)]
pub struct FileVersion {
    /// Address of the file, written exactly as in the list of snapshots of `memscape serve`.
    pub address: String,
    /// Version identifier. It changes whenever the file does.
    pub version: String,
    pub rank: Option<u32>,
    /// Time of the last change on the shell's clock, in milliseconds. Negative infinity if unknown.
    pub changed_ms: f64,
}

impl FileVersion {
    /// Parses a message of `memscape serve` (see `src/cli/serve/watch.rs`) with one file per line. Ignores invalid
    /// lines.
    pub fn parse(text: &str, now_ms: f64) -> Vec<FileVersion> {
        let file = |line: &str| {
            let mut words = line.splitn(4, ' ');
            let (rank, version, age, address) = (words.next()?, words.next()?, words.next()?, words.next()?);
            let age: f64 = age.parse::<u64>().ok()? as f64;
            let (version, address) = (version.to_owned(), address.to_owned());
            Some(FileVersion { address, version, rank: rank.parse().ok(), changed_ms: now_ms - age })
        };
        text.lines().filter_map(file).collect()
    }

    /// Parses the line `files COUNT` of a message: the number of snapshots that `memscape serve` has.
    pub fn count(text: &str) -> Option<usize> {
        text.lines().find_map(|line| line.strip_prefix("files ")?.parse().ok())
    }
}

/// A file that is newer than the open one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewerFile {
    pub(crate) address: String,
    pub(crate) changed_ms: f64,
    /// True if this is a newer version of the open file itself.
    pub(crate) is_open: bool,
}

/// A task that requires the state of all features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WatchTask {
    /// Opens this address.
    Open(String, LoadCause),
    /// Compares the open snapshot with the one at this index.
    Compare(usize),
}

/// Trigger of a reload: the user, or automatic reloading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadCause {
    User,
    /// Automatic reload. Its errors are not shown.
    Automatic,
}

/// A newer file that is being loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reload {
    pub(crate) load: u32,
    pub(crate) cause: LoadCause,
    pub(crate) started_ms: f64,
}

/// Reports about changed files, and user input about them.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchAction {
    /// `memscape serve` reports its current files.
    FilesReported(Vec<FileVersion>),
    /// `memscape serve` reports its number of snapshots, including those that it does not list.
    CountReported(usize),
    /// The load with this id has read this version of a file.
    Loaded {
        load: u32,
        version: String,
    },
    /// A poll returned the current version of the open file.
    Polled(FileVersion),
    /// A poll of the file at this address failed.
    PollFailed(String),
    /// Sent regularly, to retry an automatic reload.
    TimePassed,
    Dismissed,
    /// Compares the open snapshot with the one at this index.
    Compared(usize),
}
