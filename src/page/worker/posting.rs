//! Replies of the engine, sent to the page.

use super::WorkerShell;
use crate::wire::{FromWorker, detach_columns};
use channel::BlobWriter;
use compare::FileSlot;
use engine::{Engine, PartialSchedule};
use js_sys::Array;
use protocol::{Answer, Progress, Reply};
use std::arch::wasm32::memory_size;
use std::io::BufWriter;
use std::rc::Rc;

/// Minimum time, in milliseconds, between progress messages. Sending one takes longer than decoding a chunk of the
/// file.
const PROGRESS_MS: f64 = 50.0;

impl WorkerShell {
    /// Sends the replies that are ready.
    pub(super) fn post_replies(self: &Rc<Self>) {
        while let Some((which, reply)) = { self.engine.borrow_mut().next_reply() } {
            if matches!(reply, Reply::Opened(_)) {
                // For developer tools and the benchmark, which parses this text.
                let (ms, pages) = (self.worked_ms.get(), memory_size::<0>());
                let _ =
                    self.slices.clock.mark(&format!("memscape: opened by {ms:.0} ms of work, {pages} memory pages"));
            }
            let is_picture = matches!(reply, Reply::Answer { answer: Answer::Scene(_), .. });
            self.post(which, reply);
            if is_picture {
                self.send_fingerprint();
            }
        }
    }

    /// Sends a partial result if one is due.
    pub(super) fn post_partial(&self) {
        if self.pace.get().is_due(self.slices.clock.now()) {
            self.post_partial_now();
        }
    }

    /// Sends the progress and the partial result that were not due.
    pub(super) fn post_unsent(&self) {
        if let Some((which, progress)) = self.unsent.take() {
            self.send_reply(which, progress);
        }
        self.post_partial_now();
    }

    fn post_partial_now(&self) {
        let now = self.slices.clock.now();
        let Some(reply) = self.engine.borrow_mut().partial() else { return };
        self.post(FileSlot::First, reply);
        self.pace.set(PartialSchedule::after_update(now, self.slices.clock.now()));
    }

    /// Sends a reply about a file. The frequency of progress messages is limited. Answers are always sent as replies
    /// about the first file, because the page's questions are about that file.
    pub(super) fn post(&self, which: FileSlot, reply: Reply) {
        if let Reply::Progress(Progress { phase, .. }) = reply {
            let now = self.slices.clock.now();
            // A new phase is reported immediately, because it may be short.
            if self.phase.replace(phase) == phase && now < self.progress_due.get() {
                self.unsent.replace(Some((which, reply)));
                return;
            }
            self.progress_due.set(now + PROGRESS_MS);
            self.unsent.take();
        }
        self.send_reply(if matches!(reply, Reply::Answer { .. }) { FileSlot::First } else { which }, reply);
    }

    fn send_reply(&self, which: FileSlot, mut reply: Reply) {
        let buffers = detach_columns(&mut reply);
        self.page.send_with(&FromWorker::Reply { load: self.load(which).get(), reply }, &buffers);
    }

    /// Writes the snapshot of the load with this id and sends it, or an error message.
    pub(super) fn write<E: ToString>(
        &self,
        load: u32,
        write: impl FnOnce(&Engine, BufWriter<BlobWriter>) -> Result<BufWriter<BlobWriter>, E>,
    ) {
        let written = || {
            let which = [FileSlot::First, FileSlot::Second].into_iter().find(|&which| self.load(which).get() == load);
            let engine = self.engine.borrow();
            let engine = which.and_then(|which| engine.engine(which)).ok_or("another file was opened")?;
            write(engine, BlobWriter::buffered()).map_err(|why| why.to_string()).and_then(BlobWriter::finish)
        };
        let attachments = Array::new();
        let columns = written().map(|blob| {
            attachments.push(&blob);
        });
        self.page.send_with(&FromWorker::Columns(columns), &attachments);
    }
}
