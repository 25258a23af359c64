//! A file that is there whole or not at all: written beside its place, and put there at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file on its way. Dropped before [`Written::finish`], nothing of it is left.
pub(crate) struct Written {
    out: Option<BufWriter<Box<dyn Write>>>,
    /// Where it is written, and where it goes; a pipe or a device is written at once.
    places: Option<(PathBuf, PathBuf)>,
}

impl Written {
    /// Begins to write `out`; `-` is standard output. `source` is what is read for it.
    ///
    /// # Errors
    /// The system's, or both are the same file.
    pub(crate) fn create(out: &str, source: &str) -> io::Result<Written> {
        let at_once = |out: Box<dyn Write>| Ok(Written { out: Some(BufWriter::new(out)), places: None });
        if out == "-" {
            return at_once(Box::new(io::stdout().lock()));
        }
        // Through a link, which stays one.
        let place = fs::canonicalize(out).unwrap_or_else(|_| PathBuf::from(out));
        match fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a folder: name a file in it")),
            Ok(metadata) if !metadata.is_file() => return at_once(Box::new(File::options().write(true).open(&place)?)),
            Ok(_) if source != "-" && fs::canonicalize(source).is_ok_and(|source| source == place) => {
                return Err(io::Error::other("that is the snapshot itself, which would be lost"));
            }
            _ => {}
        }
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let begun = place.parent().unwrap_or(Path::new("")).join(name);
        // `create_new`: never through a link that somebody else put there.
        let file = File::options().write(true).create_new(true).open(&begun)?;
        Ok(Written { out: Some(BufWriter::new(Box::new(file))), places: Some((begun, place)) })
    }

    /// Puts it to its place.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(mut out) = self.out.take() {
            out.flush()?;
        }
        if let Some((begun, place)) = &self.places {
            fs::rename(begun, place)?;
        }
        self.places = None;
        Ok(())
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if let Some((begun, _)) = self.places.take() {
            self.out = None;
            // What can't be removed is beside its place, and says what it is.
            let _ = fs::remove_file(begun);
        }
    }
}
