//! What a shell and `man` are given: completions and manual pages, made from the arguments themselves.

use super::output::print;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use std::path::PathBuf;

/// Arguments of `memscape completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Completions {
    /// Shell to print the script for
    pub(crate) shell: Shell,
}

impl Completions {
    /// Prints the script.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn run(&self, mut command: Command) -> Result<(), String> {
        let mut script = Vec::new();
        generate(self.shell, &mut command, "memscape", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Arguments of `memscape man`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Man {
    /// Folder to write memscape.1, memscape-live.1, ... into
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

impl Man {
    /// Writes a page for the program and one for each command.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn run(&self, command: Command) -> Result<(), String> {
        clap_mangen::generate_to(command, &self.folder).map_err(|error| error.to_string())
    }
}
