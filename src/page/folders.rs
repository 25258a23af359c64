//! Reading of dropped folders: all files in them, with their paths.

use base::natural::compare_names;
use base::units::{group_digits, pluralize};
use js_sys::{Array, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

/// Maximum number of files and folders that are read, in case that the user drops a very large folder.
const MAX_ENTRIES: usize = 10_000;

/// Returns the dropped entries if there is a folder among them. Must be called while the drop event is being handled.
pub(super) fn dropped_entries(transfer: &DataTransfer) -> Option<Vec<FileSystemEntry>> {
    let items = transfer.items();
    let entry = |at| items.get(at)?.webkit_get_as_entry().ok().flatten();
    let entries: Vec<FileSystemEntry> = (0..items.length()).filter_map(entry).collect();
    entries.iter().any(FileSystemEntry::is_directory).then_some(entries)
}

/// Files found in dropped folders, each with its path.
pub(super) struct FolderFiles {
    pub(super) files: Vec<(String, File)>,
    /// Sentence about files that were not read.
    pub(super) left_out: Option<String>,
}

/// Reads all files in these folders and their subfolders. The files of a folder come before those of its subfolders,
/// and names are sorted in natural order.
pub(super) async fn read_files(mut entries: Vec<FileSystemEntry>) -> FolderFiles {
    let (mut found, mut unreadable) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(entry) = entries.get(at).filter(|_| at < MAX_ENTRIES).cloned() {
        at += 1;
        // Chromium has no global classes with these names, so `instanceof` cannot be used.
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
    sort(&mut found);
    let cut = (at < entries.len())
        .then(|| format!("Only the first {} files and folders were read.", group_digits(MAX_ENTRIES as u64)));
    let unreadable = (unreadable > 0).then(|| format!("{} could not be read.", pluralize(unreadable, "file")));
    let left_out: Vec<String> = cut.into_iter().chain(unreadable).collect();
    FolderFiles { files: found, left_out: Some(left_out.join(" ")).filter(|it| !it.is_empty()) }
}

/// Sorts files by name in natural order. Files of an outer folder come before those in its subfolders.
pub(super) fn sort(files: &mut [(String, File)]) {
    let depth = |path: &str| path.matches('/').count();
    files.sort_by(|(one, _), (other, _)| depth(one).cmp(&depth(other)).then_with(|| compare_names(one, other)));
}

async fn children(folder: &FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut all = Vec::new();
    while all.len() < MAX_ENTRIES {
        // Returns some entries per call, and an empty list at the end.
        let some = promise(|done, failed| {
            // A reader that fails calls `failed`.
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

/// Turns a function that takes two callbacks (success, failure) into a promise.
fn promise(mut ask: impl FnMut(&js_sys::Function, &js_sys::Function)) -> Promise {
    Promise::new(&mut |done: js_sys::Function, failed: js_sys::Function| ask(&done, &failed))
}
