//! Opens a file in time slices: loads its histories and builds the groups of its allocations.

use super::open::OpenFile;
use base::slice::TimeSlice;
use intake::Loader;

/// A file that is being opened.
pub(super) struct Loading {
    pub(super) loader: Loader,
    /// The file once it is loaded. The groups of its allocations are being built.
    file: Option<Box<OpenFile>>,
}

impl Loading {
    pub(super) fn new(loader: Loader) -> Loading {
        Loading { loader, file: None }
    }

    /// Continues opening the file. Returns the open file (`Some`) when it is complete, or `None` if more bytes are
    /// needed or the time slice is used up.
    ///
    /// # Errors
    /// Returns a message if the file is not a snapshot, is damaged, or takes too much memory.
    pub(super) fn step(&mut self, slice: &mut TimeSlice<'_>) -> Result<Option<Box<OpenFile>>, String> {
        if self.file.is_none() {
            let Some(loaded) = self.loader.step(slice)? else { return Ok(None) };
            self.file = Some(Box::new(OpenFile::new(loaded)));
            if slice.check().is_err() {
                return Ok(None);
            }
        }
        let is_done = self.file.as_mut().is_some_and(|file| file.build_groups(slice).is_ok());
        Ok(self.file.take_if(|_| is_done))
    }
}
