//! Output files of commands. Writing never overwrites an input file, and never leaves an incomplete file.
//!
//! Every argument that names an output file has the type [`OutputFile`], the only way to write a file.
//! [`refuse_inputs`] compares output files with all other paths of the command before anything is read.

use super::output::standard_output;
use super::serve::snapshots;
use super::temporary_file::{NORMAL, TemporaryFile};
use clap::ArgMatches;
use same_file::Handle;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Paths that mean standard output.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Maximum number of symbolic links that are followed to find the file to write, which may not exist yet.
const MAX_LINKS: usize = 16;

/// Path of an output file, as given by the user. `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputFile(PathBuf);

impl From<OsString> for OutputFile {
    fn from(name: OsString) -> OutputFile {
        OutputFile(name.into())
    }
}

/// Checks that no output file is also an input file, directly, through a link, or as a snapshot in an input folder.
///
/// # Errors
/// Returns an error message that names both files.
pub(crate) fn refuse_inputs(cli: &clap::Command, matches: &ArgMatches) -> Result<(), String> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    // Global arguments, such as the cache folder, are not arguments of the subcommand and are skipped.
    let arguments = cli.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for id in arguments.map(|argument| argument.get_id().as_str()) {
        if let Ok(Some(files)) = matches.try_get_many::<OutputFile>(id) {
            outputs.extend(files);
        } else if let Ok(Some(files)) = matches.try_get_many::<PathBuf>(id) {
            inputs.extend(files.map(PathBuf::as_path));
        }
    }
    outputs.into_iter().try_for_each(|output| output.reject_inputs(&inputs))
}

impl OutputFile {
    /// Creates an output file that was not named on the command line. `inputs` are the files being read.
    ///
    /// # Errors
    /// Returns an error message if the file is one of the inputs.
    pub(crate) fn new(name: &str, inputs: &[&Path]) -> Result<OutputFile, String> {
        let output = OutputFile(name.into());
        output.reject_inputs(inputs).map(|()| output)
    }

    /// Returns an output file in a folder. The caller calls [`OutputFile::reject_inputs`], unless the command reads no
    /// files.
    pub(crate) fn in_folder(folder: &Path, name: &str) -> OutputFile {
        OutputFile(folder.join(name))
    }

    /// Returns the path, for messages and file extensions.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns true if this is standard output.
    pub(crate) fn is_standard_output(&self) -> bool {
        STANDARD_OUTPUT.iter().any(|name| self.0.as_os_str() == *name)
    }

