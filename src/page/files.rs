//! Files from drag and drop, file pickers, paste, and links.

use super::address::Fetched;
use super::app::{App, On, Part};
use super::dom::Dom;
use super::elements::elements;
use super::folders;
use crate::wire::ToWorker;
use compare::Which;
use js_sys::{Array, Promise, Reflect};
use ui::Action;
use ui::comparing::ComparingAction;
use ui::effect::{DropHover, GivenFile};
use ui::export::ExportAction;
use ui::ranks::RanksAction;
use ui::url::Came;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ClipboardEvent, DataTransfer, DragEvent, Event, File, FileList};

elements! {
    HtmlInputElement: file, second, trace;
}

/// Part that listens for files. It has nothing to show.
#[derive(Default)]
pub(super) struct Given;

/// Returns how the page itself was opened.
pub(super) fn came(dom: &Dom) -> Came {
    Came::by(&dom.window.location().protocol().unwrap_or_default())
}

/// Takes files that were dropped before the program ran. A script from Trunk.toml collects them in `window.early`.
pub(super) fn take_early(app: &'static App) {
    let early = Reflect::get(&app.dom.window, &"early".into()).ok().and_then(|early| early.dyn_into::<Array>().ok());
    // Later drops are handled here. Cannot fail for a window.
    let _ = Reflect::set(&app.dom.window, &"early".into(), &JsValue::NULL);
    let files: Vec<File> = early.iter().flat_map(Array::iter).filter_map(|file| file.dyn_into().ok()).collect();
    if !files.is_empty() {
        give_named(app, files.into_iter().map(|file| (file.name(), file)).collect());
    }
}

/// Lets the worker fetch a link. For another server it waits until the page has shown the link, so a page in the
/// background waits until it is visible.
pub(super) fn fetch(app: &'static App, link: Fetched, member: Option<u32>, (load, which): (u32, Which)) {
    app.busy.spawn(async move {
        let window = &app.dom.window;
        if window.location().origin().ok() != Some(link.origin) {
            // The first frame shows the name, and the second one starts after it was painted.
            for _ in 0..2 {
                let shown = Promise::new(&mut |resolve, _| drop(window.request_animation_frame(&resolve)));
                // Never rejected.
                let _ = JsFuture::from(shown).await;
            }
        }
        let is_current = app.state.borrow().waits_for(load);
        if is_current {
            app.client.send(ToWorker::Link { load, member, url: link.url, which });
        }
    });
}

impl Part for Given {
    type Elements = Elements;

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.window, "dragenter", |app, _, _| app.files.entered.set(app.files.entered.get() + 1));
        on(&elements.window, "dragover", |app, _, event| drag_over(app, event));
        on(&elements.window, "dragleave", |app, _, _| drag_leave(app));
        on(&elements.window, "drop", |app, _, event| drop_here(app, event));
        on(&elements.window, "paste", |app, _, event| paste(app, event));
        on(&elements.file, "change", |app, elements, _| {
            app.recent.forget();
            give(app, elements.file.files());
            // Otherwise, picking the same file again would not fire a change event.
            elements.file.set_value("");
        });
        on(&elements.trace, "change", |app, elements, _| {
            if let Some((name, file)) = named(elements.trace.files()).pop() {
                take_trace(app, name, file);
            }
            elements.trace.set_value("");
        });
        on(&elements.second, "change", |app, elements, _| {
            let files = named(elements.second.files());
            if !files.is_empty() {
                let given =
                    files.iter().map(|(name, file)| GivenFile { name: name.clone(), bytes: file.size() as u64 });
                let given = given.collect();
                let from = app.files.add(files.into_iter().map(|(_, file)| file));
                app.dispatch(Action::Comparing(ComparingAction::FilesGiven(from, given)));
            }
            elements.second.set_value("");
        });
    }
}

/// Type that WebKitGTK gives dropped files, which it then does not pass on. Dropped links have it too.
const ADDRESSES: &str = "text/uri-list";

