//! A file that is there whole or not at all: written beside its place, and put there at the end.

use super::begun::Begun;
use super::output::standard_output;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file on its way. Dropped before [`Written::finish`], or interrupted, nothing of it is left.
pub(crate) struct Written {
    out: BufWriter<Box<dyn Write + Send>>,
    /// What is written, and where it goes; a pipe or a device is written at once.
    places: Option<(Begun, PathBuf)>,
}

impl Written {
    /// Begins to write `out`; `-` is standard output. `source` is what is read for it.
    ///
    /// # Errors
    /// The system's, or both are the same file.
    pub(crate) fn create(out: &Path, source: &Path) -> io::Result<Written> {
        let at_once = |out: Box<dyn Write + Send>| Ok(Written { out: BufWriter::new(out), places: None });
        if out.as_os_str() == "-" {
            return at_once(standard_output());
        }
        // Through a link, which stays one.
        let place = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
        match fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("is a folder: name a file in it")),
            Ok(metadata) if !metadata.is_file() => return at_once(Box::new(File::options().write(true).open(&place)?)),
            Ok(_) if source.as_os_str() != "-" && fs::canonicalize(source).is_ok_and(|source| source == place) => {
                return Err(io::Error::other("would overwrite the snapshot"));
            }
            _ => {}
        }
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(".");
        let mut named = tempfile::Builder::new();
        named.prefix(&name).suffix(".part");
        // As any other file that is written: what may be read is the user's choice.
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (file, begun) = Begun::create(&named, place.parent().unwrap_or(Path::new("")))?;
        Ok(Written { out: BufWriter::new(Box::new(file)), places: Some((begun, place)) })
    }

    /// Puts it to its place.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        let Written { out, places } = self;
        drop(out);
        places.map_or(Ok(()), |(begun, place)| begun.put(&place))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
