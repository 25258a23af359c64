//! Saves the page as a single HTML file that contains the open snapshot.

use crate::features::feature::{Feature, close_nothing, reset_nothing, take_nothing};
use crate::plot::figure::words::file_stem;
use crate::state::comparing::SecondFile;
use crate::state::effect::{Effect, PageToSave, SnapshotToSave};
use crate::state::link::Link;
use crate::state::outbox::Outbox;
use crate::state::rules::{Rules, SetChoice};
use crate::state::saved_page::SavedPage;
use crate::state::shared::Shared;
use crate::state::stored_rules::stored_text;
use crate::text::tab::Tab;
use base::escape::Html;
use base::units::Bytes;
use protocol::LeaveOut;

/// Maximum size of a snapshot in a saved page, in bytes. Base64 takes four characters for three bytes, and strings in
/// Chromium are limited to 2^29 − 24 characters, so a page with a larger snapshot could not be opened.
pub const MAX_SNAPSHOT_BYTES: usize = 400_000_000;

/// State of saving a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SaveState {
    #[default]
    Idle,
    /// The page is being saved without these texts.
    Running(LeaveOut),
}

/// Encoding of the snapshot in a saved page. The smallest encoding is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotEncoding {
    /// The unchanged file, which is already compressed.
    Unchanged,
    Compressed,
    /// The parsed snapshot as gzip-compressed columns.
    Columns,
}

/// Progress and result of saving a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveProgress {
    /// Number of snapshot bytes encoded so far, and in total.
    Done(u64, u64),
    Saved {
        file: String,
        /// Size of the file in bytes.
        bytes: u64,
        /// Size of the embedded snapshot in bytes, before base64.
        snapshot: u64,
        packing: SnapshotEncoding,
    },
    /// Cause of a failure, without a full stop.
    Failed(String),
}

/// Keys of a view that contain no text of the snapshot and none that the user typed.
const PUBLIC_KEYS: [&str; 18] = [
    "axis", "x", "y", "at", "range", "about", "device", "lanes", "show", "pool", "stream", "stack", "colour", "fit",
    "capacity", "tab", "views", "topic",
];

/// Saves a page with the open snapshot and the one it is compared with. `view` is the link that restores the view,
/// without the file.
pub(crate) fn save(html: &mut SaveState, shared: &Shared, mut view: Link, leave_out: LeaveOut, out: &mut Outbox) {
    let Some(choice) = shared.snapshots.get(shared.snapshot_index).filter(|_| shared.file().is_some()) else { return };
    if *html != SaveState::Idle {
        out.say("Already saving a page.");
        return;
    }
    if leave_out.is_any() {
        view.keep(&PUBLIC_KEYS);
    }
    let file = file_stem(&choice.file) + ".html";
    let (origin, name) = (choice.origin.clone(), choice.file.clone());
    let mut snapshots = vec![SnapshotToSave { origin, load: shared.load, name }];
    if let SecondFile::Open(second, origin, load) = &shared.comparing.second {
        // The page finds the second snapshot by its name.
        let prefix = if second.file == choice.file { "B " } else { "" };
        let name = [prefix, &second.file].concat();
        view.compare_with(&name);
        snapshots.push(SnapshotToSave { origin: origin.clone(), load: *load, name });
    }
    // SQL adds 0.6 MB, so it is included only if it is used.
    let has_sql = shared.views.tab == Tab::Sql;
    let opens_with = SavedPage { view: view.fragment(), rules: rules_to_embed(&shared.rules, leave_out) };
    let wanted = PageToSave { snapshots, opens_with, file, has_sql, leave_out };
    out.say(format!("Saving {}…", wanted.file));
    *html = SaveState::Running(leave_out);
    out.push(Effect::SaveHtml(Box::new(wanted)));
}

/// Returns the rules in use as stored text. Returns an empty text for the default rules, and for the user's own if
/// texts are left out.
fn rules_to_embed(rules: &Rules, leave_out: LeaveOut) -> String {
    match rules.choice {
        SetChoice::Own if !leave_out.is_any() => stored_text(rules.choice.name(), &rules.set().to_json(), ""),
        SetChoice::Mosaic => stored_text(rules.choice.name(), "", ""),
        _ => String::new(),
    }
}

pub(crate) const FEATURE: Feature<SaveState, SaveProgress> = Feature {
    reset: reset_nothing,
    questions: &[],
    on_reply: take_nothing,
    on_action,
    link_keys: &[],
    on_escape: close_nothing,
};

/// Shows the progress or the result of saving as a notice.
fn on_action(html: &mut SaveState, _: &Shared, progress: SaveProgress, out: &mut Outbox) {
    let left_out = if let SaveState::Running(left_out) = *html { left_out.note() } else { String::new() };
    if !matches!(progress, SaveProgress::Done(..)) {
        *html = SaveState::Idle;
    }
    out.say(match progress {
        SaveProgress::Done(done, total) => format!("Saving: {} of {} of the snapshot.", Bytes(done), Bytes(total)),
        SaveProgress::Saved { file, bytes, snapshot, packing } => {
            let how = match packing {
                SnapshotEncoding::Unchanged => "unchanged",
                SnapshotEncoding::Compressed => "compressed",
                SnapshotEncoding::Columns => "as compact columns",
            };
            format!("Saved {file}: {}, including the snapshot ({}, {how}).{left_out}", Bytes(bytes), Bytes(snapshot))
        }
        SaveProgress::Failed(cause) => format!("The page could not be saved: {cause}."),
    });
}

/// Returns the compression format of a file that starts with the bytes `head`. A saved page can decompress gzip and
/// zstd, but not zip.
pub fn compression(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 3] =
        [(&[0x1f, 0x8b], "gzip"), (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"), (b"PK\x03\x04", "zip")];
    known.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| name)
}

/// Ids of the page elements that hold the open snapshot and the snapshot that it is compared with.
pub const ELEMENTS: [&str; 2] = ["part-snapshot", "part-second"];

/// Returns the start tag of the element that holds a snapshot. Escapes the other arguments, which are untrusted. Moves
/// the initial state out of `opens_with`, so that only the first element of a page has it.
pub fn start_tag(id: &str, name: &str, opens_with: &mut SavedPage) -> String {
    let (name, attributes) = (Html(name), opens_with.take_attributes());
    format!("<script type=\"application/octet-stream\" id=\"{id}\" data-name=\"{name}\"{attributes}>")
}

/// Returns the byte offset in the page at which snapshots are inserted.
///
/// # Errors
///
/// Returns an error message if the page already contains a snapshot or is not the single-file page.
pub fn insert_offset(page: &str) -> Result<usize, &'static str> {
    match page.rfind("</body>") {
        Some(_) if page.contains("id=\"part-snapshot\"") => Err("already contains a snapshot"),
        Some(at) if page.contains("id=\"part-wasm\"") => Ok(at),
        _ => Err("is not the single-file page"),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/html.rs"]
mod tests;
