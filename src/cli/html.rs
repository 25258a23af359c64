//! `memscape html`: writes the page and a snapshot to one HTML file, which opens in a browser without installing
//! anything.
//!
//! The snapshot is embedded as base64 in a script element that browsers do not execute. Base64 contains no characters
//! that could end the element.

use super::common_args::{AtArg, SnapshotArgs};
use super::embedded::EmbeddedSnapshot;
use super::input::Input;
use super::kept_file::OpenedFile;
use super::open_snapshot::OpenSnapshot;
use super::opening::{name_of, open_first};
use super::output_file::OutputFile;
use super::rules::CategoryRules;
use super::viewer::{viewer, with_sql};
use base::units::{Bytes, group_digits};
use base64::prelude::BASE64_STANDARD;
use base64::write::EncoderWriter;
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use ui::features::save_page::{ELEMENTS, start_tag};
use ui::state::saved_page::SavedPage;
use ui::text::url::percent_encoded;

/// Maximum size of a mail attachment, in bytes, that most mail servers accept.
const MAX_MAIL_BYTES: u64 = 25_000_000;

/// Arguments of `memscape html`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Html {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// HTML file to write, "-" for standard output
    #[arg(short, long = "output", value_name = "OUT.html")]
    pub(crate) out: OutputFile,
    #[command(flatten)]
    pub(crate) at: AtArg,
    /// Snapshot to compare with: the page holds both
    #[arg(long = "with", value_name = "FILE")]
    pub(crate) second: Option<PathBuf>,
    /// View to open with: a link copied from the page, or the part after its #
    #[arg(long, value_name = "LINK", default_value = "", hide_default_value = true)]
    pub(crate) view: String,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// Include the tab SQL: 0.6 MB more
    #[arg(long)]
    pub(crate) sql: bool,
    /// Use this memscape.html instead of the built-in page
    #[arg(long, value_name = "PAGE")]
    pub(crate) viewer: Option<PathBuf>,
}

impl Html {
    /// Returns an error message if arguments conflict, or `None`.
    pub(crate) fn conflict(&self) -> Option<String> {
        self.fragment().err()
    }

    /// Returns the initial view as an address fragment: the part of `--view` after `#`, without parameters that name
    /// snapshots.
    pub(crate) fn fragment(&self) -> Result<String, String> {
        let fragment = self.view.rsplit('#').next().unwrap_or_default();
        // The snapshots are those in the page.
        let is_for_us = |pair: &&str| !(pair.is_empty() || pair.starts_with("url=") || pair.starts_with("with="));
        let pairs: Vec<&str> = fragment.split('&').filter(is_for_us).collect();
        for (flag, key, is_given) in
            [("--at", "at=", self.at.when.is_some()), ("--device", "device=", self.source.device.is_some())]
        {
            if is_given && pairs.iter().any(|pair| pair.starts_with(key)) {
                return Err(format!("{flag} conflicts with {key} in --view"));
            }
        }
        let is_versioned = pairs.is_empty() || pairs.iter().any(|pair| pair.starts_with("v="));
        Ok([if is_versioned { "" } else { "v=1&" }, &pairs.join("&")].concat())
    }

    /// Writes the page. Returns a summary sentence about the written file, or an error message.
    pub(crate) fn write(&self) -> Result<String, String> {
        let viewer = viewer(self.viewer.as_deref())?;
        let viewer = if self.sql { with_sql(viewer)? } else { viewer };
        let end = viewer.rfind("</body>").ok_or("the viewer has no </body>")?;
        let (head, tail) = viewer.split_at_checked(end).ok_or("the viewer has no </body>")?;
        let file = &self.source.file;
        let mut input = Input::open(file).map_err(|error| error.to_string())?;
        // The file is read twice, so a pipe has to be copied first.
        input.copy_to_file().map_err(|error| error.to_string())?;
        let rules = self.rules.to_stored()?;
        // Open the file first, so that no page is written that would show an error.
        let (mut view, engine) = self.open_view(&mut input)?;
        let carried = EmbeddedSnapshot::encode(&mut input, &engine)?;
        drop(engine);
        let name = if file.as_os_str() == "-" { "standard input".to_owned() } else { name_of(file) };
        let mut snapshots = vec![(name, carried)];
        if let Some(second) = &self.second {
            let carried = encode_second(second).map_err(|error| format!("{}: {error}", second.display()))?;
            // The page finds a snapshot by its name, so both names have to differ.
            let same = if snapshots.iter().any(|(name, _)| *name == name_of(second)) { "B " } else { "" };
            let name = [same, &name_of(second)].concat();
            view += &["&with=", &percent_encoded(&name)].concat();
            snapshots.push((name, carried));
        }
        let wrong = |error: io::Error| format!("{}: {error}", self.out.path().display());
        let mut out = self.out.create().map_err(wrong)?;
        let size = write_parts([head, tail], SavedPage { view, rules }, &snapshots, &mut out).map_err(wrong)?;
        out.finish().map_err(wrong)?;
        Ok(summary_text(size, &snapshots))
    }

