//! Input files of the command line: regular files, which are seekable, and pipes, which are copied to a temporary file
//! if the engine needs to seek.

use super::begun::Begun;
use engine::Want;
use engine::protocol::Access;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// An open file or pipe.
pub(crate) struct Input {
    bytes: Bytes,
    /// First chunk of a pipe, until a second one is read. [`Input::keep_whole`] copies it to the temporary file.
    first: Option<Vec<u8>>,
    /// Called before each chunk. Its error stops reading.
    watch: Option<Box<dyn FnMut() -> io::Result<()>>>,
}

enum Bytes {
    File { file: File, length: u64, owned: Option<Begun> },
    Pipe(Box<dyn Read>),
}

impl Input {
    /// Opens a path. `-` is standard input.
    ///
    /// # Errors
    /// Returns the I/O error if the path cannot be opened, or an error if it is a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Input> {
        let bytes = if path.as_os_str() == "-" {
            Bytes::Pipe(Box::new(io::stdin().lock()))
        } else {
            let file = File::open(path)?;
            match file.metadata()? {
                metadata if metadata.is_file() => Bytes::File { file, length: metadata.len(), owned: None },
                metadata if metadata.is_dir() => return Err(io::Error::other("is a folder: name the files in it")),
                _ => Bytes::Pipe(Box::new(file)),
            }
        };
        Ok(Input { bytes, first: None, watch: None })
    }

    /// Wraps a file that is already open.
    ///
    /// # Errors
    /// Returns the I/O error if the length of the file cannot be read.
    pub(crate) fn of_file(file: File) -> io::Result<Input> {
        let length = file.metadata()?.len();
        Ok(Input { bytes: Bytes::File { file, length, owned: None }, first: None, watch: None })
    }

    /// Returns a second handle to the user's file, or `None` for pipes. Both handles share one seek position.
    pub(crate) fn named_file(&self) -> Option<File> {
        match &self.bytes {
            Bytes::File { file, owned: None, .. } => file.try_clone().ok(),
            _ => None,
        }
    }

    /// Sets a callback that is called before each chunk. If it returns an error, [`Input::chunk`] returns that error.
    pub(crate) fn watch(&mut self, watch: Box<dyn FnMut() -> io::Result<()>>) {
        self.watch = Some(watch);
    }

    /// Returns whether the engine can seek in this input.
    pub(crate) fn access(&self) -> Access {
        if matches!(self.bytes, Bytes::Pipe(_)) { Access::Forward } else { Access::Anywhere }
    }

    /// Returns the length in bytes, or `None` for a pipe.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File { length, .. } => Some(*length),
            Bytes::Pipe(_) => None,
        }
    }

    /// Seeks to the start of a file. Does nothing for a pipe.
    ///
    /// # Errors
    /// Returns the I/O error of the seek.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::File { file, .. } => file.rewind(),
            Bytes::Pipe(_) => Ok(()),
        }
    }

    /// Reads the bytes that the engine wants next. Returns no bytes at the end of the input. [`Want::Whole`] is handled
    /// by [`Input::keep_whole`] instead.
    ///
    /// # Errors
    /// Returns the I/O error, or the error of the callback set by [`Input::watch`].
    pub(crate) fn chunk(&mut self, want: Want) -> io::Result<Vec<u8>> {
        self.watch.as_mut().map_or(Ok(()), |watch| watch())?;
        let mut chunk = Vec::with_capacity(CHUNK);
        match &mut self.bytes {
            Bytes::File { file, .. } => {
                if let Want::At(offset) = want {
                    file.seek(SeekFrom::Start(offset))?;
                }
                file.take(CHUNK as u64).read_to_end(&mut chunk)?;
            }
            Bytes::Pipe(pipe) => {
                pipe.take(CHUNK as u64).read_to_end(&mut chunk)?;
                // The engine decides on the first chunk whether it needs to seek, so only that chunk has to be
                // remembered.
                self.first = if self.first.is_none() { Some(chunk.clone()) } else { Some(Vec::new()) };
            }
        }
        Ok(chunk)
    }

    /// Copies a pipe to a temporary file, which is seekable. Does nothing for a file.
    ///
    /// # Errors
    /// Returns the I/O error if the temporary file cannot be written.
    pub(crate) fn keep_whole(&mut self) -> io::Result<()> {
        let Bytes::Pipe(pipe) = &mut self.bytes else { return Ok(()) };
        let (mut file, owned) = Begun::create(tempfile::Builder::new().prefix("memscape-"), &std::env::temp_dir())?;
        let first = self.first.take().unwrap_or_default();
        file.write_all(&first)?;
        let length = first.len() as u64 + io::copy(pipe, &mut file)?;
        file.rewind()?;
        self.bytes = Bytes::File { file, length, owned: Some(owned) };
        Ok(())
    }
}
