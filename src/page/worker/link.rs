//! Download of a snapshot from a link. It is resumed after the connection was lost.

use super::reader::{Failure, Reader};
use js_sys::Promise;
use std::cell::{Cell, RefCell};
use ui::text::url::file_name;
use ui::text::url::resume::{PAUSES_MS, ResponseHead, ResumeError, failure_message};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, RequestCache, RequestInit, Response, WorkerGlobalScope};

/// Interval, in milliseconds, at which a pause between attempts is checked for an abort of the download.
const ABORT_CHECK_MS: i32 = 100;

/// A download in progress.
pub(super) struct Link {
    /// Absolute URL.
    address: String,
    abort: Option<AbortController>,
    first: RefCell<ResponseHead>,
    /// Number of attempts to resume since the last bytes were received.
    tries: Cell<usize>,
    /// True while the connection is lost and the remaining bytes have not been requested yet.
    broken: Cell<bool>,
}

impl Link {
    pub(super) fn new(address: String) -> Link {
        let (first, tries, broken) = (RefCell::default(), Cell::new(0), Cell::new(false));
        Link { address, abort: AbortController::new().ok(), first, tries, broken }
    }

    /// Returns the file name, as used in messages to the user.
    pub(super) fn name(&self) -> String {
        file_name(&self.address)
    }

    /// Sends the request. Returns a reader of the response, and the length of the response in bytes if known.
    pub(super) async fn open(&self) -> Result<(Reader, Option<u64>), Failure> {
        let (answer, response) = self.fetch(0).await.ok_or(Failure::Link(None))?;
        if !response.ok() {
            return Err(Failure::Link(Some(answer.status)));
        }
        let total_bytes = answer.total();
        self.first.replace(answer);
        Ok((Reader::from_stream(&response.body().ok_or(Failure::Link(None))?)?, total_bytes))
    }

    /// Returns the version of the file (such as its ETag) that the server has reported.
    pub(super) fn version(&self) -> Option<String> {
        self.first.borrow().version()
    }

    /// Records that the connection was lost after `offset` bytes. Returns an error if the download cannot be resumed.
    pub(super) fn on_interrupted(&self, offset: u64) -> Result<(), Failure> {
        self.first.borrow().can_resume(offset).map_err(|why| self.failure(offset, why))?;
        self.broken.set(true);
        Ok(())
    }

    /// Returns whether the connection is lost. If so, [`Link::resume`] must be called.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.get()
    }

    /// Resets the number of attempts to resume, since bytes were received.
    pub(super) fn on_bytes(&self) {
        self.tries.set(0);
    }

    /// Checks that the stream did not end too early, after it has ended at `offset` bytes.
    pub(super) fn check_length(&self, offset: u64) -> Result<(), Failure> {
        let first = self.first.borrow();
        // The browser checks the length of a single response. That of a resumed download is checked here.
        match first.length {
            Some(length) if first.encoding.is_none() && offset < length => {
                Err(self.failure(offset, ResumeError::Changed))
            }
            _ => Ok(()),
        }
    }

    /// Requests the remaining bytes, from `offset` on. Pauses before each attempt, and gives up after a few attempts.
    pub(super) async fn resume(&self, offset: u64) -> Result<Reader, Failure> {
        let mut why = ResumeError::Unreachable(None);
        while let Some(&pause) = PAUSES_MS.get(self.tries.get()) {
            self.tries.set(self.tries.get() + 1);
            self.pause(pause as i32).await;
            why = match self.fetch(offset).await {
                None => ResumeError::Unreachable(None),
                Some((answer, response)) => match (self.first.borrow().check_rest(&answer, offset), response.body()) {
                    (Ok(()), Some(body)) => {
                        self.broken.set(false);
                        return Reader::from_stream(&body);
                    }
                    (Ok(()), None) => ResumeError::Unreachable(None),
                    (Err(why), _) => why,
                },
            };
            if self.is_aborted() || !matches!(why, ResumeError::Unreachable(_)) {
                break;
            }
        }
        Err(self.failure(offset, why))
    }

    pub(super) fn abort(&self) {
        if let Some(abort) = &self.abort {
            abort.abort();
        }
    }

    fn is_aborted(&self) -> bool {
        self.abort.as_ref().is_some_and(|abort| abort.signal().aborted())
    }

    fn failure(&self, offset: u64, why: ResumeError) -> Failure {
        Failure::Read(failure_message(&self.name(), offset, why))
    }

    async fn fetch(&self, from: u64) -> Option<(ResponseHead, Response)> {
        let scope: WorkerGlobalScope = js_sys::global().dyn_into().ok()?;
        let options = RequestInit::new();
        options.set_signal(self.abort.as_ref().map(AbortController::signal).as_ref());
        // A changed file must not come from the browser's cache.
        options.set_cache(RequestCache::NoCache);
        if from > 0 {
            let headers = Headers::new().ok()?;
            headers.append("range", &format!("bytes={from}-")).ok()?;
            options.set_headers(&headers);
        }
        let response = JsFuture::from(scope.fetch_with_str_and_init(&self.address, &options)).await.ok()?;
        let response: Response = response.dyn_into().ok()?;
        let headers = ResponseHead::HEADERS.map(|name| response.headers().get(name).ok().flatten());
        Some((ResponseHead::new(response.status(), headers), response))
    }

    /// Waits for `ms` milliseconds, or until the download is aborted.
    async fn pause(&self, mut ms: i32) {
        let Ok(scope) = js_sys::global().dyn_into::<WorkerGlobalScope>() else { return };
        while ms > 0 && !self.is_aborted() {
            ms -= ABORT_CHECK_MS;
            let passed = Promise::new(&mut |resolve, _| {
                // Fails only for values that are not functions.
                let _ = scope.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ABORT_CHECK_MS);
            });
            let _ = JsFuture::from(passed).await;
        }
    }
}
