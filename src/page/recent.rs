//! Recently dropped files, as file handles in IndexedDB. Needs the File System Access API (Chromium). A handle contains
//! the file's name. The content is read only after the user selects the file and the browser grants access again.
//!
//! These browser APIs are called by name, because web-sys has some of them only behind a compiler flag.

use js_sys::{Array, Function, Promise, Reflect};
use std::cell::RefCell;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, Window};

/// Maximum number of recent files.
pub(super) const MOST: usize = 5;
/// Name of the database, of its object store, and of the key in it.
pub(super) const NAME: &str = "recent";

/// Result of a browser API that is called by name.
pub(super) type Tried = Result<JsValue, JsValue>;

/// Handles of recently dropped files.
#[derive(Default)]
pub(super) struct Recent {
    /// Promise of the handle of the file that is being opened.
    pub(super) given: RefCell<Option<JsValue>>,
    /// Handles in the database, most recent first.
    pub(super) known: RefCell<Array>,
}

impl Recent {
    /// Requests the handle of a dropped file, which is possible only while the drop event is being handled. Only a
    /// single file is remembered.
    pub(super) fn dropped(&self, transfer: &DataTransfer) {
        let items = transfer.items();
        let item = items.get(0).filter(|_| items.length() == 1);
        self.given.replace(item.and_then(|item| call(&item, "getAsFileSystemHandle", &[]).ok()));
    }

    /// Forgets the pending handle, because the file being opened was not dropped.
    pub(super) fn forget(&self) {
        self.given.replace(None);
    }

    /// Returns the file names, most recent first.
    pub(super) fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|handle| name(&handle)).collect()
    }
}

/// Reads the file after asking for permission. Returns `None` if the user denies it.
pub(super) async fn read(handle: &JsValue) -> Result<Option<File>, JsValue> {
    if settled(call(handle, "requestPermission", &[])?).await? != "granted" {
        return Ok(None);
    }
    settled(call(handle, "getFile", &[])?).await?.dyn_into().map(Some)
}

pub(super) fn name(handle: &JsValue) -> String {
    get(handle, "name").ok().and_then(|name| name.as_string()).unwrap_or_default()
}

/// Calls a method of the object store and returns its result.
pub(super) async fn ask(window: &Window, method: &str, arguments: &[JsValue]) -> Tried {
    let opening = call(&get(window, "indexedDB")?, "open", &[NAME.into()])?;
    let fresh = opening.clone();
    let make = move || get(&fresh, "result").and_then(|database| call(&database, "createObjectStore", &[NAME.into()]));
    Reflect::set(&opening, &"onupgradeneeded".into(), &Closure::once_into_js(move || drop(make())))?;
    let transaction = call(&done(opening).await?, "transaction", &[NAME.into(), "readwrite".into()])?;
    done(call(&call(&transaction, "objectStore", &[NAME.into()])?, method, arguments)?).await
}

/// Waits for a request to the database and returns its result.
async fn done(request: JsValue) -> Tried {
    let ended = Promise::new(&mut |done, failed| {
        for (event, then) in [("onsuccess", done), ("onerror", failed)] {
            // A request accepts any property.
            let _ = Reflect::set(&request, &event.into(), &then);
        }
    });
    JsFuture::from(ended).await?;
    get(&request, "result")
}

/// Waits for a promise. A value that is not a promise is returned as it is.
pub(super) async fn settled(promise: JsValue) -> Tried {
    JsFuture::from(Promise::resolve(&promise)).await
}

pub(super) fn get(of: &JsValue, name: &str) -> Tried {
    Reflect::get(of, &name.into())
}

pub(super) fn call(of: &JsValue, method: &str, arguments: &[JsValue]) -> Tried {
    get(of, method)?.dyn_into::<Function>()?.apply(of, &arguments.iter().collect())
}
