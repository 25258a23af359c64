//! SQL tab: the editor and the result of the last query.

mod chart;

use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{attribute_at, clear, set_attribute, set_flag, set_text};
use crate::elements::elements;
use crate::sql_worker::SqlEvent;
use crate::{dom, export, storage};
use base::units::Bytes;
use chart::show_chart;
use js_sys::{Array, JsString, Uint8Array};
use protocol::sql::{RowTarget, Schema, SqlReply};
use std::mem;
use std::rc::Rc;
use ui::features::State;
use ui::features::sql::{Sql, SqlAction};
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
    schema: LastShown<Rc<Schema>>,
    history: LastShown<Rc<Vec<String>>>,
    query: LastShown<Vec<(&'static str, String)>>,
    /// Suggestions, and the index of the selected one.
    words: LastShown<(Vec<String>, Option<usize>)>,
    /// Number of the result that is shown. 0 for none.
    result: u32,
    /// Number of rows that are shown.
    row_count: usize,
}

/// Distance, in CSS pixels, from the end of the created rows at which scrolling creates more rows.
const LOAD_MORE_PX: i32 = 600;

/// Maximum length, in characters, at which a query is shown in the history.
const MAX_SHOWN: usize = 80;

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
                let cursor = text.get(..cursor).map_or(0, |before| before.encode_utf16().count() as u32);
                // Fails only for fields that do not contain text.
                let _ = editor.set_selection_range(cursor, cursor);
                dom::focus_element(&editor);
            }
        }
        // Nothing is stored about a file that another page sent.
        SqlEffect::StoreHistory(_) if app.files.sender().is_some() => {}
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
    set_flag(&elements.sql, "aria-busy", app.state.borrow().queries.is_busy);
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

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.sql_text, "input", |app, elements, _| {
            let text = elements.sql_text.value();
            // The browser counts UTF-16 units.
            let cursor = elements.sql_text.selection_start().ok().flatten().unwrap_or(0);
            let before = String::from(JsString::from(&*text).slice(0, cursor));
            dispatch(app, elements, SqlAction::Edited(text, before.len()));
        });
        on.event(&elements.sql_text, "keydown", |app, elements, event| {
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
        on.event(&elements.sql, "click", handle_action);
        on.event(&elements.sql_scroll, "keydown", |app, elements, event| {
            if event.dyn_ref::<KeyboardEvent>().is_some_and(|key| key.key() == "Enter") {
                handle_action(app, elements, event);
            }
        });
        on.event(&elements.sql_scroll, "scroll", |app, elements, _| {
            let place = &elements.sql_scroll;
            if place.scroll_height() - place.scroll_top() - place.client_height() < LOAD_MORE_PX {
                dispatch(app, elements, SqlAction::MoreWanted);
            }
        });
        on.event(&elements.sql_run, "click", |app, elements, _| run(app, elements));
        on.event(&elements.sql_cancel, "click", |app, elements, _| dispatch(app, elements, SqlAction::Cancelled));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let sql: &Sql = &state.queries;
        let (text, is_error) = &sql.status;
        set_flag(&elements.sql, "aria-busy", sql.is_busy);
        set_text(&elements.sql_status, text);
        set_attribute(&elements.sql_status, "title", text);
        set_attribute(&elements.sql_status, "class", if *is_error { "wrong" } else { "" });
        if let Some(schema) = self.schema.update(sql.schema.clone()) {
            elements.show_tables(schema);
            let examples = schema.examples.iter().map(|(title, query)| (&**title, query));
            elements.show_queries(&elements.sql_canned, "canned", examples);
        }
        if let Some(history) = self.history.update(sql.history.clone()) {
            let cut = |query: &str| query.chars().take(MAX_SHOWN).collect::<String>();
            let queries: Vec<_> = history.iter().map(|query| (cut(query), query)).collect();
            let queries = queries.iter().map(|(shown, query)| (&**shown, *query));
            elements.show_queries(&elements.sql_history, "history", queries);
        }
        if let Some(pieces) = self.query.update(sql.highlighted()) {
            let place = &elements.sql_colour;
            clear(place);
            pieces.iter().for_each(|(class, text)| drop(elements.append_new(place, "span", class, text)));
            // A trailing newline in an element does not start a line.
            elements.append_new(place, "span", "", "\n");
        }
        if let Some((words, chosen)) = self.words.update((sql.completion.words.clone(), sql.chosen)) {
            clear(&elements.sql_words);
            for (index, word) in words.iter().enumerate() {
                let item = elements.append_new(&elements.sql_words, "li", "", word);
                set_attribute(&item, "role", "option");
                set_flag(&item, "aria-selected", *chosen == Some(index));
                set_act(&item, "word", index);
            }
        }
        if mem::replace(&mut self.result, sql.result_count) != sql.result_count {
            self.row_count = 0;
            show_chart(elements, &elements.sql_chart, sql.result.chart.as_ref());
            elements.show_head(sql);
        }
        if self.row_count < sql.result.rows.len() {
            elements.add_rows(sql, self.row_count);
            self.row_count = sql.result.rows.len();
        }
    }
}

