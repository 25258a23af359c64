//! Input files of commands. Regular files are seekable. Pipes are copied to a temporary file if the engine needs to
//! seek.

use super::temporary_file::{PRIVATE, TemporaryFile};
use engine::NeededBytes;
use protocol::Access;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Number of bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// An open file or pipe.
pub(crate) struct Input {
    bytes: InputBytes,
    /// First chunk of a pipe, until the second chunk is read. [`Input::copy_to_file`] copies it to the temporary file.
    first_chunk: Option<Vec<u8>>,
    /// Called before each chunk is read. If it returns an error, reading stops.
    before_chunk: Option<Box<dyn FnMut() -> io::Result<()>>>,
}

enum InputBytes {
    File { file: File, length: u64, owned: Option<TemporaryFile> },
    Pipe(Box<dyn Read>),
}

impl Input {
    /// Opens a path. `-` is standard input.
    ///
    /// # Errors
    /// Returns the I/O error if the path cannot be opened, or an error if it is a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Input> {
        let bytes = if path.as_os_str() == "-" {
            InputBytes::Pipe(Box::new(io::stdin().lock()))
        } else {
            let file = File::open(path)?;
            match file.metadata()? {
                metadata if metadata.is_file() => InputBytes::File { file, length: metadata.len(), owned: None },
                metadata if metadata.is_dir() => return Err(io::Error::other("is a folder: name the files in it")),
                _ => InputBytes::Pipe(Box::new(file)),
            }
        };
        Ok(Input { bytes, first_chunk: None, before_chunk: None })
    }

    /// Wraps a file that is already open.
    ///
    /// # Errors
    /// Returns the I/O error if the length of the file cannot be read.
    pub(crate) fn from_file(file: File) -> io::Result<Input> {
        let length = file.metadata()?.len();
        Ok(Input { bytes: InputBytes::File { file, length, owned: None }, first_chunk: None, before_chunk: None })
    }

    /// Returns a second handle to the user's file, or `None` for a pipe. Both handles share one seek position.
    pub(crate) fn user_file(&self) -> Option<File> {
        match &self.bytes {
            InputBytes::File { file, owned: None, .. } => file.try_clone().ok(),
            _ => None,
        }
    }

    /// Sets a callback that is called before each chunk. [`Input::chunk`] returns its error.
    pub(crate) fn set_before_chunk(&mut self, watch: Box<dyn FnMut() -> io::Result<()>>) {
        self.before_chunk = Some(watch);
    }

    /// Returns whether the engine can seek in the input.
    pub(crate) fn access(&self) -> Access {
        if matches!(self.bytes, InputBytes::Pipe(_)) { Access::Sequential } else { Access::Random }
    }

    /// Returns the length in bytes, or `None` for a pipe.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        match &self.bytes {
            InputBytes::File { length, .. } => Some(*length),
            InputBytes::Pipe(_) => None,
        }
    }

    /// Seeks to the start of a file. Does nothing for a pipe.
    ///
    /// # Errors
    /// Returns the I/O error of the seek.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            InputBytes::File { file, .. } => file.rewind(),
            InputBytes::Pipe(_) => Ok(()),
        }
    }

    /// Reads the next bytes that the engine needs. Returns an empty vector at the end of the input.
    /// [`NeededBytes::WholeFile`] is not supported: call [`Input::copy_to_file`] first.
    ///
    /// # Errors
    /// Returns the I/O error, or the error of the callback set by [`Input::set_before_chunk`].
    pub(crate) fn chunk(&mut self, want: NeededBytes) -> io::Result<Vec<u8>> {
        self.before_chunk.as_mut().map_or(Ok(()), |watch| watch())?;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        match &mut self.bytes {
            InputBytes::File { file, .. } => {
                if let NeededBytes::At(offset) = want {
                    file.seek(SeekFrom::Start(offset))?;
                }
                file.take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
            }
            InputBytes::Pipe(pipe) => {
                pipe.take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
                // The engine decides on the first chunk whether it needs to seek, so only that chunk has to be
                // remembered.
                self.first_chunk = if self.first_chunk.is_none() { Some(chunk.clone()) } else { Some(Vec::new()) };
            }
        }
        Ok(chunk)
    }

    /// Returns a reader of the remaining bytes.
    pub(crate) fn into_reader(self) -> Box<dyn Read> {
        match self.bytes {
            InputBytes::File { file, .. } => Box::new(file),
            InputBytes::Pipe(pipe) => pipe,
        }
    }

    /// Copies a pipe to a temporary file, which is seekable. Does nothing for a regular file.
    ///
    /// # Errors
    /// Returns the I/O error if the temporary file cannot be written.
    pub(crate) fn copy_to_file(&mut self) -> io::Result<()> {
        let InputBytes::Pipe(pipe) = &mut self.bytes else { return Ok(()) };
        let (mut file, owned) =
            TemporaryFile::open_new(tempfile::Builder::new().prefix("memscape-"), &std::env::temp_dir(), PRIVATE)?;
        let first = self.first_chunk.take().unwrap_or_default();
        file.write_all(&first)?;
        let length = first.len() as u64 + io::copy(pipe, &mut file)?;
        file.rewind()?;
        self.bytes = InputBytes::File { file, length, owned: Some(owned) };
        Ok(())
    }
}
