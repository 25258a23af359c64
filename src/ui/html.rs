//! The page in one file with the open snapshot in it: what it is called, what it opens at, and what is said while it is made.

use super::effect::{Effect, PageToSave};
use super::feature::{Feature, commands_nothing, ends_nothing, keeps_all, takes_nothing};
use super::figure::words::plain;
use super::shared::Shared;
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
    /// One is.
    Underway,
}

/// How the snapshot goes in: whichever is smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// The file, packed already: byte for byte.
    AsItIs,
    /// The file, through gzip.
    Compressed,
    /// What was read of it, as columns, through gzip.
    Columns,
}

/// What the shell says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes of the snapshot are done, of so many.
    Done(u64, u64),
    /// The browser has it.
    Saved {
        /// The file's name.
        file: String,
        /// The file's bytes.
        bytes: u64,
        /// Bytes of the snapshot in it, before base64.
        snapshot: u64,
        /// What they are.
        packing: Packing,
    },
    /// It could not be made: why, without a full stop.
    Failed(String),
}

/// The open snapshot shall be saved in a page, which opens at `view`: the link to what is seen, without what it opens.
pub(super) fn save(html: &mut Saving, shared: &mut Shared, view: String, effects: &mut Vec<Effect>) {
    let Some(choice) = shared.snapshots.get(shared.chosen).filter(|_| shared.file().is_some()) else { return };
    if *html == Saving::Underway {
        shared.remark = Some("A page is being saved already.".to_owned());
        return;
    }
    let file = plain(&choice.file) + ".html";
    let (origin, name) = (choice.origin.clone(), choice.file.clone());
    let wanted = PageToSave { origin, load: shared.load, name, view, file };
    shared.remark = Some(format!("Saving {}…", wanted.file));
    *html = Saving::Underway;
    effects.push(Effect::SaveHtml(Box::new(wanted)));
}

/// How it takes part.
pub(super) const FEATURE: Feature<Saving, Step, Infallible> = Feature {
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
                Packing::AsItIs => "as it was",
                Packing::Compressed => "compressed",
                Packing::Columns => "as compact columns",
            };
            format!("Saved {file}: {}, of them {} the snapshot, {how}.", Bytes(bytes), Bytes(snapshot))
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

/// The element before the snapshot's base64, without it and its end. Names are hostile: nothing in one ends the attribute.
pub fn element(name: &str, view: &str) -> String {
    let [name, view] = [name, view].map(escaped);
    format!("<script type=\"application/octet-stream\" id=\"part-snapshot\" data-name=\"{name}\" data-view=\"{view}\">")
}

/// Text for an attribute between quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Where the snapshot goes in a page in one file: before its end. The error says what the page is instead.
pub fn place(page: &str) -> Result<usize, &'static str> {
    match page.rfind("</body>") {
        Some(_) if page.contains("id=\"part-snapshot\"") => Err("has a snapshot in it already"),
        Some(at) if page.contains("id=\"part-wasm\"") => Ok(at),
        _ => Err("is not the page in one file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_ends_its_element() {
        let hostile = "x</script><script>alert(1)</script>\"><img src=x onerror='1'>&";
        let element = element(hostile, "v=1&at=\"");
        assert_eq!((element.matches('<').count(), element.matches('>').count()), (1, 1), "{element}");
        assert_eq!(element.matches('"').count(), 8, "{element}");
        assert!(element.ends_with(" data-view=\"v=1&amp;at=&quot;\">"), "{element}");
    }

    #[test]
    fn only_the_page_in_one_file_takes_a_snapshot() {
        let page = "<body><script id=\"part-wasm\"></script></body></html>";
        assert_eq!(place(page), Ok(page.len() - 14));
        assert!(place("<body>Not found</body>").unwrap_err().contains("not the page"));
        assert!(place(&page.replace("</body>", "<script id=\"part-snapshot\"></script></body>")).is_err());
    }

    #[test]
    fn one_is_saved_at_a_time_and_each_end_is_said() {
        let (mut html, mut shared, mut effects) = (Saving::Underway, Shared::default(), Vec::new());
        let packing = Packing::Compressed;
        let saved = Step::Saved { file: "a.html".into(), bytes: 3 << 20, snapshot: 1 << 20, packing };
        for (step, saving, said) in [
            (Step::Done(1 << 20, 3 << 20), Saving::Underway, "Saving: 1.00 MiB of 3.00 MiB of the snapshot."),
            (saved, Saving::Idle, "Saved a.html: 3.00 MiB, of them 1.00 MiB the snapshot, compressed."),
            (Step::Failed("no".into()), Saving::Idle, "The page could not be saved: no."),
        ] {
            act(&mut html, &mut shared, step, &mut effects);
            assert_eq!((html, shared.remark.as_deref()), (saving, Some(said)));
        }
    }
}
