//! What is noted in the page while it opens a file, in whichever browser: a script that runs before the page begins.

use memscape::engine::protocol::{Answer, Ask, Question, Reply, Report, ReportQuestion, Request, Topic, encoded};

/// Everything is shown when no answer came for so long after that of the last insight.
const QUIET_MS: u32 = 1000;

/// Milliseconds since the file was chosen, in order: until its summary, its first picture, and everything.
pub(crate) const SUMMARY: &str = "times.summary - times.start";
pub(crate) const PICTURE: &str = "times.picture - times.start";
/// Seconds since the page's address was asked for until its program runs, in milliseconds.
pub(crate) const RUNS: &str = "times.runs";
/// The longest that a timer of the page had to wait, from the choice of the file until everything is shown.
pub(crate) const GAP: &str = "times.gapShown";
/// Until the decoded file is in the browser's storage, for the next time.
pub(crate) const KEPT: &str = "times.kept - times.start";
/// Bytes of the file that the worker was handed: what is kept of it has another size.
pub(crate) const HANDED: &str = "times.handed";

/// Reads the chosen file as a page that does nothing else would; then `times.bare` is there.
pub(crate) const READ: &str = "void (async () => { const start = performance.now(); const reader = times.file.stream().getReader(); \
    let bytes = 0; for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; } \
    if (bytes === times.file.size) times.bare = performance.now() - start; })()";

/// Until everything is shown: every insight was answered, nothing is asked for any more, and the frame after the last answer has been
/// painted, and all of the report that is seen. The columns that are kept for the next time are no answer.
pub(crate) fn everything() -> String {
    format!(
        "times.reports >= {} && !times.waits && document.getElementById('why-report').ariaBusy !== 'true' && times.shown >= times.answered && performance.now() - times.answered > {QUIET_MS} \
         ? times.shown - times.start : null",
        Topic::ALL.len()
    )
}

/// Notes times in `window.times`.
pub(crate) fn script() -> String {
    // The places of variants in bytes: the first of each, for whatever else is in the message.
    let ask = Ask { serial: 0, device: 0, what: Question::Report(ReportQuestion::default()) };
    let question = encoded(&ask.what)[0];
    let ask = encoded(&Request::Ask(ask))[0];
    let reply = encoded(&Reply::Answer { serial: 0, answer: Answer::Report(Box::<Report>::default()) });
    format!(
        "{{ const [ASK, QUESTION, ANSWER, REPORT] = [{ask}, {question}, {}, {}]; {BEHIND} {SCRIPT} }}",
        reply[0], reply[2]
    )
}

/// Where the next number of a message stands: seven bits a byte, and the eighth says that more follow.
pub(crate) const BEHIND: &str = "const behind = (bytes, at) => { while (bytes[at] > 127) at++; return at + 1; };";

const SCRIPT: &str = r"
const times = window.times = { gap: 0, reports: 0 };
const now = () => performance.now();

const serial = (bytes) => bytes.subarray(1, behind(bytes, 1)).join();

const look = () => {
    const at = now();
    if (at - times.tick > times.gap) [times.gap, times.gapAt] = [at - times.tick, times.tick - times.start];
    times.tick = at;
};
const tick = () => { look(); if (!times.over) setTimeout(tick); };
const heard = ({ data }) => {
    if (!times.start || !Array.isArray(data) || data[0] !== 'reply' || data[2][0] !== ANSWER) return;
    times.answered = now();
    if (data[2][behind(data[2], 1)] === REPORT) {
        times.reports++;
        if (times.waits === serial(data[2])) times.waits = '';
    }
    painted();
};
// The page shows it in its next frame, and what comes after that frame comes after its painting.
const painted = () =>
    requestAnimationFrame(() => setTimeout(() => { look(); times.shown = now(); times.gapShown = times.gap; }));
// A report comes in pieces.
new MutationObserver(() => { if (times.answered) painted(); })
    .observe(document, { attributes: true, subtree: true, attributeFilter: ['aria-busy'] });
window.Worker = class extends Worker {
    constructor(...of) {
        super(...of);
        this.addEventListener('message', heard);
    }
    postMessage(message, ...rest) {
        if (Array.isArray(message) && message[0] === 'file') times.handed = message[2].size;
        if (Array.isArray(message) && message[0] === 'ask' && message[1][0] === ASK) {
            const bytes = message[1];
            if (bytes[behind(bytes, behind(bytes, 1))] === QUESTION) times.waits = serial(bytes);
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
// The page asks about a large file before it reads it.
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
