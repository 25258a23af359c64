//! `memscape completions` and `memscape man`: shell completions and man pages, generated from the arguments.

use super::output::print;
use super::output_file::OutputFile;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man as Page;
use std::path::{Path, PathBuf};

/// Arguments of `memscape completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Completions {
    /// Shell to print the script for
    pub(crate) shell: Shell,
}

impl Completions {
    /// Prints the completion script.
    ///
    /// # Errors
    /// Returns an error message if standard output cannot be written.
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
    /// Writes one man page for the program and one for each command.
    ///
    /// # Errors
    /// Returns an error message if a page cannot be written.
    pub(crate) fn run(&self, command: Command) -> Result<(), String> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        write_pages(&command, &self.folder)
    }
}

/// Writes the man pages of a command and of its subcommands.
fn write_pages(command: &Command, folder: &Path) -> Result<(), String> {
    let page = Page::new(command.clone());
    let file = OutputFile::in_folder(folder, &page.get_filename());
    let written = file.create().and_then(|mut out| page.render(&mut out).and_then(|()| out.finish()));
    written.map_err(|error| format!("{}: {error}", file.path().display()))?;
    let mut commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    commands.try_for_each(|command| write_pages(command, folder))
}
