//! Files that the MCP server may read: those in the folder that it was started with.

use crate::serve::{FEW_ENTRIES, Search, search};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Maximum number of snapshots in a listing.
const MAX_LISTED: usize = 100;

/// Default snapshot, and the folder whose files may be read.
#[derive(Clone, Debug, Default)]
pub(super) struct AllowedFiles {
    /// Default snapshot.
    file: Option<PathBuf>,
    /// Folder whose files may be read. `None` if any file may be read.
    folder: Option<PathBuf>,
}

impl AllowedFiles {
    /// Allows access to the folder of the given snapshot, to the given folder, or, without a path, to all files.
    ///
    /// # Errors
    /// Returns an error message if the path does not exist.
    pub(super) fn new(path: Option<&Path>) -> Result<AllowedFiles, String> {
        let Some(path) = path else { return Ok(AllowedFiles::default()) };
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        if path.is_dir() {
            return Ok(AllowedFiles { file: None, folder: Some(path) });
        }
        let folder = path.parent().map(Path::to_owned);
        Ok(AllowedFiles { file: Some(path), folder })
    }

    /// Returns the path of the named snapshot, or of the default snapshot if no name is given.
    ///
    /// # Errors
    /// Returns an error message with a list of snapshots if the file does not exist, may not be read, or no name is
    /// given and there is no default.
    pub(super) fn file(&self, named: Option<&str>) -> Result<String, String> {
        let path = match (named, &self.file) {
            (Some(named), _) => self.resolve(named)?,
            (None, Some(file)) => file.clone(),
            (None, None) => return Err(format!("file is missing. {}", self.choices_text())),
        };
        if path.is_dir() {
            return Err(format!("{} is a folder. {}", path.display(), self.choices_text()));
        }
        as_text(&path)
    }

    /// Returns the path of the named folder, or of the default folder if no name is given.
    ///
    /// # Errors
    /// Returns an error message if the folder does not exist, may not be read, or no name is given and there is no
    /// default.
    pub(super) fn folder(&self, named: Option<&str>) -> Result<String, String> {
        match (named, &self.folder) {
            (Some(named), _) => as_text(&self.resolve(named)?),
            (None, Some(folder)) => as_text(folder),
            (None, None) => Err("file is missing: name a folder with snapshots".to_owned()),
        }
    }

    fn resolve(&self, named: &str) -> Result<PathBuf, String> {
        let shown = |error: &str| format!("{named}: {error}. {}", self.choices_text());
        let path = match &self.folder {
            Some(folder) => folder.join(named),
            None => PathBuf::from(named),
        };
        // Resolve links and `..` before checking the folder.
        let path = path.canonicalize().map_err(|error| shown(&error.to_string()))?;
        match &self.folder {
            Some(folder) if !path.starts_with(folder) => {
                Err(shown(&format!("is outside of {}, which this server was started with", folder.display())))
            }
            _ => Ok(path),
        }
    }

    /// Lists the snapshots of the folder, newest first. Includes a note if not all entries were searched.
    pub(super) fn listing(&self) -> Value {
        let Some(folder) = &self.folder else { return json!({"snapshots": []}) };
        let Search { snapshots, not_searched } = search(&[folder], FEW_ENTRIES);
        let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let row = |path: &PathBuf| json!({"file": name(path), "bytes": path.metadata().map(|it| it.len()).ok()});
        let rows: Vec<Value> = snapshots.iter().map(|snapshot| row(&snapshot.path)).take(MAX_LISTED).collect();
        let left_out = snapshots.len() - rows.len();
        json!({
            "snapshots": rows,
            "snapshots_left_out": Some(left_out).filter(|&left_out| left_out > 0),
            "not_searched": Some(not_searched).filter(|missed| !missed.is_empty()),
        })
    }

    fn choices_text(&self) -> String {
        let listing = self.listing();
        let rows = listing["snapshots"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<String> =
            rows.iter().take(10).filter_map(|row| row["file"].as_str().map(str::to_owned)).collect();
        match names.len() {
            0 => "Name a snapshot by its path.".to_owned(),
            _ => format!("Snapshots here, newest first: {}", names.join(", ")),
        }
    }
}

fn as_text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{}: the name is not UTF-8", path.display()))
}