/// Returns the data of a drag or drop event, if it contains this type.
fn transfer_of(event: &Event, kind: &str) -> Option<DataTransfer> {
    let transfer = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
    transfer.filter(|transfer| transfer.types().includes(&kind.into(), 0))
}

fn drag_over(app: &'static App, event: &Event) {
    if let Some(transfer) = transfer_of(event, "Files") {
        event.prevent_default();
        transfer.set_drop_effect("copy");
        hover(app, DropHover::Over);
    } else if transfer_of(event, ADDRESSES).is_some() {
        // Otherwise the drop event would not fire.
        event.prevent_default();
    }
}

fn drag_leave(app: &'static App) {
    // WebKit does not report which element is entered, so events are counted. The next element is entered before the
    // last is left.
    let entered = app.files.entered.get().saturating_sub(1);
    app.files.entered.set(entered);
    if entered == 0 {
        hover(app, DropHover::Away);
    }
}

fn hover(app: &'static App, hover: DropHover) {
    let before = app.state.borrow().drop_hover;
    if before != hover {
        app.dispatch(Action::DropHover(hover));
    }
}

fn drop_here(app: &'static App, event: &Event) {
    app.files.entered.set(0);
    hover(app, DropHover::Away);
    if let Some(transfer) = transfer_of(event, "Files") {
        event.prevent_default();
        app.recent.dropped(&transfer);
        match folders::dropped(&transfer) {
            None => give(app, transfer.files()),
            Some(entries) => {
                app.busy.spawn(async move {
                    let found = folders::files(entries).await;
                    give_named(app, found.files);
                    let cut = found.left_out.map(|sentence| Action::Ranks(RanksAction::Cut(sentence)));
                    cut.into_iter().for_each(|cut| app.dispatch(cut));
                });
            }
        }
    } else if transfer_of(event, ADDRESSES).is_some() {
        event.prevent_default();
        app.dispatch(Action::DroppedNoFile);
    }
}

fn paste(app: &'static App, event: &Event) {
    let transfer = event.dyn_ref::<ClipboardEvent>().and_then(ClipboardEvent::clipboard_data);
    if let Some(files) = transfer.and_then(|transfer| transfer.files()).filter(|files| files.length() > 0) {
        event.prevent_default();
        app.recent.forget();
        give(app, Some(files));
    }
}

fn give(app: &'static App, files: Option<FileList>) {
    let files = named(files);
    if !files.is_empty() {
        give_named(app, files);
    }
}

fn named(files: Option<FileList>) -> Vec<(String, File)> {
    let files = files.iter().flat_map(|files| (0..files.length()).filter_map(|at| files.get(at)));
    files.map(|file| (file.name(), file)).collect()
}

/// Endings of the names of torch.profiler traces.
const TRACES: [&str; 2] = ["trace.json", "trace.json.gz"];

/// Takes a torch.profiler trace, into which the export writes the memory timeline.
fn take_trace(app: &'static App, name: String, file: File) {
    app.files.trace.replace(Some(file));
    app.dispatch(Action::of(ExportAction::TraceGiven(name)));
}

/// Opens named files. A torch.profiler trace among them is set aside for the export if a file is open or exactly one
/// other file was given.
pub(super) fn give_named(app: &'static App, mut files: Vec<(String, File)>) {
    let is_open = app.state.borrow().file().is_some();
    let trace = files.iter().position(|(name, _)| TRACES.iter().any(|ending| name.ends_with(ending)));
    // A trace alone is opened like any other file, which reports an error.
    if let Some(place) = trace.filter(|_| is_open || files.len() == 2) {
        let (name, file) = files.swap_remove(place);
        take_trace(app, name, file);
        if files.is_empty() {
            return;
        }
    }
    let given = files.iter().map(|(name, file)| GivenFile { name: name.clone(), bytes: file.size() as u64 }).collect();
    app.files.give(files.into_iter().map(|(_, file)| file).collect());
    app.dispatch(Action::FilesGiven(given));
}
