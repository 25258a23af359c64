//! Decoding of the unpacked bytes of a file.

use super::{LoadError, Loader};
use crate::decoder::{DecodeError, Decoded, Decoder, Layout};
use crate::event_sink::{InputState, PendingWork};
use crate::input_buffer::Supply;
use crate::snapviewer::is_drawing;
use base::slice::TimeSlice;
use history::container::Content;
use protocol::{Member, Phase, Progress};

impl Loader {
    /// Returns the decoded content, and lists the snapshots in the file if it has several.
    pub(super) fn finish_decoder(&mut self, mut decoder: Decoder) -> Result<Decoded, LoadError> {
        let listed = self.container.members();
        let in_tar: Vec<String> = listed.iter().map(|member| member.name.clone()).collect();
        let mut sizes: Vec<u64> = listed.iter().map(|member| member.bytes).collect();
        let member = self.input.inner_member();
        if self.is_torch_save() {
            decoder.ignore_trailing_bytes();
        }
        let inner = if in_tar.is_empty() { member } else { 0 };
        let (decoded, in_content) = decoder.finish(inner).map_err(|error| self.torch_save_error(error))?;
        let is_whole_file = self.input.member_name().is_none();
        let names = if in_tar.is_empty() && is_whole_file { in_content } else { in_tar };
        if names.len() > 1 {
            self.member_name = names.get(member as usize).cloned();
            // Each snapshot in a list needs all bytes of the file.
            sizes.resize(names.len(), self.container.bytes_read());
            let members = names.into_iter().zip(sizes).map(|(name, bytes)| Member { name, bytes });
            self.members = Some(members.collect());
        }
        Ok(decoded)
    }

    pub(super) fn is_torch_save(&self) -> bool {
        self.input.is_torch_save() || self.container.layers().any(|layer| layer == "torch.save")
    }

    /// Returns an error that names the file a checkpoint if `torch.save` wrote it and it holds something else.
    fn torch_save_error(&self, error: DecodeError) -> LoadError {
        match error.foreign_content().filter(|_| self.is_torch_save()) {
            Some(content) => LoadError::Checkpoint(content),
            None => error.into(),
        }
    }

    /// Continues decoding the available bytes. Returns true once the whole file is decoded.
    pub(super) fn decode(
        &mut self,
        decoder: &mut Option<Decoder>,
        slice: &mut TimeSlice<'_>,
    ) -> Result<bool, LoadError> {
        loop {
            if let Some(decoder) = decoder
                && decoder.process_pending(InputState::Open) == PendingWork::More
            {
                if slice.check().is_err() {
                    return Ok(false);
                }
                continue;
            }
            let content = self.container.content();
            match self.container.pull()? {
                Some(bytes) => {
                    if let Some(content) = content.filter(|_| decoder.is_none()) {
                        let layout = self.input.layout();
                        if content == Content::Json && layout == Layout::Snapshot && is_drawing(bytes) {
                            return Err(DecodeError::DrawingAlone.into());
                        }
                        let decoder = decoder.insert(Decoder::new(content, layout));
                        decoder.set_range(self.load_range);
                        self.prepare_sink.into_iter().for_each(|prepare| decoder.prepare(prepare));
                    }
                    if let Some(decoder) = decoder {
                        let decoded = bytes.len();
                        let fed = decoder.feed(bytes);
                        let (bytes, total_bytes) = (self.container.bytes_read(), self.input.total_bytes());
                        fed.map_err(|error| self.torch_save_error(error))?;
                        let progress = Progress { bytes, total_bytes, phase: Phase::Decoding };
                        self.watch.check(decoded, &progress, || decoder.usage())?;
                    }
                }
                None => match self.input.feed_container(&mut self.container)? {
                    Supply::Supplied => {}
                    Supply::NeedsBytes => {
                        self.needs_bytes = true;
                        return Ok(false);
                    }
                    Supply::Ended => match decoder.as_mut().map(|decoder| decoder.process_pending(InputState::Ended)) {
                        Some(PendingWork::More) => {}
                        Some(PendingWork::Done) | None => return Ok(true),
                    },
                },
            }
            if slice.check().is_err() {
                return Ok(false);
            }
        }
    }
}
