//! Measurement of an open file while the user pans, zooms and moves the cursor, in any browser.

use crate::cursor_latency;
use crate::figure::Figure;
use crate::opening::Tab;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Timeout of one movement.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Interval of polling the page; each poll disturbs it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Number of frames of a pan, and of turning the wheel.
const FRAMES: u32 = 40;
/// Number of single turns of the wheel whose final picture is awaited.
const TURNS: u32 = 15;

/// Script for `window.moves`. A picture is drawn when the canvas has counted it, and is stable if none follows until
/// the page is idle.
const MOVE_SCRIPT: &str = r"window.moves = (() => {
        const canvas = document.querySelector('canvas#timeline');
        const wheel = (delta) => {
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new WheelEvent('wheel', {
                ...delta, clientX: box.left + box.width / 2, clientY: box.top + box.height * 0.6, bubbles: true, cancelable: true,
            }));
        };
        const settled = async () => {
            for (let calm = 0; calm < 6; calm = 'idle' in document.body.dataset ? calm + 1 : 0)
                await new Promise((done) => setTimeout(done, 20));
        };
        const frames = async (count, delta) => {
            await settled();
            const times = [];
            await new Promise((done) => {
                const step = (time) => {
                    times.push(time);
                    if (times.length > count) return done();
                    wheel(delta(times.length));
                    requestAnimationFrame(step);
                };
                requestAnimationFrame(step);
            });
            return times.slice(1).map((time, at) => time - times[at]);
        };
        const turn = async (delta) => {
            await settled();
            const start = performance.now();
            let drawn = 0;
            const observer = new MutationObserver(() => { drawn = performance.now() - start; });
            observer.observe(canvas, { attributes: true, attributeFilter: ['data-frames'] });
            wheel(delta);
            await settled();
            observer.disconnect();
            return drawn;
        };
        return { frames, turn };
    })(), 0";

/// Times of an open file, in milliseconds.
#[derive(Default)]
pub(crate) struct Moving {
    /// From frame to frame while panning, and while turning the wheel to zoom.
    pub(crate) pan: Figure,
    pub(crate) wheel: Figure,
    /// From a turn of the wheel to the last picture that it causes.
    pub(crate) stable: Figure,
    /// From a new place of the cursor to the frame whose call tree, or table of allocations, shows it.
    pub(crate) tree: Figure,
    pub(crate) table: Figure,
}

/// Moves in the file that is open in this tab.
///
/// # Errors
/// If the page does not show the result of a movement in time.
pub(crate) fn measure(tab: &impl Tab, events: u64) -> Result<Moving, String> {
    tab.evaluate(MOVE_SCRIPT);
    let figure = |expression: String| -> Result<Figure, String> {
        let values = evaluate_promise(tab, &expression)?;
        Ok(values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
    };
    // Zoomed in, so that the pan leaves the margin of the drawn picture and needs new ones.
    evaluate_promise(tab, "(async () => { for (let n = 0; n < 16; n++) await moves.turn({ deltaY: -100 }); })()")?;
    let pan = figure(format!("moves.frames({FRAMES}, () => ({{ deltaX: 40 }}))"))?;
    let wheel = figure(format!("moves.frames({FRAMES}, (at) => ({{ deltaY: at % 20 < 10 ? 100 : -100 }}))"))?;
    let stable = figure(format!(
        "(async () => {{ const all = []; for (let n = 0; n < {TURNS}; n++) all.push(await moves.turn({{ deltaY: n % 2 ? -300 : 300 }})); \
         return all; }})()"
    ))?;
    let tree = cursor_latency::measure(tab, events, "tree")?;
    let table = cursor_latency::measure(tab, events, "table")?;
    Ok(Moving { pan, wheel, stable, tree, table })
}

/// Evaluates a promise in the page and polls for its value, because not every driver awaits it.
///
/// # Errors
/// If the promise is rejected or does not resolve in time.
pub(crate) fn evaluate_promise(tab: &impl Tab, expression: &str) -> Result<Value, String> {
    tab.evaluate(&format!(
        "window.outcome = undefined, ({expression}).then((value) => {{ window.outcome = [value ?? null]; }}, \
         (why) => {{ window.outcome = [null, String(why)]; }}), 0"
    ));
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let mut outcome = tab.evaluate("window.outcome ?? null");
        if let Some(why) = outcome[1].as_str() {
            return Err(why.to_owned());
        }
        if outcome.is_array() {
            return Ok(outcome[0].take());
        }
        if Instant::now() > deadline {
            return Err(format!("timeout waiting for {expression}"));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
