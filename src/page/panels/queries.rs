//! SQL tab: the editor and the result of the last query.

use crate::app::{AddListener, App, Part};
use crate::dom::{append, attribute_at, clear, set_attribute, set_flag, set_text};
use crate::elements::elements;
use crate::sql_worker::SqlEvent;
use crate::{dom, export, storage};
use js_sys::{Array, Uint8Array};
use protocol::sql::{RowTarget, SqlReply};
use ui::features::State;
use ui::features::sql::{Node, Sql, SqlAction, SqlPart};
use ui::shell::action::Action;
use ui::state::effect::SqlEffect;
use ui::text::tab::Tab;
use wasm_bindgen::JsCast;
use web_sys::{Blob, Element, Event, HtmlTextAreaElement, KeyboardEvent};

elements! {
    HtmlElement: sql, sql_canned, sql_cancel, sql_chart, sql_colour, sql_history, sql_result, sql_run, sql_schema,
        sql_scroll, sql_status, sql_words;
    HtmlTextAreaElement: sql_text;
}

#[derive(Default)]
pub(super) struct Panel {
    /// Version of each part that is shown.
    versions: [u32; SqlPart::ALL.len()],
    /// Number of rows that are shown.
    rows: usize,
}

/// Distance, in CSS pixels, from the end of the created rows at which scrolling creates more rows.
const LOAD_MORE_PX: i32 = 600;

const SVG: &str = "http://www.w3.org/2000/svg";

/// Storage key of the query history.
const HISTORY_KEY: &str = "memscape.sql";

/// Loads the stored history of queries.
pub(crate) fn load_history(app: &App) {
    if let Some(text) = storage::load_value(&app.dom, HISTORY_KEY) {
        app.dispatch(Action::feature(SqlAction::HistoryLoaded(text)));
    }
}

/// Carries out an effect of the tab.
pub(crate) fn perform(app: &App, effect: SqlEffect) {
    match effect {
        SqlEffect::Open(loads, request) => app.sql.open(loads, request),
        SqlEffect::Ask(request) => app.sql.send(&request),
        SqlEffect::SetText(text, cursor) => {
            if let Some(editor) = app.dom.by_id::<HtmlTextAreaElement>("sql-text") {
                editor.set_value(&text);
                // Fails only for fields that do not contain text.
                let _ = editor.set_selection_range(cursor, cursor);
                dom::focus_element(&editor);
            }
        }
        SqlEffect::StoreHistory(text) => storage::store(&app.dom, HISTORY_KEY, &text),
    }
}

/// Handles a reply of the worker, or its failure.
pub(crate) fn on_event(app: &App, event: SqlEvent) {
    app.dispatch(Action::feature(match event {
        Ok((reply, attachments)) => {
            if let SqlReply::File(Ok(name)) = &reply {
                let content = Array::of1(&Uint8Array::new(&attachments.get(0)));
                // Fails only if the browser has no memory left.
                let _ = Blob::new_with_u8_array_sequence(&content).and_then(|blob| export::download(app, &blob, name));
            }
            SqlAction::Replied(Box::new(reply))
        }
        Err(cause) => SqlAction::Failed(cause),
    }));
}

fn dispatch(app: &App, elements: &Elements, action: SqlAction) {
    app.dispatch(Action::feature(action));
    // Immediately, so that the status line of the previous query is not taken for that of the new one.
    set_flag(&elements.sql, "aria-busy", app.state.borrow().queries.is_busy());
}

fn run(app: &App, elements: &Elements) {
    dispatch(app, elements, SqlAction::Run(elements.sql_text.value()));
}

/// Performs the action of the clicked element, or of the focused element on Enter.
fn handle_action(app: &App, elements: &Elements, event: &Event) {
    let Some(act) = attribute_at(event, "data-act") else { return };
    let target = app.state.borrow().queries.row_target(&act);
    match target {
        Some(target) => go_to(app, target),
        None => dispatch(app, elements, SqlAction::Clicked(act)),
    }
}

