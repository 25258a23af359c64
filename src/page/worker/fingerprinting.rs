//! When the fingerprint of a file is computed.

use super::WorkerShell;
use super::source::Source;
use crate::wire::FromWorker;
use gloo::timers::callback::Timeout;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;

/// Maximum time, in milliseconds, that the fingerprint of a file waits for its first picture. Hashing would delay it.
const PICTURE_MS: u32 = 300;

impl WorkerShell {
    /// Ends reading from a source. Its fingerprint is computed later.
    pub(super) fn finish_source(self: &Rc<Self>, source: Option<Rc<Source>>) {
        self.send_fingerprint();
        self.unfingerprinted.replace(source);
    }

    /// Sends the fingerprint later, unless a picture is sent before.
    pub(super) fn send_fingerprint_later(self: &Rc<Self>) {
        let shell = self.clone();
        let timer = || Timeout::new(PICTURE_MS, move || shell.send_fingerprint());
        self.fingerprint_timer.borrow_mut().get_or_insert_with(timer);
    }

    /// Computes the fingerprint of the source that was read last, and sends it.
    pub(super) fn send_fingerprint(self: &Rc<Self>) {
        self.fingerprint_timer.take();
        let Some(source) = self.unfingerprinted.take() else { return };
        let shell = self.clone();
        self.fingerprinting.set(self.fingerprinting.get() + 1);
        spawn_local(async move {
            if let Some(print) = source.fingerprint().await {
                shell.page.send(&FromWorker::Fingerprinted { load: source.load, print });
            }
            source.cancel();
            shell.fingerprinting.set(shell.fingerprinting.get() - 1);
            shell.post_if_idle();
        });
    }
}