    /// Opens the snapshot in an engine. Returns the address fragment of the initial view, and the open file.
    fn open_view(&self, input: &mut Input) -> Result<(String, OpenedFile), String> {
        let (summary, mut engine) = open_first(input, &self.source.file)?;
        let view = self.fragment()?;
        let view_device = view.split('&').find_map(|pair| pair.strip_prefix("device=")?.parse().ok());
        let (when, device) = (self.at.when, self.source.device);
        let mut pairs = vec![if view.is_empty() { "v=1".to_owned() } else { view }];
        if when.is_some() || device.is_some() {
            let mut snapshot = OpenSnapshot::with_device(summary, engine, device.or(view_device))?;
            pairs.push(format!("device={}", snapshot.device.device));
            if let Some(when) = when {
                pairs.push(format!("at={}", i64::from(snapshot.facts_at(when)?.moment) - 1));
            }
            engine = snapshot.into_engine();
        }
        Ok((pairs.join("&"), engine))
    }
}

/// Reads and encodes the second snapshot, to compare with.
fn encode_second(path: &Path) -> Result<EmbeddedSnapshot, String> {
    let mut input = Input::open(path).map_err(|error| error.to_string())?;
    input.copy_to_file().map_err(|error| error.to_string())?;
    let (_, engine) = open_first(&mut input, path)?;
    EmbeddedSnapshot::encode(&mut input, &engine)
}

/// Describes the written page: its size in bytes, and how each snapshot is encoded.
fn summary_text(page: u64, snapshots: &[(String, EmbeddedSnapshot)]) -> String {
    let large = if page > MAX_MAIL_BYTES { "; too large for most mail servers" } else { "" };
    let part = |(_, carried): &(String, EmbeddedSnapshot)| {
        let packed = carried.bytes.len() as u64;
        let from = if carried.raw_bytes == packed {
            String::new()
        } else {
            format!(" from {} B", group_digits(carried.raw_bytes))
        };
        format!("{} B of {}{from}", group_digits(packed), carried.encoding)
    };
    let parts: Vec<String> = snapshots.iter().map(part).collect();
    let noun = if parts.len() == 1 { "the snapshot" } else { "the snapshots" };
    format!("{} ({} B), with {noun} as {}{large}", Bytes(page), group_digits(page), parts.join(" and "))
}

/// Writes the page with its embedded snapshots, and what it opens with. Returns the number of bytes written.
fn write_parts(
    page: [&str; 2],
    mut opens_with: SavedPage,
    snapshots: &[(String, EmbeddedSnapshot)],
    out: &mut impl Write,
) -> io::Result<u64> {
    let [head, tail] = page;
    let end = "</script>\n";
    out.write_all(head.as_bytes())?;
    let mut size = head.len() + tail.len();
    for (id, (name, carried)) in ELEMENTS.into_iter().zip(snapshots) {
        let begin = start_tag(id, name, &mut opens_with);
        out.write_all(begin.as_bytes())?;
        let mut base64 = EncoderWriter::new(&mut *out, &BASE64_STANDARD);
        base64.write_all(&carried.bytes)?;
        base64.finish()?;
        drop(base64);
        out.write_all(end.as_bytes())?;
        size += begin.len() + carried.bytes.len().div_ceil(3) * 4 + end.len();
    }
    out.write_all(tail.as_bytes())?;
    Ok(size as u64)
}

#[cfg(test)]
#[path = "../../tests/units/cli/html.rs"]
mod tests;
