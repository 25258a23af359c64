//! SQL tab: the editor and the results. A worker with its own wasm runs the queries.

use crate::app::{AddListener, App, Part};
use crate::dom::{attribute_at, set_text};
use crate::elements::elements;
use crate::sql_worker::sql_worker;
use js_sys::Array;
use ui::features::State;
use ui::features::sql::QuerySubject;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

elements! {
    HtmlElement: sql, sql_cancel, sql_colour, sql_run, sql_scroll, sql_words;
    HtmlTextAreaElement: sql_text;
}

#[derive(Default)]
pub(super) struct Panel;

/// Distance, in CSS pixels, from the end of the created rows at which scrolling creates more rows.
const LOAD_MORE_PX: i32 = 600;

fn run(app: &'static App, elements: &Elements) {
    sql_worker(app).run(app, Array::of2(&"run".into(), &elements.sql_text.value().into()));
}

/// Sends the worker the action of the clicked element, or of the focused element on Enter.
fn handle_action(app: &'static App, event: &Event) {
    if let Some(what) = attribute_at(event, "data-act") {
        sql_worker(app).run(app, Array::of2(&"act".into(), &what.into()));
    }
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Sql);

    fn listen(elements: &Elements, on: AddListener<'_, Elements>) {
        on(&elements.sql_text, "input", |app, elements, _| {
            let text = elements.sql_text.value();
            // Without syntax colours until the worker has sent them.
            set_text(&elements.sql_colour, &[&text, "\n"].concat());
            let cursor = elements.sql_text.selection_start().ok().flatten().unwrap_or(0);
            sql_worker(app).send(&Array::of3(&"typed".into(), &text.into(), &cursor.into()));
        });
        on(&elements.sql_text, "keydown", |app, elements, event| {
            let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
            let (name, is_run) = (key.key(), key.ctrl_key() || key.meta_key());
            let is_listed = elements.sql_words.has_child_nodes() && !key.shift_key();
            if name == "Enter" && is_run {
                run(app, elements);
            } else if is_listed && matches!(&*name, "ArrowUp" | "ArrowDown" | "Tab" | "Escape") {
                sql_worker(app).send(&Array::of2(&"key".into(), &name.into()));
            } else {
                return;
            }
            event.prevent_default();
            event.stop_propagation();
        });
        on(&elements.sql, "click", |app, _, event| handle_action(app, event));
        on(&elements.sql_scroll, "keydown", |app, _, event| {
            if event.dyn_ref::<KeyboardEvent>().is_some_and(|key| key.key() == "Enter") {
                handle_action(app, event);
            }
        });
        on(&elements.sql_scroll, "scroll", |app, elements, _| {
            let place = &elements.sql_scroll;
            if place.scroll_height() - place.scroll_top() - place.client_height() < LOAD_MORE_PX {
                sql_worker(app).send(&Array::of1(&"more".into()));
            }
        });
        on(&elements.sql_run, "click", |app, elements, _| run(app, elements));
        on(&elements.sql_cancel, "click", |app, _, _| sql_worker(app).restart(app));
    }

    fn show_details(&mut self, app: &'static App, _: &Elements, state: &State) {
        if let Some(subject) = QuerySubject::from_state(state) {
            sql_worker(app).open(app, subject);
        }
    }
}
