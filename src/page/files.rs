//! Files from drag and drop, file pickers, paste, and links.

use super::address::ResolvedUrl;
use super::app::{App, Listeners, Part};
use super::dom::Dom;
use super::elements::elements;
use super::folders;
use super::sender::Sender;
use crate::wire::ToWorker;
use compare::FileSlot;
use js_sys::{Array, Promise, Reflect};
use std::rc::Rc;
use ui::features::export::ExportAction;
use ui::shell::action::Action;
use ui::state::comparing::ComparingAction;
use ui::state::effect::{DropHover, GivenFile};
use ui::state::ranks::RanksAction;
use ui::text::url::PageScheme;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ClipboardEvent, DataTransfer, DragEvent, Event, File, FileList};

elements! {
    HtmlInputElement: file, second, trace;
}

/// Part of the page that listens for files given by the user. It renders nothing.
#[derive(Default)]
pub(super) struct FileInput;

/// Returns the kind of URL that the page itself was opened from.
pub(super) fn page_scheme(dom: &Dom) -> PageScheme {
    PageScheme::from_protocol(&dom.window.location().protocol().unwrap_or_default())
}

/// Takes over files that were dropped before the page had started. A script in Trunk.toml collects them in
/// `window.early`.
pub(super) fn take_early_drops(app: &'static App) {
    let early = Reflect::get(&app.dom.window, &"early".into()).ok().and_then(|early| early.dyn_into::<Array>().ok());
    // Later drops are handled here. Cannot fail for a window.
    let _ = Reflect::set(&app.dom.window, &"early".into(), &JsValue::NULL);
    let files: Vec<File> = early.iter().flat_map(Array::iter).filter_map(|file| file.dyn_into().ok()).collect();
    if !files.is_empty() {
        open_files(app, files.into_iter().map(|file| (file.name(), file)).collect());
    }
}

/// Makes the worker fetch a link. A link to another server is fetched only after the page has shown it, so a page in
/// the background waits until it is visible.
pub(super) fn fetch(app: &'static App, link: ResolvedUrl, member: Option<u32>, (load, which): (u32, FileSlot)) {
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
        let is_current = ui::plot::comparing::is_current_load(&app.state.borrow(), load);
        if is_current {
            app.client.send(&ToWorker::Link { load, member, url: link.url, which });
        }
    });
}