    /// Returns the folder for the temporary file, or `None` for standard output, pipes and devices, which are written
    /// directly.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let place = destination(&self.0);
        let is_written_at_once = self.is_standard_output() || fs::metadata(&place).is_ok_and(|it| !it.is_file());
        if is_written_at_once { None } else { Some(folder_of(&place)) }
    }

    /// Returns true if both outputs are standard output, or the same file.
    pub(crate) fn is_same(&self, other: &OutputFile) -> bool {
        let are_streams = [self.is_standard_output(), other.is_standard_output()];
        // The files may not exist yet, so that only their folders can be compared as files.
        let place = |path: &Path| {
            let file = destination(path);
            (fs::canonicalize(folder_of(&file)).ok(), file.file_name().map(ToOwned::to_owned))
        };
        let is_same_path = || place(&self.0) == place(&other.0);
        are_streams == [true; 2] || are_streams == [false; 2] && is_same_path()
    }

    /// Checks that this is none of the files and folders that are read.
    ///
    /// # Errors
    /// Returns an error message that names both files.
    pub(crate) fn reject_inputs(&self, inputs: &[&Path]) -> Result<(), String> {
        let written = if self.is_standard_output() { Handle::stdout() } else { existing_file(&self.0) };
        let Some(written) = regular_file(written) else { return Ok(()) };
        let is_written = |input: &Path| {
            let read = if input.as_os_str() == "-" { Handle::stdin() } else { existing_file(input) };
            regular_file(read).is_some_and(|read| read == written)
        };
        for input in inputs {
            let refused = if input.is_dir() {
                snapshots(input).into_iter().map(|found| found.path).find(|path| is_written(path))
            } else {
                is_written(input).then(|| input.to_path_buf())
            };
            if let Some(input) = refused {
                return Err(format!(
                    "{}: would overwrite the input {}; name another output file",
                    self.0.display(),
                    input.display()
                ));
            }
        }
        Ok(())
    }

    /// Starts writing. The file gets its final name in [`OutputWriter::finish`]. Pipes, devices and standard output are
    /// written directly.
    ///
    /// # Errors
    /// Returns the I/O error, or an error if the path is a folder or read-only.
    pub(crate) fn create(&self) -> io::Result<OutputWriter> {
        let at_once = |out: Box<dyn Write + Send>| OutputWriter { out: BufWriter::new(out), pending: None };
        if self.is_standard_output() {
            return Ok(at_once(standard_output()));
        }
        if self.0.as_os_str().is_empty() {
            return Err(io::Error::other("the name of the output file is empty"));
        }
        let destination = destination(&self.0);
        let old = fs::metadata(&destination).ok();
        match &old {
            Some(old) if old.is_dir() => return Err(io::Error::other("is a folder: name a file in it")),
            Some(old) if !old.is_file() => {
                return Ok(at_once(Box::new(File::options().write(true).open(&destination)?)));
            }
            Some(old) if old.permissions().readonly() => return Err(io::Error::other("is read-only")),
            _ => {}
        }
        // A short name, because the name of the output may already have the maximum length.
        let mut named = tempfile::Builder::new();
        named.prefix(".memscape-").suffix(".part");
        let folder = folder_of(&destination);
        let (file, temporary) =
            TemporaryFile::open_new(&named, &folder, NORMAL).map_err(|error| match error.kind() {
                ErrorKind::NotFound => io::Error::other("no such folder; create it first"),
                _ => error,
            })?;
        let pending =
            Pending { temporary, destination, file: file.try_clone()?, permissions: old.map(|old| old.permissions()) };
        Ok(OutputWriter { out: BufWriter::new(Box::new(file)), pending: Some(pending) })
    }
}

/// Returns a handle to an existing regular file. Named pipes are not opened, because opening them would block until
/// another process writes.
fn existing_file(path: &Path) -> io::Result<Handle> {
    if fs::metadata(path)?.is_file() { Handle::from_path(path) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Discards handles that are not regular files. Reading and writing the same terminal or `/dev/null` is harmless.
fn regular_file(handle: io::Result<Handle>) -> Option<Handle> {
    handle.ok().filter(|handle| handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file()))
}

/// Follows symbolic links to the file that will be written, which may not exist yet. The links themselves are not
/// replaced.
fn destination(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs::canonicalize(&place) {
            return real;
        }
        let Ok(target) = fs::read_link(&place) else { break };
        place = folder_of(&place).join(target);
    }
    place
}

/// Returns the folder of a path, or `.` if the path has none.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// An output file that is being written. If it is dropped before [`OutputWriter::finish`], the written data is
/// discarded.
pub(crate) struct OutputWriter {
    out: BufWriter<Box<dyn Write + Send>>,
    pending: Option<Pending>,
}

/// A temporary file, and the path that it will be moved to.
struct Pending {
    temporary: TemporaryFile,
    destination: PathBuf,
    file: File,
    /// Permissions of the file that will be replaced, if it exists.
    permissions: Option<Permissions>,
}

impl OutputWriter {
    /// Flushes the file and moves it to its final path atomically.
    ///
    /// # Errors
    /// Returns the I/O error if the file cannot be written or moved.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        let OutputWriter { out, pending } = self;
        drop(out);
        pending.map_or(Ok(()), Pending::persist)
    }
}

impl Pending {
    fn persist(self) -> io::Result<()> {
        // Network file systems may report a full disk only on sync.
        match self.file.sync_data() {
            Err(error) if !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
                return Err(error);
            }
            _ => {}
        }
        if let Some(permissions) = self.permissions {
            fs::set_permissions(self.temporary.path(), permissions)?;
        }
        drop(self.file);
        self.temporary.persist(&self.destination)
    }
}

impl Write for OutputWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[path = "../../tests/units/cli/output_file.rs"]
mod tests;