/// Sets the action of a click: its name, and the index of the element.
fn set_act(element: &Element, act: &str, index: usize) {
    set_attribute(element, "data-act", &[act, ":", &index.to_string()].concat());
}

impl Elements {
    fn add_button(&self, to: &Element, (act, index): (&str, usize), text: &str, title: &str) {
        let button = self.append_new(to, "button", "", text);
        set_attribute(&button, "type", "button");
        set_attribute(&button, "title", title);
        set_act(&button, act, index);
    }

    /// Shows the tables with their columns, and the functions.
    fn show_tables(&self, schema: &Schema) {
        clear(&self.sql_schema);
        let add_group = |title: &str, about: &str| {
            let group = self.append_new(&self.sql_schema, "details", "", "");
            set_attribute(&self.append_new(&group, "summary", "", title), "title", about);
            group
        };
        let mut column_index = 0;
        for (index, table) in schema.tables.iter().enumerate() {
            let group = add_group(&table.call, &table.about);
            self.add_button(&group, ("table", index), "Show rows", "");
            let list = self.append_new(&group, "ul", "", "");
            for (name, about) in &table.columns {
                self.add_button(&self.append_new(&list, "li", "", ""), ("column", column_index), name, about);
                column_index += 1;
            }
        }
        let list = self.append_new(&add_group("Functions", ""), "ul", "", "");
        for (call, about) in &schema.functions {
            set_attribute(&self.append_new(&list, "li", "", call), "title", about);
        }
    }

    /// Fills a list of queries, each given as shown and in full.
    fn show_queries<'a>(&self, list: &Element, act: &str, queries: impl Iterator<Item = (&'a str, &'a String)>) {
        clear(list);
        for (index, (shown, query)) in queries.enumerate() {
            self.add_button(&self.append_new(list, "li", "", ""), (act, index), shown, query);
        }
    }

    /// Shows the header of the result, and no rows.
    fn show_head(&self, sql: &Sql) {
        clear(&self.sql_result);
        let head = self.append_new(&self.append_new(&self.sql_result, "thead", "", ""), "tr", "", "");
        for (index, (name, _)) in sql.result.columns.iter().enumerate() {
            let order = match sql.sorted {
                Some((column, is_descending)) if column == index => {
                    ["ascending", "descending"][usize::from(is_descending)]
                }
                _ => "none",
            };
            let cell = self.append_new(&head, "th", "", "");
            set_attribute(&cell, "scope", "col");
            set_attribute(&cell, "aria-sort", order);
            self.add_button(&cell, ("sort", index), name, "Sort");
        }
        set_attribute(&self.append_new(&self.sql_result, "tbody", "", ""), "id", "sql-rows");
    }

    /// Shows the rows of the result from this index on.
    fn add_rows(&self, sql: &Sql, first: usize) {
        let Some(body) = self.sql_result.last_element_child() else { return };
        for (index, row) in sql.result.rows.iter().enumerate().skip(first) {
            let line = self.append_new(&body, "tr", "", "");
            if row.target.is_some() {
                set_act(&line, "row", index);
                set_attribute(&line, "tabindex", "0");
            }
            for (text, (name, is_numeric)) in row.cells.iter().zip(&sql.result.columns) {
                let cell = self.append_new(&line, "td", if *is_numeric { "number" } else { "" }, text);
                if let Some(bytes) = text.parse().ok().filter(|_| *is_numeric && name.ends_with("bytes")) {
                    set_attribute(&cell, "title", &Bytes(bytes).to_string());
                }
            }
        }
    }
}
