//! The page as an installed program: there without a network (www/offline.js), opened with a file by the system, and given one by another
//! program. Where the browser offers none of it, or the page is one file, nothing is different.
//!
//! The browser's interfaces are called by name: web-sys has them only behind a flag of the compiler, or not at all.

use super::app::App;
use super::dom::listen;
use super::files::give_named;
use super::recent::{call, get, settled};
use gloo::timers::callback::Timeout;
use js_sys::Array;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{EventTarget, File, MessageEvent};

/// The script that answers without a network; what a page is opened with that is to fetch files from it.
const SCRIPT: &str = "./offline.js";
const SHARED: &str = "?shared";
/// Registered so many milliseconds after the page began: what it fetches for later does not hold up what is wanted now.
const LATER_MS: u32 = 4000;

/// Begins to listen.
pub(super) fn begin(app: &'static App) {
    let _ = launched(app);
    if app.delivered.is_some() {
        return;
    }
    // There is none on a page that came over http, nor in a private window of some browsers.
    let Ok(container) = get(&app.dom.window.navigator(), "serviceWorker") else { return };
    if container.is_undefined() {
        return;
    }
    let _ = share(app, &container);
    Timeout::new(LATER_MS, move || {
        spawn_local(async move {
            // A browser that keeps nothing, or a host without the script: the page needs neither.
            if let Ok(registered) = call(&container, "register", &[SCRIPT.into()]) {
                let _ = settled(registered).await;
            }
        });
    })
    .forget();
}

/// The system opens files with this page.
fn launched(app: &'static App) -> Result<(), JsValue> {
    let queue = get(&app.dom.window, "launchQueue")?;
    if queue.is_undefined() {
        return Ok(());
    }
    let consumer = Closure::<dyn FnMut(JsValue)>::new(move |launch: JsValue| {
        let Some(handles) = get(&launch, "files").ok().and_then(|files| files.dyn_into::<Array>().ok()) else { return };
        spawn_local(async move {
            let mut files = Vec::new();
            for handle in handles.iter() {
                let file = match call(&handle, "getFile", &[]) {
                    Ok(file) => settled(file).await,
                    Err(cause) => Err(cause),
                };
                files.extend(file.ok().and_then(|file| file.dyn_into::<File>().ok()));
            }
            // It is as if it had been dropped.
            app.recent.given.replace(Some(handles.get(0)).filter(|_| handles.length() == 1));
            give(app, files);
        });
    });
    call(&queue, "setConsumer", &[consumer.as_ref().clone()])?;
    consumer.forget();
    Ok(())
}

/// Another program shared files: the script has them, and keeps them for nobody else.
fn share(app: &'static App, container: &JsValue) -> Result<(), JsValue> {
    if app.dom.window.location().search().as_deref() != Ok(SHARED) {
        return Ok(());
    }
    let listening: &EventTarget = container.dyn_ref().ok_or(JsValue::UNDEFINED)?;
    listen(listening, "message", move |event| {
        let message = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().dyn_into::<Array>().ok());
        give(app, message.iter().flat_map(Array::iter).filter_map(|file| file.dyn_into().ok()).collect());
    });
    call(container, "startMessages", &[])?;
    call(&get(container, "controller")?, "postMessage", &["shared".into()])?;
    Ok(())
}

fn give(app: &'static App, files: Vec<File>) {
    if !files.is_empty() {
        give_named(app, files.into_iter().map(|file| (file.name(), file)).collect());
    }
}
