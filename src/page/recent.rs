//! Files that were dropped before, where the browser lets a page keep them (File System Access, in Chromium): handles in IndexedDB. A handle
//! has the name of a file; nothing of it is read until somebody chooses it and the browser allows it again.
//!
//! The browser's interfaces are called by name: web-sys has some of them only behind a flag of the compiler.

use super::app::{App, On, Part, Shown};
use super::dom::{append, clear, number};
use super::elements::elements;
use super::files::give_named;
use js_sys::{Array, Function, Promise, Reflect};
use std::cell::RefCell;
use ui::stage::Stage;
use ui::{Action, Command, State};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DataTransfer, File};

/// So many are kept.
const MOST: usize = 5;
/// The database, what it has, and the key there.
const NAME: &str = "recent";

type Tried = Result<JsValue, JsValue>;

/// Handles of files.
#[derive(Default)]
pub(super) struct Recent {
    /// The promise of a handle for what is being opened.
    given: RefCell<Option<JsValue>>,
    known: RefCell<Array>,
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
    fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|handle| name(&handle)).collect()
    }
}

elements! {
    HtmlButtonElement: recent_clear;
    HtmlElement: recent, recent_list;
}

#[derive(Default)]
pub(super) struct Panel {
    shown: Shown<Vec<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, _: &'static Elements) -> Result<(), String> {
        spawn_local(async move {
            let kept = ask(app, "get", &[NAME.into()]).await;
            if let Some(kept) = kept.ok().and_then(|kept| kept.dyn_into().ok()) {
                app.recent.known.replace(kept);
                app.frame.request();
            }
        });
        Ok(())
    }

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.recent_list, "click", |app, _, event| {
            if let Some(place) = number(event, "data-recent") {
                reopen(app, app.recent.known.borrow().get(place));
            }
        });
        on(&elements.recent_clear, "click", |app, _, _| {
            spawn_local(async move { drop(keep(app, Array::new()).await) });
        });
    }

    fn show(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if matches!(state.stage, Stage::Ready(_) | Stage::Loading(_)) {
            return;
        }
        if let Some(names) = self.shown.changed(app.recent.names()) {
            clear(&elements.recent_list);
            for (place, name) in names.iter().enumerate() {
                let item = elements.add(&elements.recent_list, "li", "", "");
                append(&item, &elements.new_button("", name, ("data-recent", &place.to_string())));
            }
            elements.recent.set_hidden(names.is_empty());
        }
    }
}

/// A file is open: its handle is the latest, if it came with one.
pub(super) fn opened(app: &'static App) {
    let Some(given) = app.recent.given.take() else { return };
    spawn_local(async move {
        // Where it cannot be kept, nothing that is seen depends on it.
        let _ = add(app, given).await;
    });
}

async fn add(app: &'static App, given: JsValue) -> Tried {
    let handle = settled(given).await?;
    if get(&handle, "kind")? != "file" {
        return Ok(JsValue::NULL);
    }
    let (known, called) = (app.recent.known.borrow().clone(), name(&handle));
    let others = known.iter().filter(|other| name(other) != called);
    keep(app, std::iter::once(handle).chain(others).take(MOST).collect()).await
}

async fn keep(app: &'static App, handles: Array) -> Tried {
    app.recent.known.replace(handles.clone());
    app.frame.request();
    ask(app, "put", &[handles.into(), NAME.into()]).await
}

/// Opens the kept file of this name, or else asks for a file.
pub(super) fn choose(app: &'static App, wanted: &str) {
    let known = app.recent.known.borrow().iter().find(|handle| name(handle) == wanted);
    match known {
        Some(handle) => reopen(app, handle),
        None => app.dispatch(Action::Command(Command::OpenFile)),
    }
}

fn reopen(app: &'static App, handle: JsValue) {
    spawn_local(async move {
        match read(&handle).await {
            Ok(Some(file)) => {
                app.recent.given.replace(Some(handle));
                give_named(app, vec![(file.name(), file)]);
            }
            Ok(None) => {}
            // It was moved, or is gone: whoever asks for it may find it.
            Err(_) => app.dispatch(Action::Command(Command::OpenFile)),
        }
    });
}

/// The file, once the browser has asked and been allowed to.
async fn read(handle: &JsValue) -> Result<Option<File>, JsValue> {
    if settled(call(handle, "requestPermission", &[])?).await? != "granted" {
        return Ok(None);
    }
    settled(call(handle, "getFile", &[])?).await?.dyn_into().map(Some)
}

fn name(handle: &JsValue) -> String {
    get(handle, "name").ok().and_then(|name| name.as_string()).unwrap_or_default()
}

/// Calls a method of the object store.
async fn ask(app: &'static App, method: &str, arguments: &[JsValue]) -> Tried {
    let opening = call(&get(&app.dom.window, "indexedDB")?, "open", &[NAME.into()])?;
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
async fn settled(promise: JsValue) -> Tried {
    JsFuture::from(Promise::resolve(&promise)).await
}

fn get(of: &JsValue, name: &str) -> Tried {
    Reflect::get(of, &name.into())
}

fn call(of: &JsValue, method: &str, arguments: &[JsValue]) -> Tried {
    get(of, method)?.dyn_into::<Function>()?.apply(of, &arguments.iter().collect())
}
