//! The files in dropped folders, with their paths.

use js_sys::{Array, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

/// Files and folders that are looked at: somebody may drop their home.
const MOST_ENTRIES: usize = 10_000;

/// What was dropped, if a folder is among it. It must be asked for while the drop is being heard: later it is gone.
pub(super) fn dropped(transfer: &DataTransfer) -> Option<Vec<FileSystemEntry>> {
    let items = transfer.items();
    let entry = |at| items.get(at)?.webkit_get_as_entry().ok().flatten();
    let entries: Vec<FileSystemEntry> = (0..items.length()).filter_map(entry).collect();
    entries.iter().any(FileSystemEntry::is_directory).then_some(entries)
}

/// All files in these folders and in those within, breadth first, in the order of the folders; each with its path. What can't be
/// read is left out.
pub(super) async fn files(mut entries: Vec<FileSystemEntry>) -> Vec<(String, File)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(entry) = entries.get(at).filter(|_| at < MOST_ENTRIES).cloned() {
        at += 1;
        // By what they say they are: Chromium has no global classes of these names to test for.
        if entry.is_directory() {
            entries.extend(children(entry.unchecked_ref()).await);
            continue;
        }
        let file: &FileSystemFileEntry = entry.unchecked_ref();
        let read = promise(|done, failed| file.file_with_callback_and_callback(done, failed));
        if let Ok(read) = JsFuture::from(read).await {
            found.push((file.full_path().trim_start_matches('/').to_owned(), read.unchecked_into()));
        }
    }
    found
}

async fn children(folder: &FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut all = Vec::new();
    while all.len() < MOST_ENTRIES {
        // It gives some at a time, and none at the end.
        let some = promise(|done, failed| {
            // A reader that can't read calls `failed`.
            let _ = reader.read_entries_with_callback_and_callback(done, failed);
        });
        let Ok(some) = JsFuture::from(some).await else { break };
        let some: Array = some.unchecked_into();
        if some.length() == 0 {
            break;
        }
        all.extend(some.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
    }
    all
}

/// A promise for what a function gives to the first of two callbacks.
fn promise(mut ask: impl FnMut(&js_sys::Function, &js_sys::Function)) -> Promise {
    Promise::new(&mut |done: js_sys::Function, failed: js_sys::Function| ask(&done, &failed))
}
