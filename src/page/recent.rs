//! Files that were dropped before, where the browser lets a page keep them (File System Access, in Chromium): handles in IndexedDB. A handle
//! has the name of a file; nothing of it is read until somebody chooses it and the browser allows it again.
//!
//! The browser's interfaces are called by name: web-sys has some of them only behind a flag of the compiler.

use js_sys::{Array, Function, Promise, Reflect};
use std::cell::RefCell;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, Window};

/// So many are kept.
pub(super) const MOST: usize = 5;
/// The database, what it has, and the key there.
pub(super) const NAME: &str = "recent";

pub(super) type Tried = Result<JsValue, JsValue>;

/// Handles of files.
#[derive(Default)]
pub(super) struct Recent {
    /// The promise of a handle for what is being opened.
    pub(super) given: RefCell<Option<JsValue>>,
    pub(super) known: RefCell<Array>,
}

impl Recent {
    /// A drop is heard; a handle can be asked for only now. One file alone is kept.
    pub(super) fn dropped(&self, transfer: &DataTransfer) {
        let items = transfer.items();
        let item = items.get(0).filter(|_| items.length() == 1);
        self.given.replace(item.and_then(|item| call(&item, "getAsFileSystemHandle", &[]).ok()));
    }

    /// What is being opened was not dropped.
    pub(super) fn forget(&self) {
        self.given.replace(None);
    }

    /// The names, the latest first.
    pub(super) fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|handle| name(&handle)).collect()
    }
}

/// The file, once the browser has asked and been allowed to.
pub(super) async fn read(handle: &JsValue) -> Result<Option<File>, JsValue> {
    if settled(call(handle, "requestPermission", &[])?).await? != "granted" {
        return Ok(None);
    }
    settled(call(handle, "getFile", &[])?).await?.dyn_into().map(Some)
}

pub(super) fn name(handle: &JsValue) -> String {
    get(handle, "name").ok().and_then(|name| name.as_string()).unwrap_or_default()
}

/// Calls a method of the object store.
pub(super) async fn ask(window: &Window, method: &str, arguments: &[JsValue]) -> Tried {
    let opening = call(&get(window, "indexedDB")?, "open", &[NAME.into()])?;
    let fresh = opening.clone();
    let make = move || get(&fresh, "result").and_then(|database| call(&database, "createObjectStore", &[NAME.into()]));
    Reflect::set(&opening, &"onupgradeneeded".into(), &Closure::once_into_js(move || drop(make())))?;
    let transaction = call(&done(opening).await?, "transaction", &[NAME.into(), "readwrite".into()])?;
    done(call(&call(&transaction, "objectStore", &[NAME.into()])?, method, arguments)?).await
}

/// What a request to the database gives.
async fn done(request: JsValue) -> Tried {
    let ended = Promise::new(&mut |done, failed| {
        for (event, then) in [("onsuccess", done), ("onerror", failed)] {
            // A request takes any property.
            let _ = Reflect::set(&request, &event.into(), &then);
        }
    });
    JsFuture::from(ended).await?;
    get(&request, "result")
}

/// What a promise gives; or what is none.
pub(super) async fn settled(promise: JsValue) -> Tried {
    JsFuture::from(Promise::resolve(&promise)).await
}

pub(super) fn get(of: &JsValue, name: &str) -> Tried {
    Reflect::get(of, &name.into())
}

pub(super) fn call(of: &JsValue, method: &str, arguments: &[JsValue]) -> Tried {
    get(of, method)?.dyn_into::<Function>()?.apply(of, &arguments.iter().collect())
}
