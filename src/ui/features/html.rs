//! The page in one file with the open snapshot in it: what it is called, what it opens at, and what is said while it is made.

use crate::comparing::Second;
use crate::effect::{Effect, PageToSave, SnapshotToSave};
use crate::feature::{Feature, commands_nothing, ends_nothing, keeps_all, takes_nothing};
use crate::figure::words::plain;
use crate::link::Link;
use crate::shared::Shared;
use crate::tab::Tab;
use base::units::Bytes;
use std::convert::Infallible;

/// The most bytes a snapshot may have in a page, as they go in. Four letters of base64 stand for three bytes, and a text has at most
/// 2^29 − 24 letters in Chromium's V8: beyond that, the page could be written but not read.
pub const MOST: usize = 400_000_000;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Saving {
    /// No page is being made.
    #[default]
    Idle,
    Underway,
}

/// How the snapshot goes in: whichever is smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// The file, packed already: byte for byte.
    AsItIs,
    Compressed,
    /// What was read of it, as columns, through gzip.
    Columns,
}

/// What the shell says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes of the snapshot are done, of so many.
    Done(u64, u64),
    Saved {
        file: String,
        /// The file's bytes.
        bytes: u64,
        /// Bytes of the snapshot in it, before base64.
        snapshot: u64,
        packing: Packing,
    },
    /// It could not be made: why, without a full stop.
    Failed(String),
}

/// The open snapshot shall be saved in a page with the one that it is compared with. The page opens at `view`: the link to what is seen,
/// without what it opens.
pub(crate) fn save(html: &mut Saving, shared: &mut Shared, mut view: Link, effects: &mut Vec<Effect>) {
    let Some(choice) = shared.snapshots.get(shared.chosen).filter(|_| shared.file().is_some()) else { return };
    if *html == Saving::Underway {
        shared.remark = Some("Already saving a page.".to_owned());
        return;
    }
    let file = plain(&choice.file) + ".html";
    let (origin, name) = (choice.origin.clone(), choice.file.clone());
    let mut snapshots = vec![SnapshotToSave { origin, load: shared.load, name }];
    if let Second::Open(second, origin, load) = &shared.comparing.second {
        // By its name the page finds it.
        let same = if second.file == choice.file { "B " } else { "" };
        let name = [same, &second.file].concat();
        view.compare_with(&name);
        snapshots.push(SnapshotToSave { origin: origin.clone(), load: *load, name });
    }
    // It is 0.6 MB, for who uses it.
    let has_sql = shared.views.tab == Tab::Sql;
    let wanted = PageToSave { snapshots, view: view.fragment(), file, has_sql };
    shared.remark = Some(format!("Saving {}…", wanted.file));
    *html = Saving::Underway;
    effects.push(Effect::SaveHtml(Box::new(wanted)));
}

/// How it takes part.
pub(crate) const FEATURE: Feature<Saving, Step, Infallible> = Feature {
    reset: keeps_all,
    asks: &[],
    take: takes_nothing,
    act,
    command: commands_nothing,
    keys: &[],
    links: &[],
    escape: ends_nothing,
};

/// Takes what the shell says.
fn act(html: &mut Saving, shared: &mut Shared, step: Step, _: &mut Vec<Effect>) {
    if !matches!(step, Step::Done(..)) {
        *html = Saving::Idle;
    }
    shared.remark = Some(match step {
        Step::Done(done, total) => format!("Saving: {} of {} of the snapshot.", Bytes(done), Bytes(total)),
        Step::Saved { file, bytes, snapshot, packing } => {
            let how = match packing {
                Packing::AsItIs => "unchanged",
                Packing::Compressed => "compressed",
                Packing::Columns => "as compact columns",
            };
            format!("Saved {file}: {}, including the snapshot ({}, {how}).", Bytes(bytes), Bytes(snapshot))
        }
        Step::Failed(cause) => format!("The page could not be saved: {cause}."),
    });
}

/// How a file that begins so is packed, if it is. A page can be read from gzip and zstd, not from `zip`.
pub fn packing(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 3] =
        [(&[0x1f, 0x8b], "gzip"), (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"), (b"PK\x03\x04", "zip")];
    known.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| name)
}

/// The ids of the elements that hold the snapshot and the one it is compared with.
pub const ELEMENTS: [&str; 2] = ["part-snapshot", "part-second"];

/// The element before a snapshot's base64, without it and its end. Names are hostile: nothing in one ends the attribute.
pub fn element(id: &str, name: &str, view: &str) -> String {
    let [name, view] = [name, view].map(escaped);
    format!("<script type=\"application/octet-stream\" id=\"{id}\" data-name=\"{name}\" data-view=\"{view}\">")
}

/// Text for an attribute between quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Where the snapshot goes in a page in one file: before its end. The error says what the page is instead.
pub fn place(page: &str) -> Result<usize, &'static str> {
    match page.rfind("</body>") {
        Some(_) if page.contains("id=\"part-snapshot\"") => Err("already contains a snapshot"),
        Some(at) if page.contains("id=\"part-wasm\"") => Ok(at),
        _ => Err("is not the single-file page"),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/html.rs"]
mod tests;
