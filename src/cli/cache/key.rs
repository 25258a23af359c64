//! Keys of cache entries. A key consists of a fingerprint of the file's contents, its modification times, and a hash of
//! the program's build.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use ui::text::fingerprint::{FingerprintHasher, parts};

/// Minimum age of a file's last modification before the file is cached. A later change then gets a different timestamp,
/// even on file systems that round times to two seconds.
const SETTLED_AGE: Duration = Duration::from_secs(2);

/// Length and modification times of a file, which change when the file is modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileVersion {
    pub(super) length: u64,
    modified: SystemTime,
    /// Time of the last status change (ctime) in ns since 1970. Programs cannot set it. 0 if the system does not record
    /// it.
    changed_ns: i128,
}

impl FileVersion {
    /// Returns the version of an open file, or `None` if the system does not report modification times.
    pub(super) fn read(file: &File) -> Option<FileVersion> {
        let metadata = file.metadata().ok()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok()?);
        Some(FileVersion { length, modified, changed_ns: changed_ns(&metadata) })
    }

    /// Returns true if the last modification is at least [`SETTLED_AGE`] old. Any later change is then detected.
    pub(super) fn is_settled(&self) -> bool {
        SystemTime::now().duration_since(self.modified).is_ok_and(|age| age >= SETTLED_AGE)
    }

    /// Returns the key of the file's cache entry, or `None` if the file became shorter while it was read. Reads at most
    /// 3 MiB.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be read.
    pub(super) fn key(&self, file: &mut File) -> io::Result<Option<String>> {
        let mut tap = FingerprintHasher::new(self.length);
        for part in parts(self.length) {
            tap.skip_to(part.start);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(part.start))?;
            file.by_ref().take(part.end - part.start).read_to_end(&mut bytes)?;
            tap.update(&bytes);
        }
        let modified_ns = self.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let key = |print: String| format!("{print}-{modified_ns:x}-{:x}-{:016x}", self.changed_ns, build_hash());
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

/// Returns a hash that identifies this build of the program. Builds of the same version may decode files differently.
fn build_hash() -> u64 {
    static BUILD: OnceLock<u64> = OnceLock::new();
    *BUILD.get_or_init(|| {
        let mut sum = DefaultHasher::new();
        sum.write(env!("CARGO_PKG_VERSION").as_bytes());
        if let Ok(program) = std::env::current_exe() {
            sum.write(program.as_os_str().as_encoded_bytes());
            let version = File::open(&program).ok().and_then(|file| FileVersion::read(&file));
            sum.write(format!("{version:?}").as_bytes());
        }
        sum.finish()
    })
}

#[cfg(test)]
#[path = "../../../tests/units/cli/cache/key.rs"]
mod tests;