impl Part for FileInput {
    type Elements = Elements;

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.window, "dragenter", |app, _, event| drag_enter(app, event));
        on.event(&elements.window, "dragover", |app, _, event| drag_over(app, event));
        on.event(&elements.window, "dragleave", |app, _, _| drag_leave(app));
        on.event(&elements.window, "drop", |app, _, event| on_drop(app, event));
        on.event(&elements.window, "paste", |app, _, event| paste(app, event));
        on.event(&elements.file, "change", |app, elements, _| {
            app.recent.clear_pending();
            open_list(app, elements.file.files());
            // Otherwise, picking the same file again would not fire a change event.
            elements.file.set_value("");
        });
        on.event(&elements.trace, "change", |app, elements, _| {
            if let Some((name, file)) = with_names(elements.trace.files()).pop() {
                set_trace(app, name, file);
            }
            elements.trace.set_value("");
        });
        on.event(&elements.second, "change", |app, elements, _| {
            let files = with_names(elements.second.files());
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

/// Data type of dropped links. WebKitGTK also uses it for dropped files, but without their content.
const URI_LIST: &str = "text/uri-list";

/// Returns the data of a drag or drop event, if it contains data of this type.
fn data_of_type(event: &Event, kind: &str) -> Option<DataTransfer> {
    let transfer = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
    transfer.filter(|transfer| transfer.types().includes(&kind.into(), 0))
}

fn drag_enter(app: &'static App, event: &Event) {
    app.files.drag_depth.set(app.files.drag_depth.get() + 1);
    // Otherwise Chromium rejects a drop on an element that has replaced the one under the pointer since the last
    // "dragover".
    if data_of_type(event, "Files").or(data_of_type(event, URI_LIST)).is_some() {
        event.prevent_default();
    }
}

fn drag_over(app: &'static App, event: &Event) {
    if let Some(transfer) = data_of_type(event, "Files") {
        event.prevent_default();
        transfer.set_drop_effect("copy");
        hover(app, DropHover::Over);
    } else if data_of_type(event, URI_LIST).is_some() {
        // Otherwise the drop event would not fire.
        event.prevent_default();
    }
}

fn drag_leave(app: &'static App) {
    // WebKit does not report which element is entered, so events are counted. The next element is entered before the
    // last is left.
    let entered = app.files.drag_depth.get().saturating_sub(1);
    app.files.drag_depth.set(entered);
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

fn on_drop(app: &'static App, event: &Event) {
    app.files.drag_depth.set(0);
    hover(app, DropHover::Away);
    if let Some(transfer) = data_of_type(event, "Files") {
        event.prevent_default();
        app.recent.on_drop(&transfer);
        match folders::dropped_entries(&transfer) {
            None => open_list(app, transfer.files()),
            Some(entries) => {
                app.busy.spawn(async move {
                    let found = folders::read_files(entries).await;
                    open_files(app, found.files);
                    let cut = found.left_out.map(|sentence| Action::Ranks(RanksAction::FilesSkipped(sentence)));
                    cut.into_iter().for_each(|cut| app.dispatch(cut));
                });
            }
        }
    } else if data_of_type(event, URI_LIST).is_some() {
        event.prevent_default();
        app.dispatch(Action::DroppedNoFile);
    }
}

fn paste(app: &'static App, event: &Event) {
    let transfer = event.dyn_ref::<ClipboardEvent>().and_then(ClipboardEvent::clipboard_data);
    if let Some(files) = transfer.and_then(|transfer| transfer.files()).filter(|files| files.length() > 0) {
        event.prevent_default();
        app.recent.clear_pending();
        open_list(app, Some(files));
    }
}

fn open_list(app: &'static App, files: Option<FileList>) {
    let mut files = with_names(files);
    // Two files are compared in the given order.
    if files.len() > 2 {
        folders::sort(&mut files);
    }
    if !files.is_empty() {
        open_files(app, files);
    }
}

fn with_names(files: Option<FileList>) -> Vec<(String, File)> {
    let files = files.iter().flat_map(|files| (0..files.length()).filter_map(|at| files.get(at)));
    files.map(|file| (file.name(), file)).collect()
}

/// File name suffixes of torch.profiler traces.
const TRACE_SUFFIXES: [&str; 2] = ["trace.json", "trace.json.gz"];

/// Stores a torch.profiler trace. An export can merge the memory timeline into it.
fn set_trace(app: &'static App, name: String, file: File) {
    app.files.trace.replace(Some(file));
    app.dispatch(Action::feature(ExportAction::TraceChosen(name)));
}

/// Opens files. A torch.profiler trace among them is stored for exports instead, if a file is open already or if
/// exactly one other file was given.
pub(super) fn open_files(app: &'static App, files: Vec<(String, File)>) {
    open_sent_files(app, files, None);
}

/// Opens files like [`open_files`]. `sender` is the page that sent them.
pub(super) fn open_sent_files(app: &'static App, mut files: Vec<(String, File)>, sender: Option<Rc<Sender>>) {
    let is_open = app.state.borrow().file().is_some();
    let trace = files.iter().position(|(name, _)| TRACE_SUFFIXES.iter().any(|ending| name.ends_with(ending)));
    // A trace alone is opened like any other file, which reports an error.
    if let Some(place) = trace.filter(|_| is_open || files.len() == 2) {
        let (name, file) = files.swap_remove(place);
        set_trace(app, name, file);
        if files.is_empty() {
            return;
        }
    }
    let given = files.iter().map(|(name, file)| GivenFile { name: name.clone(), bytes: file.size() as u64 }).collect();
    app.files.replace(files.into_iter().map(|(_, file)| file).collect(), sender);
    app.dispatch(Action::FilesGiven(given));
}
