//! Recent files on the start page.

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{append, clear, number_at};
use crate::elements::elements;
use crate::files::open_files;
use crate::recent::{DATABASE, JsResult, MAX_RECENT, await_value, call_store, name, property, read_file};
use crate::storage::{load_value, store};
use js_sys::{Array, Date};
use ui::features::State;
use ui::prefs::recent_files::RecentFiles;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::stage::Stage;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

elements! {
    HtmlButtonElement: recent_clear;
    HtmlElement: recent, recent_list;
}

/// Storage key of the facts about recent files.
const FACTS_KEY: &str = "memscape.recent";

#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<Vec<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, _: &'static Elements) -> Result<(), String> {
        spawn_local(async move {
            let kept = call_store(&app.dom.window, "get", &[DATABASE.into()]).await;
            if let Some(kept) = kept.ok().and_then(|kept| kept.dyn_into().ok()) {
                app.recent.handles.replace(kept);
                app.frame.request();
            }
        });
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.recent_list, "click", |app, _, event| {
            if let Some(place) = number_at(event, "data-recent") {
                reopen(app, app.recent.handles.borrow().get(place));
            }
        });
        on.event(&elements.recent_clear, "click", |app, _, _| {
            store(&app.dom, FACTS_KEY, "");
            spawn_local(async move { drop(store_handles(app, Array::new()).await) });
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if matches!(state.stage, Stage::Ready(_) | Stage::Choosing(_) | Stage::Loading(_)) {
            return;
        }
        if let Some(names) = self.shown.update(app.recent.names()) {
            clear(&elements.recent_list);
            let known = load_facts(app);
            for (place, name) in names.iter().enumerate() {
                let item = elements.append_new(&elements.recent_list, "li", "", "");
                append(&item, &elements.new_button("", name, ("data-recent", &place.to_string())));
                if let Some((facts, opened_ms)) = known.describe(name) {
                    let opened = Date::new(&(opened_ms as f64).into());
                    let opened = String::from(opened.to_locale_date_string("default", &JsValue::UNDEFINED));
                    elements.append_new(&item, "span", "facts", &[&facts, " · ", &opened].concat());
                }
            }
            elements.recent.set_hidden(names.is_empty());
        }
    }
}

fn load_facts(app: &App) -> RecentFiles {
    RecentFiles::parse(&load_value(&app.dom, FACTS_KEY).unwrap_or_default())
}

/// Stores facts about the open file for the start page, if the file has a handle with which it can be reopened.
pub(crate) fn store_facts(app: &App) {
    let mut known = load_facts(app);
    known.add(&app.state.borrow(), Date::now() as u64);
    store(&app.dom, FACTS_KEY, &known.to_text());
}

/// Adds the open file to the recent files, if it has a handle with which it can be reopened. Returns whether it has
/// one.
pub(crate) fn remember(app: &'static App) -> bool {
    let Some(given) = app.recent.pending.take() else { return false };
    spawn_local(async move {
        // Errors are ignored, because nothing visible depends on the stored handle.
        let _ = add(app, given).await;
    });
    true
}

async fn add(app: &'static App, given: JsValue) -> JsResult {
    let handle = await_value(given).await?;
    if property(&handle, "kind")? != "file" {
        return Ok(JsValue::NULL);
    }
    let (known, called) = (app.recent.handles.borrow().clone(), name(&handle));
    let others = known.iter().filter(|other| name(other) != called);
    store_handles(app, std::iter::once(handle).chain(others).take(MAX_RECENT).collect()).await
}

async fn store_handles(app: &'static App, handles: Array) -> JsResult {
    app.recent.handles.replace(handles.clone());
    app.frame.request();
    call_store(&app.dom.window, "put", &[handles.into(), DATABASE.into()]).await
}

/// Opens the recent file with this name, or shows the file picker.
pub(super) fn open_named(app: &'static App, wanted: &str) {
    let known = app.recent.handles.borrow().iter().find(|handle| name(handle) == wanted);
    match known {
        Some(handle) => reopen(app, handle),
        None => app.dispatch(Action::Command(commands::OPEN_FILE)),
    }
}

fn reopen(app: &'static App, handle: JsValue) {
    spawn_local(async move {
        match read_file(&handle).await {
            Ok(Some(file)) => {
                app.recent.pending.replace(Some(handle));
                open_files(app, vec![(file.name(), file)]);
            }
            Ok(None) => {}
            // The file was moved or deleted. The user may find it in the file picker.
            Err(_) => app.dispatch(Action::Command(commands::OPEN_FILE)),
        }
    });
}
