//! Latency of the views when the cursor moves: from the key to the frame that shows the new values, in any browser.

use crate::figure::Figure;
use crate::moving::evaluate_promise;
use crate::opening::Tab;

/// Number of cursor positions that are measured in each view.
const MOMENTS: u64 = 30;

/// Script that enters an event and waits, frame by frame, until the cursor's panel and the view show the same bytes.
const FOLLOW_SCRIPT: &str = r"window.follow = (event, view) => new Promise((done) => {
        const at = document.getElementById('at'), moment = document.getElementById('moment');
        const says = {
            tree: () => document.getElementById('tree-rows').dataset.total,
            table: () => document.getElementById('table-status').dataset.bytes,
        }[view];
        const start = performance.now();
        at.value = String(event);
        at.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
        const look = () => {
            const { event: told, liveRequested } = moment.dataset;
            if (told === String(event) && says() === liveRequested) done(performance.now() - start);
            else if (performance.now() - start > 20000) done(null);
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }), 0";

/// Moves the cursor to events across the trace, with this view in front; returns the milliseconds of each.
///
/// # Errors
/// If the view never shows the cursor's values.
pub(crate) fn measure(tab: &impl Tab, events: u64, view: &str) -> Result<Figure, String> {
    tab.evaluate(FOLLOW_SCRIPT);
    tab.evaluate(&format!("document.getElementById('tab-{view}').click()"));
    // The first move is not counted: it waits for data that is computed once per file.
    let moments = (0..=MOMENTS).map(|place| events * (place * 37 % 101) / 101);
    let follow = |event| {
        let took = evaluate_promise(tab, &format!("follow({event}, '{view}')"))?.as_f64();
        took.ok_or_else(|| format!("the {view} never showed the values of event {event}"))
    };
    let times: Vec<f64> = moments.map(follow).collect::<Result<_, String>>()?;
    Ok(times.into_iter().skip(1).collect())
}
