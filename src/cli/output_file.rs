//! Files that commands write: never one of their inputs, and complete or absent.
//!
//! Every argument that names a file to write is an [`OutputFile`], which is the only way to write one. [`refuse_inputs`] compares all of
//! them with all other paths of the command before anything is read.

use super::begun::Begun;
use super::output::standard_output;
use super::serve::snapshots;
use clap::ArgMatches;
use same_file::Handle;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Names under which shells and scripts pass standard output.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Maximum number of links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 16;

/// A file to write, as named by the user; `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputFile(PathBuf);

impl From<OsString> for OutputFile {
    fn from(name: OsString) -> OutputFile {
        OutputFile(name.into())
    }
}

/// Refuses arguments whose output file is one of the inputs: by another name, through a link, or as one of the snapshots of a folder.
///
/// # Errors
/// One sentence that names both.
pub(crate) fn refuse_inputs(cli: &clap::Command, matches: &ArgMatches) -> Result<(), String> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    // Arguments of every command, such as the folder of the cache, are not among those of the command itself.
    let arguments = cli.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for id in arguments.map(|argument| argument.get_id().as_str()) {
        if let Ok(Some(files)) = matches.try_get_many::<OutputFile>(id) {
            outputs.extend(files);
        } else if let Ok(Some(files)) = matches.try_get_many::<PathBuf>(id) {
            inputs.extend(files.map(PathBuf::as_path));
        }
    }
    outputs.into_iter().try_for_each(|output| output.refuse(&inputs))
}

impl OutputFile {
    /// An output file that was not an argument, where `inputs` are being read.
    ///
    /// # Errors
    /// It is one of the inputs: one sentence.
    pub(crate) fn new(name: &str, inputs: &[&Path]) -> Result<OutputFile, String> {
        let output = OutputFile(name.into());
        output.refuse(inputs).map(|()| output)
    }

    /// A file in a folder that nothing is read from.
    pub(crate) fn in_folder(folder: &Path, name: &str) -> OutputFile {
        OutputFile(folder.join(name))
    }

    /// The name, for messages and endings.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether it is standard output.
    pub(crate) fn is_standard_output(&self) -> bool {
        STANDARD_OUTPUT.iter().any(|name| self.0.as_os_str() == *name)
    }

    /// The folder of a file that is written beside its place; `None` for standard output, pipes and devices.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let place = destination(&self.0);
        let is_written_at_once = self.is_standard_output() || fs::metadata(&place).is_ok_and(|it| !it.is_file());
        if is_written_at_once { None } else { Some(folder_of(&place)) }
    }

    fn refuse(&self, inputs: &[&Path]) -> Result<(), String> {
        let written = if self.is_standard_output() { Handle::stdout() } else { open(&self.0) };
        let Some(written) = regular(written) else { return Ok(()) };
        let is_written = |input: &Path| {
            let read = if input.as_os_str() == "-" { Handle::stdin() } else { open(input) };
            regular(read).is_some_and(|read| read == written)
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

    /// Starts writing. The file appears under its name in [`OutputWriter::finish`]; pipes, devices and standard output are written at once.
    ///
    /// # Errors
    /// The system's, or it is a folder or read-only.
    pub(crate) fn create(&self) -> io::Result<OutputWriter> {
        let at_once = |out: Box<dyn Write + Send>| OutputWriter { out: BufWriter::new(out), pending: None };
        if self.is_standard_output() {
            return Ok(at_once(standard_output()));
        }
        let place = destination(&self.0);
        let old = fs::metadata(&place).ok();
        match &old {
            Some(old) if old.is_dir() => return Err(io::Error::other("is a folder: name a file in it")),
            Some(old) if !old.is_file() => return Ok(at_once(Box::new(File::options().write(true).open(&place)?))),
            Some(old) if old.permissions().readonly() => return Err(io::Error::other("is read-only")),
            _ => {}
        }
        // Short, because the name of the file may be as long as names can be.
        let mut named = tempfile::Builder::new();
        named.prefix(".memscape-").suffix(".part");
        // As for any other new file, the umask decides who may read it.
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (file, begun) = Begun::create(&named, &folder_of(&place))?;
        let pending = Pending { begun, place, file: file.try_clone()?, permissions: old.map(|old| old.permissions()) };
        Ok(OutputWriter { out: BufWriter::new(Box::new(file)), pending: Some(pending) })
    }
}

/// An existing file by any of its names. Pipes are not opened: that would wait for a writer.
fn open(path: &Path) -> io::Result<Handle> {
    if fs::metadata(path)?.is_file() { Handle::from_path(path) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// Terminals and `/dev/null` are both read and written, which harms nobody.
fn regular(handle: io::Result<Handle>) -> Option<Handle> {
    handle.ok().filter(|handle| handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file()))
}

/// The file behind links, which stay links; also one that does not exist yet.
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

/// The folder of a file; `.` where its name has none.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A file being written. Dropped before [`OutputWriter::finish`], or interrupted, it leaves nothing.
pub(crate) struct OutputWriter {
    out: BufWriter<Box<dyn Write + Send>>,
    pending: Option<Pending>,
}

/// A complete file on its way to its place.
struct Pending {
    begun: Begun,
    place: PathBuf,
    file: File,
    /// Those of the file that it replaces.
    permissions: Option<Permissions>,
}

impl OutputWriter {
    /// Moves the file to its place, in one step.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        let OutputWriter { out, pending } = self;
        drop(out);
        pending.map_or(Ok(()), Pending::put)
    }
}

impl Pending {
    fn put(self) -> io::Result<()> {
        // File systems of a network report a full disk only now.
        match self.file.sync_data() {
            Err(error) if !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
                return Err(error);
            }
            _ => {}
        }
        if let Some(permissions) = self.permissions {
            fs::set_permissions(self.begun.path(), permissions)?;
        }
        drop(self.file);
        self.begun.put(&self.place)
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
