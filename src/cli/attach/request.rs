//! A request to a program: a private folder with a script, which the program runs, and with its reply.

use super::process::Process;
use crate::temporary_file::TemporaryFile;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
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

/// A request that waits for its reply. Its folder is removed on drop.
pub(super) struct Request {
    folder: TempDir,
    script: TemporaryFile,
}

impl Request {
    /// Writes the script for a request: what to do, with options for `start`.
    ///
    /// # Errors
    /// Returns a sentence if the folder for temporary files is not safe, or cannot be written to.
    pub(super) fn write(process: &Process, mut options: Value) -> Result<Request, String> {
        let base = std::env::temp_dir();
        refuse_writable(&base)?;
        let failed = |error: std::io::Error| format!("{}: {error}", base.display());
        // Only the owner can read the script or write the reply.
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("memscape-attach-").permissions(private).tempdir_in(&base);
        let folder = folder.map_err(failed)?;
        if let Some(fields) = options.as_object_mut() {
            fields.insert("reply".to_owned(), json!(folder.path().join("reply.json")));
            fields.insert("modules".to_owned(), MODULES.iter().copied().collect());
        }
        // A JSON string in a JSON string is also a string in Python.
        let literal = Value::String(options.to_string()).to_string();
        let mut name = tempfile::Builder::new();
        let (mut file, script) =
            TemporaryFile::open_new(name.prefix("request").suffix(".py"), folder.path()).map_err(failed)?;
        file.write_all(BOOTSTRAP.replace("\"REQUEST\"", &literal).as_bytes()).map_err(failed)?;
        let request = Request { folder, script };
        for path in [request.script(), request.folder.path()] {
            let owner = fs::metadata(path).map_err(failed)?.uid();
            if owner != process.user {
                chown(path, Some(process.user), Some(process.group)).map_err(failed)?;
            }
        }
        Ok(request)
    }

    /// Returns the path of the script.
    pub(super) fn script(&self) -> &Path {
        self.script.path()
    }

    /// Returns the reply, once it is there.
    ///
    /// # Errors
    /// Returns a sentence if the reply is not an object.
    pub(super) fn reply(&self) -> Result<Option<Value>, String> {
        let Ok(text) = fs::read_to_string(self.folder.path().join("reply.json")) else { return Ok(None) };
        let reply: Value = serde_json::from_str(&text).map_err(|error| format!("the reply is no JSON: {error}"))?;
        if reply.is_object() { Ok(Some(reply)) } else { Err("the reply is no JSON object".to_owned()) }
    }
}

/// Refuses a folder if other users could replace files there.
///
/// # Errors
/// Returns a sentence that names the folder.
fn refuse_writable(folder: &Path) -> Result<(), String> {
    let whole: PathBuf = fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for part in whole.ancestors() {
        let mode = fs::metadata(part).map_err(|error| format!("{}: {error}", part.display()))?.permissions().mode();
        if mode & WRITABLE_BY_OTHERS != 0 && mode & STICKY == 0 {
            return Err(format!(
                "other users can write to {}, so the script for the program would not be safe there: set TMPDIR to a folder \
                 of your own",
                part.display()
            ));
        }
    }
    Ok(())
}