fn go_to(app: &App, RowTarget { device, allocation, event }: RowTarget) {
    let shown = app.state.borrow().device().map(|device| device.device);
    if let Some(device) = device.filter(|_| device != shown) {
        app.dispatch(Action::DeviceChosen(device));
    }
    if let Some(action) = allocation.map(SqlAction::Allocation).or(event.map(SqlAction::Event)) {
        app.dispatch(Action::feature(action));
    }
}

impl Part for Panel {
    type Elements = Elements;
    const TAB: Option<Tab> = Some(Tab::Sql);

    fn listen(elements: &Elements, on: AddListener<'_, Elements>) {
        on(&elements.sql_text, "input", |app, elements, _| {
            let cursor = elements.sql_text.selection_start().ok().flatten().unwrap_or(0);
            dispatch(app, elements, SqlAction::Edited(elements.sql_text.value(), cursor as usize));
        });
        on(&elements.sql_text, "keydown", |app, elements, event| {
            let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
            let (name, is_run) = (key.key(), key.ctrl_key() || key.meta_key());
            let is_listed = elements.sql_words.has_child_nodes() && !key.shift_key();
            if name == "Enter" && is_run {
                run(app, elements);
            } else if is_listed && matches!(&*name, "ArrowUp" | "ArrowDown" | "Tab" | "Escape") {
                dispatch(app, elements, SqlAction::KeyPressed(name));
            } else {
                return;
            }
            event.prevent_default();
            event.stop_propagation();
        });
        on(&elements.sql, "click", handle_action);
        on(&elements.sql_scroll, "keydown", |app, elements, event| {
            if event.dyn_ref::<KeyboardEvent>().is_some_and(|key| key.key() == "Enter") {
                handle_action(app, elements, event);
            }
        });
        on(&elements.sql_scroll, "scroll", |app, elements, _| {
            let place = &elements.sql_scroll;
            if place.scroll_height() - place.scroll_top() - place.client_height() < LOAD_MORE_PX {
                dispatch(app, elements, SqlAction::MoreWanted);
            }
        });
        on(&elements.sql_run, "click", |app, elements, _| run(app, elements));
        on(&elements.sql_cancel, "click", |app, elements, _| dispatch(app, elements, SqlAction::Cancelled));
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let sql: &Sql = &state.queries;
        set_flag(&elements.sql, "aria-busy", sql.is_busy());
        let (text, is_error) = sql.status();
        set_text(&elements.sql_status, text);
        set_attribute(&elements.sql_status, "title", text);
        set_attribute(&elements.sql_status, "class", if is_error { "wrong" } else { "" });
        // In the order of `SqlPart`.
        let places = [
            &elements.sql_schema,
            &elements.sql_canned,
            &elements.sql_history,
            &elements.sql_colour,
            &elements.sql_words,
            &elements.sql_chart,
            &elements.sql_result,
        ];
        for ((&part, place), shown) in SqlPart::ALL.iter().zip(places).zip(&mut self.versions) {
            let version = sql.version(part);
            if std::mem::replace(shown, version) != version {
                clear(place);
                add_nodes(app, place, &sql.nodes(part));
                if part == SqlPart::Rows {
                    self.rows = sql.row_count();
                }
            }
        }
        if self.rows < sql.row_count()
            && let Some(rows) = elements.sql_result.last_element_child()
        {
            add_nodes(app, &rows, &sql.rows_from(self.rows));
            self.rows = sql.row_count();
        }
    }
}

fn add_nodes(app: &App, place: &Element, nodes: &[Node]) {
    for node in nodes {
        match node {
            // Cannot fail for a string.
            Node::Text(text) => drop(place.append_with_str_1(text)),
            Node::Element { tag, attributes, children } => {
                let element = match *tag {
                    "svg" | "path" => app.dom.document.create_element_ns(Some(SVG), tag),
                    _ => app.dom.document.create_element(tag),
                };
                // Fails only for invalid names.
                let Ok(element) = element else { continue };
                attributes.iter().for_each(|(name, value)| set_attribute(&element, name, value));
                add_nodes(app, &element, children);
                append(place, &element);
            }
        }
    }
}
