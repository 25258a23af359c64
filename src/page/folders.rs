//! The files in dropped folders, with their paths.

use base::natural::compare_names;
use base::units::{counted, grouped};
use js_sys::{Array, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

/// Files and folders that are looked at: somebody may drop their home.
const MAX_ENTRIES: usize = 10_000;

/// What was dropped, if a folder is among it. It must be asked for while the drop is being heard: later it is gone.
pub(super) fn dropped(transfer: &DataTransfer) -> Option<Vec<FileSystemEntry>> {
    let items = transfer.items();
    let entry = |at| items.get(at)?.webkit_get_as_entry().ok().flatten();
    let entries: Vec<FileSystemEntry> = (0..items.length()).filter_map(entry).collect();
    entries.iter().any(FileSystemEntry::is_directory).then_some(entries)
}

/// Files in folders and in those within, each with its path.
pub(super) struct Found {
    pub(super) files: Vec<(String, File)>,
    /// What was left out: a sentence.
    pub(super) left_out: Option<String>,
}

/// All files in these folders and in those within, outer folders first; numbers in their paths are in the order of the numbers.
pub(super) async fn files(mut entries: Vec<FileSystemEntry>) -> Found {
    let (mut found, mut unreadable) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(entry) = entries.get(at).filter(|_| at < MAX_ENTRIES).cloned() {
        at += 1;
        // By what they say they are: Chromium has no global classes of these names to test for.
        if entry.is_directory() {
            entries.extend(children(entry.unchecked_ref()).await);
            continue;
        }
        let file: &FileSystemFileEntry = entry.unchecked_ref();
        let read = promise(|done, failed| file.file_with_callback_and_callback(done, failed));
        match JsFuture::from(read).await {
            Ok(read) => found.push((file.full_path().trim_start_matches('/').to_owned(), read.unchecked_into())),
            Err(_) => unreadable += 1,
        }
    }
    // Files of an outer folder come before those of the folders in it.
    let depth = |path: &str| path.matches('/').count();
    found.sort_by(|(one, _): &(String, File), (other, _)| {
        depth(one).cmp(&depth(other)).then_with(|| compare_names(one, other))
    });
    let cut = (at < entries.len())
        .then(|| format!("Only the first {} files and folders were read.", grouped(MAX_ENTRIES as u64)));
    let unreadable = (unreadable > 0).then(|| format!("{} could not be read.", counted(unreadable, "file")));
    let left_out: Vec<String> = cut.into_iter().chain(unreadable).collect();
    Found { files: found, left_out: Some(left_out.join(" ")).filter(|it| !it.is_empty()) }
}

async fn children(folder: &FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut all = Vec::new();
    while all.len() < MAX_ENTRIES {
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
