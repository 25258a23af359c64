//! Text to the clipboard.

use super::{App, dom};
use std::rc::Rc;
use ui::Action;
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Copies `text`, and says whether the browser allowed it.
pub(super) fn copy(app: &Rc<App>, text: &str) {
    // Only secure contexts have one; a page served over plain http from another machine is none.
    if !app.elements.window.is_secure_context() {
        app.dispatch(Action::Copied(Err("this page was not served over https".to_owned())));
        return;
    }
    let copied = app.elements.window.navigator().clipboard().write_text(text);
    let app = app.clone();
    spawn_local(async move {
        let result = JsFuture::from(copied).await;
        app.dispatch(Action::Copied(result.map(drop).map_err(|error| dom::cause(&error))));
    });
}
