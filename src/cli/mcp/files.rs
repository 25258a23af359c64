//! Which files are read: what the server was started with, and what lies beside or below it.

use crate::serve::{FEW_ENTRIES, Search, search};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Snapshots of a folder that are listed.
const MOST_LISTED: usize = 100;

/// What may be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// The snapshot that is meant where none is named.
    file: Option<PathBuf>,
    /// Nothing outside of it is read; any file is where there is none.
    folder: Option<PathBuf>,
}

impl Files {
    /// Of a snapshot, a folder, or the whole machine.
    ///
    /// # Errors
    /// There is no such thing: one sentence.
    pub(super) fn of(path: Option<&Path>) -> Result<Files, String> {
        let Some(path) = path else { return Ok(Files::default()) };
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        if path.is_dir() {
            return Ok(Files { file: None, folder: Some(path) });
        }
        let folder = path.parent().map(Path::to_owned);
        Ok(Files { file: Some(path), folder })
    }

    /// The path of a snapshot.
    ///
    /// # Errors
    /// It is not there, not to be read, or none is named: one sentence that says which there are.
    pub(super) fn file(&self, named: Option<&str>) -> Result<String, String> {
        let path = match (named, &self.file) {
            (Some(named), _) => self.resolved(named)?,
            (None, Some(file)) => file.clone(),
            (None, None) => return Err(format!("file is missing. {}", self.choices())),
        };
        if path.is_dir() {
            return Err(format!("{} is a folder. {}", path.display(), self.choices()));
        }
        as_text(&path)
    }

    /// The path of a folder.
    ///
    /// # Errors
    /// It is not there, or not to be read: one sentence.
    pub(super) fn folder(&self, named: Option<&str>) -> Result<String, String> {
        match (named, &self.folder) {
            (Some(named), _) => as_text(&self.resolved(named)?),
            (None, Some(folder)) => as_text(folder),
            (None, None) => Err("file is missing: name a folder with snapshots".to_owned()),
        }
    }

    fn resolved(&self, named: &str) -> Result<PathBuf, String> {
        let shown = |error: &str| format!("{named}: {error}. {}", self.choices());
        let path = match &self.folder {
            Some(folder) => folder.join(named),
            None => PathBuf::from(named),
        };
        // Links and `..` may lead elsewhere.
        let path = path.canonicalize().map_err(|error| shown(&error.to_string()))?;
        match &self.folder {
            Some(folder) if !path.starts_with(folder) => {
                Err(shown(&format!("is outside of {}, which this server was started with", folder.display())))
            }
            _ => Ok(path),
        }
    }

    /// Snapshots of the folder, the newest first, and what was left out.
    pub(super) fn listing(&self) -> Value {
        let Some(folder) = &self.folder else { return json!({"snapshots": []}) };
        let Search { snapshots, missed } = search(&[folder], FEW_ENTRIES);
        let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let row = |path: &PathBuf| json!({"file": name(path), "bytes": path.metadata().map(|it| it.len()).ok()});
        let rows: Vec<Value> = snapshots.iter().map(|snapshot| row(&snapshot.path)).take(MOST_LISTED).collect();
        let left_out = snapshots.len() - rows.len();
        json!({
            "snapshots": rows,
            "snapshots_left_out": Some(left_out).filter(|&left_out| left_out > 0),
            "not_searched": Some(missed).filter(|missed| !missed.is_empty()),
        })
    }

    fn choices(&self) -> String {
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
