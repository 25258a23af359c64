//! Integration of the installed page with the operating system: use without a network (www/offline.js), opening files
//! from the file manager, and receiving files that other programs share. Does nothing if the browser does not support
//! this or if the page is a single file.
//!
//! These browser APIs are called by name, because web-sys does not have them or only with a compiler flag.

use super::app::App;
use super::dom::listen;
use super::files::open_files;
use super::recent::{await_value, call_method, property};
use gloo::timers::callback::Timeout;
use js_sys::Array;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{EventTarget, File, MessageEvent};

/// URL of the service worker, which responds to requests without a network.
const SCRIPT: &str = "./offline.js";
/// Query in the page's address that shows that the service worker has files that another program shared.
const SHARED_QUERY: &str = "?shared";
/// Delay, in milliseconds, before the service worker is registered, so that its downloads do not slow down the start.
const REGISTER_DELAY_MS: u32 = 4000;

/// Starts listening for files from the operating system and other programs, and registers the service worker.
pub(super) fn start(app: &'static App) {
    let _ = open_launched_files(app);
    if app.original_page.is_some() {
        return;
    }
    // Missing on a page that was loaded over http, and in private windows of some browsers.
    let Ok(container) = property(&app.dom.window.navigator(), "serviceWorker") else { return };
    if container.is_undefined() {
        return;
    }
    let _ = receive_shared_files(app, &container);
    Timeout::new(REGISTER_DELAY_MS, move || {
        spawn_local(async move {
            // Fails if the browser stores nothing or the host lacks the script. The page works without it.
            if let Ok(registered) = call_method(&container, "register", &[SCRIPT.into()]) {
                let _ = await_value(registered).await;
            }
        });
    })
    .forget();
}

/// Opens files that the operating system launches the page with.
fn open_launched_files(app: &'static App) -> Result<(), JsValue> {
    let queue = property(&app.dom.window, "launchQueue")?;
    if queue.is_undefined() {
        return Ok(());
    }
    let consumer = Closure::<dyn FnMut(JsValue)>::new(move |launch: JsValue| {
        let Some(handles) = property(&launch, "files").ok().and_then(|files| files.dyn_into::<Array>().ok()) else {
            return;
        };
        spawn_local(async move {
            let mut files = Vec::new();
            for handle in handles.iter() {
                let file = match call_method(&handle, "getFile", &[]) {
                    Ok(file) => await_value(file).await,
                    Err(cause) => Err(cause),
                };
                files.extend(file.ok().and_then(|file| file.dyn_into::<File>().ok()));
            }
            // Treated like a dropped file.
            app.recent.pending.replace(Some(handles.get(0)).filter(|_| handles.length() == 1));
            open_unnamed(app, files);
        });
    });
    call_method(&queue, "setConsumer", &[consumer.as_ref().clone()])?;
    consumer.forget();
    Ok(())
}

/// Requests files that another program has shared from the service worker, which returns them only once.
fn receive_shared_files(app: &'static App, container: &JsValue) -> Result<(), JsValue> {
    if app.dom.window.location().search().as_deref() != Ok(SHARED_QUERY) {
        return Ok(());
    }
    let listening: &EventTarget = container.dyn_ref().ok_or(JsValue::UNDEFINED)?;
    listen(listening, "message", move |event| {
        let message = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().dyn_into::<Array>().ok());
        open_unnamed(app, message.iter().flat_map(Array::iter).filter_map(|file| file.dyn_into().ok()).collect());
    });
    call_method(container, "startMessages", &[])?;
    call_method(&property(container, "controller")?, "postMessage", &["shared".into()])?;
    Ok(())
}

fn open_unnamed(app: &'static App, files: Vec<File>) {
    if !files.is_empty() {
        open_files(app, files.into_iter().map(|file| (file.name(), file)).collect());
    }
}
