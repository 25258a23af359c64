//! Recently dropped files, stored as file handles in IndexedDB. Needs the File System Access API (Chromium). A handle
//! contains the file's name. Its content can be read only after the user selects the file and the browser grants access
//! again.
//!
//! These browser APIs are called by name, because web-sys has some of them only with a compiler flag.

use js_sys::{Array, Function, Promise, Reflect};
use std::cell::RefCell;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, Window};

/// Maximum number of recent files.
pub(super) const MAX_RECENT: usize = 5;
/// Name of the database, of its object store, and of the key in that store.
pub(super) const DATABASE: &str = "recent";

/// Result of a browser API that is called by name.
pub(super) type JsResult = Result<JsValue, JsValue>;

/// Handles of recently dropped files.
#[derive(Default)]
pub(super) struct Recent {
    /// Promise of the handle of the file that is being opened, if it was dropped.
    pub(super) pending: RefCell<Option<JsValue>>,
    /// Handles in the database, most recent first.
    pub(super) handles: RefCell<Array>,
}

impl Recent {
    /// Requests the handle of a dropped file, which is possible only while the drop event is being handled. Nothing is
    /// requested if several files were dropped.
    pub(super) fn on_drop(&self, transfer: &DataTransfer) {
        let items = transfer.items();
        let item = items.get(0).filter(|_| items.length() == 1);
        self.pending.replace(item.and_then(|item| call_method(&item, "getAsFileSystemHandle", &[]).ok()));
    }

    /// Forgets the pending handle, because the file being opened was not dropped.
    pub(super) fn clear_pending(&self) {
        self.pending.replace(None);
    }

    /// Returns the file names, most recent first.
    pub(super) fn names(&self) -> Vec<String> {
        self.handles.borrow().iter().map(|handle| name(&handle)).collect()
    }
}

/// Asks the user for permission and returns the file. Returns `None` if the user denies it.
pub(super) async fn read_file(handle: &JsValue) -> Result<Option<File>, JsValue> {
    if await_value(call_method(handle, "requestPermission", &[])?).await? != "granted" {
        return Ok(None);
    }
    await_value(call_method(handle, "getFile", &[])?).await?.dyn_into().map(Some)
}

pub(super) fn name(handle: &JsValue) -> String {
    property(handle, "name").ok().and_then(|name| name.as_string()).unwrap_or_default()
}

pub(super) async fn call_store(window: &Window, method: &str, arguments: &[JsValue]) -> JsResult {
    let opening = call_method(&property(window, "indexedDB")?, "open", &[DATABASE.into()])?;
    let fresh = opening.clone();
    let make = move || {
        property(&fresh, "result").and_then(|database| call_method(&database, "createObjectStore", &[DATABASE.into()]))
    };
    Reflect::set(&opening, &"onupgradeneeded".into(), &Closure::once_into_js(move || drop(make())))?;
    let transaction =
        call_method(&request_result(opening).await?, "transaction", &[DATABASE.into(), "readwrite".into()])?;
    request_result(call_method(&call_method(&transaction, "objectStore", &[DATABASE.into()])?, method, arguments)?)
        .await
}

/// Waits for a request to the database and returns its result.
async fn request_result(request: JsValue) -> JsResult {
    let ended = Promise::new(&mut |done, failed| {
        for (event, then) in [("onsuccess", done), ("onerror", failed)] {
            // A request accepts any property.
            let _ = Reflect::set(&request, &event.into(), &then);
        }
    });
    JsFuture::from(ended).await?;
    property(&request, "result")
}

/// Waits for a promise. A value that is not a promise is returned as it is.
pub(super) async fn await_value(promise: JsValue) -> JsResult {
    JsFuture::from(Promise::resolve(&promise)).await
}

pub(super) fn property(of: &JsValue, name: &str) -> JsResult {
    Reflect::get(of, &name.into())
}

pub(super) fn call_method(of: &JsValue, method: &str, arguments: &[JsValue]) -> JsResult {
    property(of, method)?.dyn_into::<Function>()?.apply(of, &arguments.iter().collect())
}
