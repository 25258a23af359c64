//! Frames in a [`Page`], and windows that it opens.

use super::{Page, text};
use serde_json::{Value, json};

impl Page {
    /// Evaluates an expression in the page's frame. It sees the document of the frame, but not the variables of its
    /// scripts. Null if there is no frame, or if the expression throws.
    #[track_caller]
    pub(crate) fn evaluate_in_frame(&self, expression: &str) -> Value {
        let frames = self.call("Page.getFrameTree", json!({}));
        let frame = &frames["frameTree"]["childFrames"][0]["frame"]["id"];
        let evaluate = |world: Value| {
            let context = &world["executionContextId"];
            let params =
                json!({ "expression": expression, "contextId": context, "awaitPromise": true, "returnByValue": true });
            self.chromium.try_call(&self.session, "Runtime.evaluate", params)
        };
        // Fails while the frame is loading another document.
        let world = self.chromium.try_call(&self.session, "Page.createIsolatedWorld", json!({ "frameId": frame }));
        world.and_then(evaluate).map_or(Value::Null, |mut result| result["result"]["value"].take())
    }

    /// Returns the window that the page has opened, once it exists.
    pub(crate) fn opened_window(&self) -> Page {
        let find = || {
            let all = self.chromium.call("", "Target.getTargets", json!({}));
            let targets = all["targetInfos"].as_array().cloned().unwrap_or_default();
            targets
                .iter()
                .find(|target| target["openerId"] == self.target.as_str())
                .map(|target| text(&target["targetId"]))
        };
        self.wait_until("a window is opened", || find().is_some());
        Page::attach(self.chromium, self.context.clone(), find().unwrap_or_default())
    }
}
