//! Recent files on the start page.

use crate::app::{App, On, Part, Shown};
use crate::dom::{append, clear, number};
use crate::elements::elements;
use crate::files::give_named;
use crate::recent::{MOST, NAME, Tried, ask, get, name, read, settled};
use crate::storage::{store, stored};
use js_sys::{Array, Date};
use ui::recent_files::RecentFiles;
use ui::stage::Stage;
use ui::{Action, Command, State};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

elements! {
    HtmlButtonElement: recent_clear;
    HtmlElement: recent, recent_list;
}

/// Storage key of the facts about recent files.
const FACTS: &str = "memscape.recent";

#[derive(Default)]
pub(super) struct Panel {
    shown: Shown<Vec<String>>,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, _: &'static Elements) -> Result<(), String> {
        spawn_local(async move {
            let kept = ask(&app.dom.window, "get", &[NAME.into()]).await;
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
            store(&app.dom, FACTS, "");
            spawn_local(async move { drop(keep(app, Array::new()).await) });
        });
    }

    fn show(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if matches!(state.stage, Stage::Ready(_) | Stage::Choosing(_) | Stage::Loading(_)) {
            return;
        }
        if let Some(names) = self.shown.changed(app.recent.names()) {
            clear(&elements.recent_list);
            let known = known(app);
            for (place, name) in names.iter().enumerate() {
                let item = elements.add(&elements.recent_list, "li", "", "");
                append(&item, &elements.new_button("", name, ("data-recent", &place.to_string())));
                if let Some((facts, opened_ms)) = known.facts(name) {
                    let opened = Date::new(&(opened_ms as f64).into());
                    let opened = String::from(opened.to_locale_date_string("default", &JsValue::UNDEFINED));
                    elements.add(&item, "span", "facts", &[&facts, " · ", &opened].concat());
                }
            }
            elements.recent.set_hidden(names.is_empty());
        }
    }
}

fn known(app: &App) -> RecentFiles {
    RecentFiles::parse(&stored(&app.dom, FACTS).unwrap_or_default())
}

/// Stores facts about the open file for the start page. Only for files that have a handle.
pub(crate) fn shown(app: &App) {
    let mut known = known(app);
    known.add(&app.state.borrow(), Date::now() as u64);
    store(&app.dom, FACTS, &known.stored());
}

/// Adds the open file's handle to the recent files. Returns whether it has one.
pub(crate) fn opened(app: &'static App) -> bool {
    let Some(given) = app.recent.given.take() else { return false };
    spawn_local(async move {
        // Errors are ignored, because nothing visible depends on the stored handle.
        let _ = add(app, given).await;
    });
    true
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
    ask(&app.dom.window, "put", &[handles.into(), NAME.into()]).await
}

/// Opens the recent file with this name, or shows the file picker.
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
            // The file was moved or deleted. The user may find it in the file picker.
            Err(_) => app.dispatch(Action::Command(Command::OpenFile)),
        }
    });
}
