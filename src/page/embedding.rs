//! Snapshots that another page sends with `postMessage`, from a frame around this page or from the window that opened
//! it. www/docs/embedding.md describes the messages.
//!
//! Messages are untrusted. Files of an origin that the user has not allowed are opened only after a question, and
//! nothing of a sent file is stored.

use super::address;
use super::app::{App, Listeners, Part};
use super::dialog::{close, set_open, was_closed_by_browser};
use super::dom::{attribute_at, set_attribute, set_text};
use super::elements::elements;
use super::files::open_sent_files;
use super::recent::property;
use super::sender::{Sender, SentFiles};
use super::storage::{load_value, store};
use js_sys::{Array, ArrayBuffer, JsString, Uint8Array};
use std::rc::Rc;
use ui::features::State;
use ui::shell::action::Action;
use ui::state::link::Link;
use ui::state::settings::Dialog;
use ui::text::sender::{MAX_FILES, add_trusted, can_be_trusted, is_trusted, question, short_name, trusted_note};
use ui::text::url::value_in_query;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, Event, File, MessageEvent};

elements! {
    HtmlButtonElement: sender_trust, trusted_clear;
    HtmlDialogElement: sender;
    HtmlElement: sender_text, trusted_note;
}

/// Storage key of the trusted origins.
const TRUSTED_KEY: &str = "memscape.trusted";

/// Maximum length of a text in a message, in UTF-16 units. Longer texts are ignored.
const MAX_TEXT: u32 = 1 << 16;

/// Part of the page that receives snapshots from other pages, and asks the user about them.
#[derive(Default)]
pub(super) struct Embedding;

impl Part for Embedding {
    type Elements = Elements;

    fn start(_: &'static App, elements: &'static Elements) -> Result<(), String> {
        if value_in_query(&query(elements), "embed").is_some() {
            set_attribute(&elements.body, "data-embed", "");
        }
        Ok(())
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.window, "message", on_message);
        on.event(&elements.sender, "click", |app, elements, event| {
            if let Some(answer) = attribute_at(event, "value") {
                answer_question(app, elements, &answer);
            }
        });
        on.event(&elements.sender, "close", |app, elements, _| {
            if was_closed_by_browser(&elements.sender) {
                answer_question(app, elements, "");
            }
        });
        // Shortcuts of the page do not work below the question.
        on.event(&elements.sender, "keydown", |_, _, event| event.stop_propagation());
        on.event(&elements.trusted_clear, "click", |app, _, _| {
            store(&app.dom, TRUSTED_KEY, "");
            app.frame.request();
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if state.settings.dialog == Dialog::Open {
            set_text(&elements.trusted_note, &trusted_note(&trusted(app)));
        }
    }
}

fn query(elements: &Elements) -> String {
    elements.window.location().search().unwrap_or_default()
}

fn trusted(app: &App) -> String {
    load_value(&app.dom, TRUSTED_KEY).unwrap_or_default()
}

fn on_message(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
    let Ok(window) = property(event, "source") else { return };
    let (sender, data) = (Sender::new(window, event.origin()), event.data());
    if data == "PING" {
        return sender.send(&"PONG".into());
    }
    // Other messages are not for this page, such as those of browser extensions, or are its own events.
    let Ok(message) = property(&data, "memscape") else { return };
    if property(&message, "event").map_or(true, |event| !event.is_undefined()) {
        return;
    }
    match read_message(app, elements, &message, sender) {
        Err((sender, cause)) => sender.send_event("error", "message", cause),
        Ok(sent) => {
            let origin = &sent.sender.origin;
            let is_own = app.dom.window.location().origin().as_ref() == Ok(origin) && origin != "null";
            if is_own || is_trusted(&trusted(app), origin) { open(app, sent) } else { ask(app, elements, sent) }
        }
    }
}

/// Returns the files and the view of a message. The error is sent back.
fn read_message(
    app: &App,
    elements: &Elements,
    message: &JsValue,
    mut sender: Sender,
) -> Result<SentFiles, (Sender, &'static str)> {
    let text = |of: &JsValue, key: &str| {
        let text = property(of, key).ok().and_then(|text| text.dyn_into::<JsString>().ok());
        text.filter(|text| text.length() <= MAX_TEXT).map_or_else(String::new, String::from)
    };
    let field = |key: &str| property(message, key).unwrap_or_default();
    let is_bytes =
        |value: &JsValue| value.has_type::<ArrayBuffer>() || value.has_type::<Uint8Array>() || value.has_type::<Blob>();
    let title = short_name(&text(message, "title"));
    let all = if field("buffer").is_undefined() { field("buffers") } else { Array::of1(message).into() };
    let Ok(all) = all.dyn_into::<Array>() else {
        return Err((sender, "The message has neither a buffer nor an array of buffers."));
    };
    let count = all.length();
    if count == 0 || count as usize > MAX_FILES {
        return Err((sender, "The message has no buffer, or too many."));
    }
    let mut files = Vec::new();
    for (entry, number) in all.iter().zip(1..) {
        let bytes = if is_bytes(&entry) { entry.clone() } else { property(&entry, "buffer").unwrap_or_default() };
        if !is_bytes(&bytes) {
            return Err((sender, "A buffer must be an ArrayBuffer, a Uint8Array or a Blob."));
        }
        let mut name = short_name(&text(&entry, "fileName"));
        if name.is_empty() {
            name = if count == 1 { title.clone() } else { format!("{title} {number}") };
        }
        match File::new_with_blob_sequence(&Array::of1(&bytes), &name) {
            Ok(file) if file.size() > 0.0 => files.push((name, file)),
            _ => return Err((sender, "A buffer is empty. Was it transferred before?")),
        }
    }
    let link = text(message, "url");
    if !link.is_empty() {
        if address::resolve(&app.dom, &link).is_err() {
            return Err((sender, "The url must start with https:// or http://."));
        }
        sender.link = link;
    }
    let mut view = Link::parse(&text(message, "view")).without_file();
    if !view.has_view() {
        view.show_tab_of(&query(elements));
    }
    Ok(SentFiles { title, files, sender, view })
}

fn ask(app: &'static App, elements: &Elements, sent: SentFiles) {
    let mut waiting = app.files.waiting.borrow_mut();
    if waiting.is_some() {
        return sent.sender.send_event("error", "message", "The user is being asked about another message.");
    }
    let bytes: f64 = sent.files.iter().map(|(_, file)| file.size()).sum();
    let origin = &sent.sender.origin;
    set_text(&elements.sender_text, &question(origin, &sent.title, sent.files.len(), bytes as u64));
    elements.sender_trust.set_hidden(!can_be_trusted(origin));
    *waiting = Some(sent);
    set_open(&elements.sender, true);
}

/// Handles the answer: `open`, `trust`, or anything else to reject the files.
fn answer_question(app: &'static App, elements: &Elements, answer: &str) {
    close(&elements.sender);
    let Some(sent) = app.files.waiting.take() else { return };
    match answer {
        "open" => {}
        "trust" => store(&app.dom, TRUSTED_KEY, &add_trusted(&trusted(app), &sent.sender.origin)),
        _ => return sent.sender.send_event("error", "message", "The user did not allow this page to open a snapshot."),
    }
    open(app, sent);
}

fn open(app: &'static App, sent: SentFiles) {
    app.recent.clear_pending();
    open_sent_files(app, sent.files, Some(Rc::new(sent.sender)));
    // Applied once the file is open.
    if sent.view.has_view() {
        app.dispatch(Action::LinkGiven(Box::new(sent.view)));
    }
}
