//! A request to a program: a private folder with a script, which the program runs, and with its reply.

use super::process::{Process, own_user};
use crate::temporary_file::{PRIVATE, TemporaryFile};
use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Script that imports the recorder from memory and writes the reply.
const BOOTSTRAP: &str = include_str!("bootstrap.py");
/// Modules of the Python package, with their sources.
const MODULES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/python_modules.rs"));
/// Permission of others to create and remove files in a folder.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// In a folder with this bit, others can only remove their own files.
const STICKY: u32 = 0o1000;

/// Name of the reply in the folder.
const REPLY: &str = "reply.json";
/// Maximum length of a reply, in bytes. Replies have a few hundred.
const MAX_REPLY: u64 = 1 << 20;

/// A request that waits for its reply. Its folder is removed on drop.
pub(super) struct Request {
    folder: TempDir,
    script: TemporaryFile,
    /// Owner of the program, and so of the reply.
    user: u32,
}

impl Request {
    /// Writes the script for a request: what to do, with options for `start`.
    ///
    /// # Errors
    /// Returns a sentence if the folder for temporary files is not safe, or cannot be written to.
    pub(super) fn write(process: &Process, options: Value) -> Result<Request, String> {
        Request::write_in(&std::env::temp_dir(), process, options)
    }

    /// Writes the script into a new folder in `base`.
    fn write_in(base: &Path, process: &Process, mut options: Value) -> Result<Request, String> {
        let base = safe_folder(base, process.user)?;
        let failed = |error: std::io::Error| format!("{}: {error}", base.display());
        // Only the owner can read the script or write the reply.
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("memscape-attach-").permissions(private).tempdir_in(&base);
        let folder = folder.map_err(failed)?;
        if let Some(fields) = options.as_object_mut() {
            fields.insert("reply".to_owned(), json!(folder.path().join(REPLY)));
            fields.insert("modules".to_owned(), MODULES.iter().copied().collect());
        }
        // A JSON string in a JSON string is also a string in Python.
        let literal = Value::String(options.to_string()).to_string();
        let mut name = tempfile::Builder::new();
        let (mut file, script) =
            TemporaryFile::open_new(name.prefix("request").suffix(".py"), folder.path(), PRIVATE).map_err(failed)?;
        file.write_all(BOOTSTRAP.replace("\"REQUEST\"", &literal).as_bytes()).map_err(failed)?;
        let request = Request { folder, script, user: process.user };
        // The script first: once the folder has another owner, what is in it may be a link.
        for path in [request.script(), request.folder.path()] {
            let owner = fs::metadata(path).map_err(failed)?.uid();
            if owner != process.user {
                chown(path, Some(process.user), Some(process.group)).map_err(failed)?;
            }
        }
        Ok(request)
    }

    pub(super) fn script(&self) -> &Path {
        self.script.path()
    }

    /// Returns the reply, once it is there.
    ///
    /// # Errors
    /// Returns a sentence if the reply is not an object in a file of the program's owner.
    pub(super) fn reply(&self) -> Result<Option<Value>, String> {
        // The owner of the program may leave a link to a file of this user, or a pipe that never ends.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let path = self.folder.path().join(REPLY);
        let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("the reply cannot be read: {error}")),
        };
        let facts = file.metadata().map_err(|error| format!("the reply cannot be read: {error}"))?;
        if !facts.is_file() || facts.uid() != self.user {
            return Err("the reply is no file of the program's owner".to_owned());
        }
        let mut bytes = Vec::new();
        let length = file.take(MAX_REPLY + 1).read_to_end(&mut bytes);
        if length.map_err(|error| format!("the reply cannot be read: {error}"))? as u64 > MAX_REPLY {
            return Err(format!("the reply is longer than {MAX_REPLY} bytes"));
        }
        let reply: Value = serde_json::from_slice(&bytes).map_err(|error| format!("the reply is no JSON: {error}"))?;
        if reply.is_object() { Ok(Some(reply)) } else { Err("the reply is no JSON object".to_owned()) }
    }
}

/// Returns the path of a folder without symbolic links, which could be changed later.
///
/// # Errors
/// Returns a sentence that names a folder on the path where users other than root, this one and the program's `owner`
/// could replace files.
fn safe_folder(folder: &Path, owner: u32) -> Result<PathBuf, String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let whole = fs::canonicalize(folder).map_err(|error| failed(folder, error))?;
    for part in whole.ancestors() {
        let facts = fs::metadata(part).map_err(|error| failed(part, error))?;
        let is_shared = facts.mode() & WRITABLE_BY_OTHERS != 0 && facts.mode() & STICKY == 0;
        let is_trusted = facts.uid() == 0 || facts.uid() == owner || Some(facts.uid()) == own_user();
        if is_shared || !is_trusted {
            return Err(format!(
                "other users can replace files in {}, so the script for the program would not be safe there: set TMPDIR to \
                 a folder of your own",
                part.display()
            ));
        }
    }
    Ok(whole)
}

#[cfg(test)]
#[path = "../../../tests/units/cli/attach/request.rs"]
mod tests;
