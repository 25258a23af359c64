//! The `--rules` argument, shared by every command that shows or writes categories.

use super::open_snapshot::OpenSnapshot;
use clap::Args;
use protocol::{CategorySet, SetError};
use std::path::{Path, PathBuf};
use ui::state::rules::SetChoice;
use ui::state::stored_rules::stored_text;

/// Shared argument for category rules.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CategoryRules {
    /// Category rules: default, mosaic, or a file (JSON, or Mosaic's JSON or YAML)
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<PathBuf>,
}

impl CategoryRules {
    /// Reads the rules. Returns `None` if the argument was not given.
    ///
    /// # Errors
    /// Returns an error message that names the file if the rules cannot be read or are invalid.
    pub(crate) fn read(&self) -> Result<Option<CategorySet>, String> {
        let named = |path: &Path| read(path).map_err(|error| format!("{}: {error}", path.display()));
        self.rules.as_deref().map(named).transpose()
    }

    /// Reads the rules, and formats them for a page that opens with them. Empty if the argument was not given.
    ///
    /// # Errors
    /// Returns the same errors as [`CategoryRules::read`].
    pub(crate) fn to_stored(&self) -> Result<String, String> {
        let Some(set) = self.read()? else { return Ok(String::new()) };
        let name = self.rules.as_deref().and_then(Path::to_str);
        let built_in = name.filter(|name| CategorySet::built_in_by_name(name).is_some());
        Ok(built_in
            .map_or_else(|| stored_text(SetChoice::Own.name(), &set.to_json(), ""), |name| stored_text(name, "", "")))
    }

    /// Classifies the allocations of an open file by the given rules. Does nothing if no rules are given.
    ///
    /// # Errors
    /// Returns the same errors as [`CategoryRules::read`].
    pub(crate) fn classify(&self, snapshot: &mut OpenSnapshot) -> Result<(), String> {
        self.read()?.into_iter().for_each(|set| snapshot.classify(set));
        Ok(())
    }
}

fn read(rules: &Path) -> Result<CategorySet, String> {
    if let Some(set) = rules.to_str().and_then(CategorySet::built_in_by_name) {
        return Ok(set);
    }
    let text = std::fs::read_to_string(rules).map_err(|error| error.to_string())?;
    let sentences = |errors: Vec<SetError>| errors.iter().map(SetError::to_string).collect::<Vec<String>>().join("; ");
    yaml::parse(&text).map_err(sentences)
}
