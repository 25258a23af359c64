//! `memscape html`: the page in one file with a snapshot in it, for people who only have to open a file.
//!
//! It goes in as base64, in an element that no browser runs: its alphabet holds nothing that could end the element.

use super::asking::Asking;
use super::carried::Carried;
use super::input::Input;
use super::opening::{name_of, open_first};
use super::terms::{At, SnapshotArgs};
use super::viewer::viewer;
use super::written::Written;
use base::units::{Bytes, grouped};
use base64::prelude::BASE64_STANDARD;
use base64::write::EncoderWriter;
use clap::Args;
use engine::Engine;
use std::io::{self, Write};
use std::path::PathBuf;
use ui::html::{ELEMENTS, element};

/// What most mail servers take at most.
const MAIL: u64 = 25_000_000;

/// Arguments of `memscape html`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Html {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// HTML file to write, "-" for standard output
    #[arg(short, long = "output", value_name = "OUT.html")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) at: At,
    /// View to open with: a link copied from the page, or the part after its #
    #[arg(long, value_name = "LINK", default_value = "", hide_default_value = true)]
    pub(crate) view: String,
    /// Use this memscape.html instead of the built-in page
    #[arg(long, value_name = "PAGE")]
    pub(crate) viewer: Option<PathBuf>,
}

impl Html {
    /// Arguments that contradict each other.
    pub(crate) fn conflict(&self) -> Option<String> {
        self.fragment().err()
    }

    /// `--view` as a fragment: of a whole link what stands behind its `#`, without the snapshot that the link names.
    pub(crate) fn fragment(&self) -> Result<String, String> {
        let fragment = self.view.rsplit('#').next().unwrap_or_default();
        let is_for_us = |pair: &&str| !pair.is_empty() && !pair.starts_with("url=");
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

    /// Writes the page; what went into it, or the error, as one sentence.
    pub(crate) fn write(&self) -> Result<String, String> {
        let viewer = viewer(self.viewer.as_deref())?;
        let end = viewer.rfind("</body>").ok_or("the viewer has no </body>")?;
        let (head, tail) = viewer.split_at_checked(end).ok_or("the viewer has no </body>")?;
        let file = &self.source.file;
        let mut input = Input::open(file).map_err(|error| error.to_string())?;
        // It is read twice.
        input.keep_whole().map_err(|error| error.to_string())?;
        // Nobody should be sent a page that opens with an error.
        let (view, engine) = self.look(&mut input)?;
        let carried = Carried::of(&mut input, &engine)?;
        drop(engine);
        let name = if file.as_os_str() == "-" { "standard input".to_owned() } else { name_of(file) };
        let wrong = |error: io::Error| format!("{}: {error}", self.out.display());
        let mut out = Written::create(&self.out, file).map_err(wrong)?;
        let size = write_parts([head, tail], &name, &view, &carried, &mut out).map_err(wrong)?;
        out.finish().map_err(wrong)?;
        Ok(said(size, &carried))
    }

    /// Opens the file, and finds the fragment of the view that the page is to open at.
    fn look(&self, input: &mut Input) -> Result<(String, Engine), String> {
        let (summary, mut engine) = open_first(input, &self.source.file)?;
        let view = self.fragment()?;
        let of_view = view.split('&').find_map(|pair| pair.strip_prefix("device=")?.parse().ok());
        let (when, device) = (self.at.when, self.source.device);
        let mut pairs = vec![if view.is_empty() { "v=1".to_owned() } else { view }];
        if when.is_some() || device.is_some() {
            let mut asking = Asking::of(summary, engine, device.or(of_view))?;
            pairs.push(format!("device={}", asking.device.device));
            if let Some(when) = when {
                pairs.push(format!("at={}", i64::from(asking.at(when)?.moment) - 1));
            }
            engine = asking.into_engine();
        }
        Ok((pairs.join("&"), engine))
    }
}

/// What went in, and how large the page is.
fn said(page: u64, carried: &Carried) -> String {
    let packed = carried.bytes.len() as u64;
    let from = if carried.taken == packed { String::new() } else { format!(" from {} B", grouped(carried.taken)) };
    let large = if page > MAIL { "; too large for most mail servers" } else { "" };
    format!(
        "{} ({} B), with the snapshot as {} B of {}{from}{large}",
        Bytes(page),
        grouped(page),
        grouped(packed),
        carried.how
    )
}

/// Writes the page with its snapshot; how many bytes that are.
fn write_parts(page: [&str; 2], name: &str, view: &str, carried: &Carried, out: &mut impl Write) -> io::Result<u64> {
    let [head, tail] = page;
    let begin = element(ELEMENTS[0], name, view);
    let end = "</script>\n";
    [head, &begin].into_iter().try_for_each(|text| out.write_all(text.as_bytes()))?;
    let mut base64 = EncoderWriter::new(&mut *out, &BASE64_STANDARD);
    base64.write_all(&carried.bytes)?;
    base64.finish()?;
    drop(base64);
    [end, tail].into_iter().try_for_each(|text| out.write_all(text.as_bytes()))?;
    let texts = [head, &begin, end, tail].map(str::len).into_iter().sum::<usize>();
    Ok((texts + carried.bytes.len().div_ceil(3) * 4) as u64)
}

#[cfg(test)]
#[path = "../../tests/units/cli/html.rs"]
mod tests;
