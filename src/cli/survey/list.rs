//! Lines of the list of files.

use compare::ranks::parse_names;
use exports::lake::Object;
use serde::Deserialize;
use std::path::PathBuf;

/// Maximum length of an error message in bytes.
const MAX_ERROR_LEN: usize = 500;

/// A file to survey.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// File to read. May be a pipe.
    pub(super) path: Option<PathBuf>,
    /// Address of the file, if it is a copy.
    url: Option<String>,
    /// Text that changes when the file changes.
    version: Option<String>,
    modified_us: Option<i64>,
    bytes: Option<i64>,
    job: Option<String>,
    /// Reason why the file cannot be read, if that is known.
    status: Option<String>,
    error: Option<String>,
}

impl Entry {
    /// Parses a line.
    ///
    /// # Errors
    /// Returns an error message if the line is not a JSON object with known keys, or names no file.
    pub(super) fn parse(line: &str) -> Result<Entry, String> {
        let entry: Entry = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if entry.path.is_none() && (entry.url.is_none() || entry.status.is_none()) {
            return Err("the line needs a path, or a url and a status".to_owned());
        }
        Ok(entry)
    }

    /// Returns the file to read, and what is known about it. The path is `None` if the file is known to be unreadable.
    pub(super) fn into_object(self) -> (Option<PathBuf>, Object) {
        let path = self.path.filter(|_| self.status.is_none());
        let url = self.url.or_else(|| Some(path.as_ref()?.to_string_lossy().into_owned()));
        let name = parse_names(&[url.as_deref().unwrap_or_default()]).pop().unwrap_or_default();
        let reason = if name.is_oom { Some("oom") } else { name.is_exit.then_some("exit") };
        let object = Object {
            url,
            version: self.version,
            bytes: self.bytes,
            modified_us: self.modified_us,
            job: self.job,
            sha256: None,
            member: None,
            rank: name.rank.map(i64::from),
            step: name.step.and_then(|step| i64::try_from(step).ok()),
            host: name.host,
            reason: reason.map(str::to_owned),
            status: self.status.unwrap_or_else(|| "ok".to_owned()),
            error: self.error.map(|error| shortened(&error)),
        };
        (path, object)
    }
}

/// Truncates an error message.
pub(super) fn shortened(error: &str) -> String {
    let mut end = error.len().min(MAX_ERROR_LEN);
    while !error.is_char_boundary(end) {
        end -= 1;
    }
    error.get(..end).unwrap_or_default().to_owned()
}
