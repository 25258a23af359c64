//! Ways a snapshot gets here: dropped, picked, pasted, or named by the link.

use super::App;
use super::address::Fetched;
use super::dom::{Elements, listen};
use super::folders;
use crate::wire::ToWorker;
use gloo::events::EventListener;
use js_sys::Promise;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::Action;
use ui::effect::{DropHover, GivenFile};
use ui::url::Came;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{ClipboardEvent, DataTransfer, DragEvent, Event, File, FileList};

/// The files given last, and those before: handles, not bytes.
#[derive(Default)]
pub(super) struct Files {
    given: RefCell<Vec<File>>,
    before: RefCell<Vec<File>>,
    /// Elements that what is dragged has entered and not left.
    entered: Cell<u32>,
}

impl Files {
    /// The file of this place.
    pub(super) fn at(&self, place: usize) -> Option<File> {
        self.given.borrow().get(place).cloned()
    }

    /// The file of this place; it was no snapshot, so those before are the ones to be opened from.
    pub(super) fn take_aside(&self, place: usize) -> Option<File> {
        self.given.replace(self.before.take()).into_iter().nth(place)
    }
}

/// How the page itself came here.
pub(super) fn came(elements: &Elements) -> Came {
    Came::by(&elements.window.location().protocol().unwrap_or_default())
}

/// Has the worker fetch a link: one to another server once its name was seen. A page in the background waits until somebody looks.
pub(super) fn fetch(app: &Rc<App>, link: Fetched, member: Option<u32>, load: u32) {
    let app = app.clone();
    spawn_local(async move {
        let window = &app.elements.window;
        if window.location().origin().ok() != Some(link.origin) {
            // The first frame shows the name, the next one comes when that was painted.
            for _ in 0..2 {
                let shown = Promise::new(&mut |resolve, _| drop(window.request_animation_frame(&resolve)));
                // It is never rejected.
                let _ = JsFuture::from(shown).await;
            }
        }
        let current = app.state.borrow().load;
        if current == load {
            app.client.send(ToWorker::Link { load, member, url: link.url });
        }
    });
}

/// Everything that brings a file.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let with = |then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        move |event: &Event| then(&app, event)
    };
    vec![
        listen(&elements.window, "dragenter", with(drag_enter)),
        listen(&elements.window, "dragover", with(drag_over)),
        listen(&elements.window, "dragleave", with(drag_leave)),
        listen(&elements.window, "drop", with(drop_here)),
        listen(&elements.window, "paste", with(paste)),
        listen(&elements.file, "change", with(picked)),
    ]
}

/// What WebKitGTK calls dropped files, without passing on any; links are called so too.
const ADDRESSES: &str = "text/uri-list";

/// What is dragged or dropped, if it is of this type.
fn transfer_of(event: &Event, kind: &str) -> Option<DataTransfer> {
    let transfer = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
    transfer.filter(|transfer| transfer.types().includes(&kind.into(), 0))
}

fn drag_enter(app: &Rc<App>, _: &Event) {
    app.files.entered.set(app.files.entered.get() + 1);
}

fn drag_over(app: &Rc<App>, event: &Event) {
    if let Some(transfer) = transfer_of(event, "Files") {
        event.prevent_default();
        transfer.set_drop_effect("copy");
        hover(app, DropHover::Over);
    } else if transfer_of(event, ADDRESSES).is_some() {
        // Else its drop would not be heard of.
        event.prevent_default();
    }
}

fn drag_leave(app: &Rc<App>, _: &Event) {
    // WebKit does not say where to: it is counted instead, since the next element is entered before the last is left.
    let entered = app.files.entered.get().saturating_sub(1);
    app.files.entered.set(entered);
    if entered == 0 {
        hover(app, DropHover::Away);
    }
}

fn hover(app: &Rc<App>, hover: DropHover) {
    let before = app.state.borrow().drop_hover;
    if before != hover {
        app.dispatch(Action::DropHover(hover));
    }
}

fn drop_here(app: &Rc<App>, event: &Event) {
    app.files.entered.set(0);
    hover(app, DropHover::Away);
    if let Some(transfer) = transfer_of(event, "Files") {
        event.prevent_default();
        match folders::dropped(&transfer) {
            None => give(app, transfer.files()),
            Some(entries) => {
                let app = app.clone();
                spawn_local(async move { give_named(&app, folders::files(entries).await) });
            }
        }
    } else if transfer_of(event, ADDRESSES).is_some() {
        event.prevent_default();
        app.dispatch(Action::DroppedNoFile);
    }
}

fn paste(app: &Rc<App>, event: &Event) {
    let transfer = event.dyn_ref::<ClipboardEvent>().and_then(ClipboardEvent::clipboard_data);
    if let Some(files) = transfer.and_then(|transfer| transfer.files()).filter(|files| files.length() > 0) {
        event.prevent_default();
        give(app, Some(files));
    }
}

fn picked(app: &Rc<App>, _: &Event) {
    give(app, app.elements.file.files());
    // Or picking the same file again would be no change.
    app.elements.file.set_value("");
}

fn give(app: &Rc<App>, files: Option<FileList>) {
    let files = files.iter().flat_map(|files| (0..files.length()).filter_map(|at| files.get(at)));
    let files: Vec<_> = files.map(|file| (file.name(), file)).collect();
    if !files.is_empty() {
        give_named(app, files);
    }
}

fn give_named(app: &Rc<App>, files: Vec<(String, File)>) {
    let given = files.iter().map(|(name, file)| GivenFile { name: name.clone(), bytes: file.size() as u64 }).collect();
    let before = app.files.given.replace(files.into_iter().map(|(_, file)| file).collect());
    app.files.before.replace(before);
    app.dispatch(Action::FilesGiven(given));
}
