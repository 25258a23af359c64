//! What tells a file from others, and from what it was before: its length, when it was changed, and a fingerprint of its bytes; and which
//! build of the program has decoded it.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use ui::fingerprint::{Tap, parts};

/// A file that was changed so long ago will have another time when it is changed again: file systems round times, some to two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// A state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// Bytes.
    pub(super) length: u64,
    modified: SystemTime,
    /// When anything about it changed, in nanoseconds; unlike the other time nobody can set it. 0 where the system knows no such thing.
    changed_ns: i128,
}

impl Version {
    /// `None` where the system does not say when it was changed.
    pub(super) fn of(file: &File) -> Option<Version> {
        let metadata = file.metadata().ok()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok()?);
        Some(Version { length, modified, changed_ns: changed_ns(&metadata) })
    }

    /// Whether the file was changed long enough ago that another change will be noticed.
    pub(super) fn is_settled(&self) -> bool {
        SystemTime::now().duration_since(self.modified).is_ok_and(|age| age >= SETTLED)
    }

    /// The key of what this build decodes of the file, which has this version; `None` where it was cut off meanwhile. Reads three MiB at most.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn key(&self, file: &mut File) -> io::Result<Option<String>> {
        let mut tap = Tap::new(self.length);
        for part in parts(self.length) {
            tap.skip_to(part.start);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(part.start))?;
            file.by_ref().take(part.end - part.start).read_to_end(&mut bytes)?;
            tap.take(&bytes);
        }
        let modified_ns = self.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let key = |print: String| format!("{print}-{modified_ns:x}-{:x}-{:016x}", self.changed_ns, build());
        Ok(tap.finish().map(key))
    }
}

#[cfg(unix)]
fn changed_ns(metadata: &Metadata) -> i128 {
    use std::os::unix::fs::MetadataExt;
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed_ns(_: &Metadata) -> i128 {
    0
}

/// A number of this build: another one may decode in another way, also where both are of the same version.
fn build() -> u64 {
    static BUILD: OnceLock<u64> = OnceLock::new();
    *BUILD.get_or_init(|| {
        let mut sum = DefaultHasher::new();
        sum.write(env!("CARGO_PKG_VERSION").as_bytes());
        if let Ok(program) = std::env::current_exe() {
            sum.write(program.as_os_str().as_encoded_bytes());
            let version = File::open(&program).ok().and_then(|file| Version::of(&file));
            sum.write(format!("{version:?}").as_bytes());
        }
        sum.finish()
    })
}

#[cfg(test)]
#[path = "../../../tests/units/cli/cache/key.rs"]
mod tests;
