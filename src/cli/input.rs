//! What the command line reads: a file, which can be read anywhere, or a pipe, which goes through a temporary file if it must.

use super::begun::Begun;
use engine::Want;
use engine::protocol::Access;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How much is read at a time.
const CHUNK: usize = 1 << 20;

/// An open file or pipe.
pub(crate) struct Input {
    bytes: Bytes,
    /// What was read of a pipe at first: enough for the engine to see that it wants the whole.
    first: Option<Vec<u8>>,
    /// Says when to stop.
    watch: Option<Box<dyn FnMut() -> io::Result<()>>>,
}

enum Bytes {
    File { file: File, length: u64, owned: Option<Begun> },
    Pipe(Box<dyn Read>),
}

impl Input {
    /// Opens a path; `-` is standard input.
    ///
    /// # Errors
    /// The system's.
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

    /// A file that is open.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn of_file(file: File) -> io::Result<Input> {
        let length = file.metadata()?.len();
        Ok(Input { bytes: Bytes::File { file, length, owned: None }, first: None, watch: None })
    }

    /// The file that was named, to be read elsewhere; its place in it is shared.
    pub(crate) fn named_file(&self) -> Option<File> {
        match &self.bytes {
            Bytes::File { file, owned: None, .. } => file.try_clone().ok(),
            _ => None,
        }
    }

    /// Is asked before each chunk whether to go on; its error is the chunk's.
    pub(crate) fn watch(&mut self, watch: Box<dyn FnMut() -> io::Result<()>>) {
        self.watch = Some(watch);
    }

    /// How its bytes can be reached.
    pub(crate) fn access(&self) -> Access {
        if matches!(self.bytes, Bytes::Pipe(_)) { Access::Forward } else { Access::Anywhere }
    }

    /// Its length in bytes, where known.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File { length, .. } => Some(*length),
            Bytes::Pipe(_) => None,
        }
    }

    /// Goes to the beginning of a file; a pipe is at its beginning, or its bytes are gone.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::File { file, .. } => file.rewind(),
            Bytes::Pipe(_) => Ok(()),
        }
    }

    /// The bytes the engine wants; none at the end. (Not for [`Want::Whole`], which is [`Input::keep_whole`]'s.)
    ///
    /// # Errors
    /// The system's.
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
                // The engine decides by the first bytes of a file; once it goes on, it will not want them again.
                self.first = if self.first.is_none() { Some(chunk.clone()) } else { Some(Vec::new()) };
            }
        }
        Ok(chunk)
    }

    /// Puts all of a pipe into a temporary file, which can be read anywhere.
    ///
    /// # Errors
    /// The system's.
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
