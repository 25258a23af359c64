//! Script that records times in the page while it opens a file, in any browser. It runs before the page.

use memscape::protocol::{Answer, Ask, Question, Reply, Report, ReportQuestion, Request, Topic, encode};

/// Time without answers after which everything counts as shown.
const QUIET_MS: u32 = 1000;

/// Milliseconds from the choice of the file to its summary.
pub(crate) const SUMMARY: &str = "times.summary - times.start";
/// Milliseconds from the choice of the file to its first frame.
pub(crate) const PICTURE: &str = "times.picture - times.start";
/// Milliseconds from the navigation until the page's program runs.
pub(crate) const STARTED_MS: &str = "times.runs";
/// Longest delay of a timer of the page from the choice of the file until everything is shown, in milliseconds.
pub(crate) const GAP: &str = "times.gapShown";
/// Milliseconds from the choice of the file until the reports quote the settings that are simulated in the background,
/// which starts once everything is shown. The time until everything is shown if nothing is simulated. Null before.
pub(crate) const SIMULATED: &str = "document.body.dataset.idle === undefined || times.waits ? null \
    : (times.simulates ? times.quoted : times.shown) - times.start";
/// The same as [`GAP`], until then.
pub(crate) const GAP_SIMULATED: &str = "times.simulates ? times.gapQuoted : times.gapShown";
/// Milliseconds from the choice of the file until the decoded file is in the cache.
pub(crate) const CACHED_MS: &str = "times.kept - times.start";
/// Size of the file passed to the worker, in bytes. A cached file has another size than the original.
pub(crate) const WORKER_FILE_SIZE: &str = "times.handed";

/// Reads the chosen file without decoding it and sets `times.bare`, in milliseconds.
pub(crate) const READ_SCRIPT: &str = "void (async () => { const start = performance.now(); const reader = times.file.stream().getReader(); \
    let bytes = 0; for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; } \
    if (bytes === times.file.size) times.bare = performance.now() - start; })()";

/// Milliseconds until everything is shown, null before: all insights are answered, no request is pending, the visible
/// report is complete, and the frame after the last answer is painted. Writing the cache and the simulation in the
/// background do not count.
pub(crate) fn everything_shown() -> String {
    format!(
        "times.asks > 0 && times.reports >= {} && !times.waits && document.getElementById('insights-report').ariaBusy !== 'true' && times.shown >= times.answered && performance.now() - times.answered > {QUIET_MS} \
         ? times.shown - times.start : null",
        Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()).count()
    )
}

/// Script that records times in `window.times`.
pub(crate) fn script() -> String {
    // Variants are recognized by the first byte of their encoding.
    let [question, recording] =
        [Question::Report(ReportQuestion::default()), Question::Recording].map(|it| encode(&it)[0]);
    let ask = encode(&Request::Ask(Ask { serial: 0, device: 0, question: Question::Recording }))[0];
    let reply = encode(&Reply::Answer { serial: 0, answer: Answer::Report(Box::<Report>::default()) });
    format!(
        "{{ const [ASK, QUESTION, RECORDING, ANSWER, REPORT] = [{ask}, {question}, {recording}, {}, {}]; {MESSAGES} {SCRIPT} }}",
        reply[0], reply[2]
    )
}

/// Functions that read the messages between the page and the engine's worker. A message is an array of an encoded value
/// and attachments (src/page/wire.rs); a value starts with the index of its variant.
///
/// `behind` returns the position after a number, which has seven bits per byte; the eighth bit marks that more follow.
/// `requested` and `replied` return the bytes of a `Request` (in `ToWorker::Ask`) and of a `Reply` (in
/// `FromWorker::Reply`, after the id of the load), and nothing for other messages; `file` returns the file that the
/// worker opens (`ToWorker::File`).
pub(crate) const MESSAGES: &str = "const behind = (bytes, at) => { while (bytes[at] > 127) at++; return at + 1; }; \
    const encoded = (message) => Array.isArray(message) && message[0] instanceof ArrayBuffer ? new Uint8Array(message[0]) : []; \
    const requested = (message) => { const bytes = encoded(message); return bytes[0] === 5 ? bytes.subarray(1) : undefined; }; \
    const replied = (message) => { const bytes = encoded(message); return bytes[0] === 0 ? bytes.subarray(behind(bytes, 1)) : undefined; }; \
    const file = (message) => encoded(message)[0] === 0 ? message[1] : undefined;";

const SCRIPT: &str = r"
const times = window.times = { gap: 0, reports: 0, asks: 0 };
const now = () => performance.now();

const serial = (bytes) => bytes.subarray(1, behind(bytes, 1)).join();

const look = () => {
    const at = now();
    if (at - times.tick > times.gap) [times.gap, times.gapAt] = [at - times.tick, times.tick - times.start];
    times.tick = at;
};
const tick = () => { look(); if (!times.over) setTimeout(tick); };
const takeMessage = ({ data }) => {
    const reply = replied(data);
    if (!times.start || reply?.[0] !== ANSWER) return;
    if (!times.simulates) times.answered = now();
    if (reply[behind(reply, 1)] === REPORT) {
        if (!times.simulates) times.reports++;
        if (times.waits === serial(reply)) times.waits = '';
    }
    painted();
};
// The page shows the answer in its next frame, and a timer set in that frame runs after it is painted.
const painted = () => {
    const isQuoting = times.simulates;
    requestAnimationFrame(() => setTimeout(() => {
        look();
        if (isQuoting) [times.quoted, times.gapQuoted] = [now(), times.gap];
        else [times.shown, times.gapShown] = [now(), times.gap];
    }));
};
// A report arrives in parts.
new MutationObserver(() => { if (times.answered) painted(); })
    .observe(document, { attributes: true, subtree: true, attributeFilter: ['aria-busy'] });
window.Worker = class extends Worker {
    constructor(...of) {
        super(...of);
        this.isEngine = of[1]?.name === 'engine';
        if (this.isEngine) this.addEventListener('message', takeMessage);
    }
    postMessage(message, ...rest) {
        const bytes = this.isEngine ? requested(message) : undefined;
        if (this.isEngine && file(message)) times.handed = file(message).size;
        if (bytes?.[0] === ASK) {
            times.asks++;
            const question = bytes[behind(bytes, behind(bytes, 1))];
            if (question === QUESTION) times.waits = serial(bytes);
            if (question === RECORDING) times.simulates = true;
        }
        super.postMessage(message, ...rest);
    }
};
const { setItem } = Storage.prototype;
Storage.prototype.setItem = function (key, text) {
    if (key === 'memscape.kept' && times.start && !times.kept && text.includes('\n')) times.kept = now();
    return setItem.call(this, key, text);
};
new MutationObserver((_, observer) => {
    if (!document.getElementById('snippet')?.textContent) return;
    times.runs = now();
    observer.disconnect();
}).observe(document, { childList: true, subtree: true });
new MutationObserver((_, observer) => {
    if (!times.start) return;
    if (!times.summary && document.body.dataset.state === 'ready') times.summary = now();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-state'] });
new MutationObserver((_, observer) => {
    if (!times.summary) return;
    times.picture = now();
    observer.disconnect();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-frames'] });
// For a large file the page first asks which events to load.
new MutationObserver(() => {
    if (document.body?.dataset.state === 'choosing') document.getElementById('choosing-all').click();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-state'] });
document.addEventListener('change', ({ target }) => {
    if (target.id !== 'file' || times.start) return;
    times.file = target.files[0];
    times.start = times.tick = now();
    setTimeout(tick);
}, { capture: true });
";
