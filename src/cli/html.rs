//! `memscape html`: the page in one file with a snapshot in it, for people who only have to open a file.
//!
//! It goes in as base64, in an element that no browser runs: its alphabet holds nothing that could end the element.

use super::asking::Asking;
use super::carried::Carried;
use super::input::Input;
use super::opening::{name_of, open};
use super::terms::{When, when};
use super::viewer::viewer;
use super::written::Written;
use base::units::{Bytes, grouped};
use base64::prelude::BASE64_STANDARD;
use base64::write::EncoderWriter;
use engine::Engine;
use std::io::{self, Write};
use ui::html::element;

/// What most mail servers take at most.
const MAIL: u64 = 25_000_000;

/// What `memscape html` is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Html {
    /// The snapshot; `-` is standard input.
    pub(crate) file: String,
    /// Where the page goes; `-` is standard output.
    pub(crate) out: String,
    /// The page to put it into; that which this program was built with otherwise.
    pub(crate) viewer: Option<String>,
    /// When it opens.
    pub(crate) at: Option<When>,
    /// The ordinal of the device it opens with; the first otherwise.
    pub(crate) device: Option<i64>,
    /// What else it opens at: as the fragment of a link has it.
    pub(crate) view: String,
}

impl Html {
    /// Reads the arguments after `html`.
    ///
    /// # Errors
    /// What makes no sense, in a few words.
    pub(crate) fn of(arguments: &[String]) -> Result<Html, String> {
        let mut html = Html::default();
        let mut files = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or_else(|| format!("{word} what?"));
            let nonsense = |value: String| format!("{word} {value} makes no sense");
            match word.as_str() {
                "-o" | "--output" => html.out = value()?,
                "--viewer" => html.viewer = Some(value()?),
                "--view" => html.view = value()?,
                "--at" => html.at = value().and_then(|text| when(&text).ok_or(nonsense(text)).map(Some))?,
                "--device" => {
                    html.device = value().and_then(|text| text.parse().map_err(|_| nonsense(text)).map(Some))?;
                }
                "--" => files.extend(words.by_ref()),
                flag if flag.starts_with('-') && flag != "-" => return Err(format!("there is no {flag}")),
                _ => files.push(word),
            }
        }
        match (files.as_slice(), html.out.as_str()) {
            ([], _) => Err("which FILE?".to_owned()),
            ([_, file, ..], _) => Err(format!("one file, not {file} as well")),
            (_, "") => Err("where to? -o OUT.html is missing".to_owned()),
            ([file], _) => {
                html.file.clone_from(file);
                html.view = html.fragment()?;
                Ok(html)
            }
        }
    }

    /// `--view` as a fragment: of a whole link what stands behind its `#`, without the snapshot that the link names.
    fn fragment(&self) -> Result<String, String> {
        let fragment = self.view.rsplit('#').next().unwrap_or_default();
        let is_for_us = |pair: &&str| !pair.is_empty() && !pair.starts_with("url=");
        let pairs: Vec<&str> = fragment.split('&').filter(is_for_us).collect();
        for (flag, key, is_given) in
            [("--at", "at=", self.at.is_some()), ("--device", "device=", self.device.is_some())]
        {
            if is_given && pairs.iter().any(|pair| pair.starts_with(key)) {
                return Err(format!("{flag} and --view both say {key}"));
            }
        }
        let is_versioned = pairs.is_empty() || pairs.iter().any(|pair| pair.starts_with("v="));
        Ok([if is_versioned { "" } else { "v=1&" }, &pairs.join("&")].concat())
    }

    /// Writes the page; what went into it, or the error, as one sentence.
    pub(crate) fn write(&self) -> Result<String, String> {
        let viewer = viewer(self.viewer.as_deref())?;
        let end = viewer.rfind("</body>").ok_or("the viewer has no end")?;
        let (head, tail) = viewer.split_at_checked(end).ok_or("the viewer has no end")?;
        let mut input = Input::open(&self.file).map_err(|error| error.to_string())?;
        // It is read twice.
        input.keep_whole().map_err(|error| error.to_string())?;
        // Nobody should be sent a page that opens with an error.
        let (view, engine) = self.look(&mut input)?;
        let carried = Carried::of(&mut input, &engine)?;
        drop(engine);
        let name = if self.file == "-" { "standard input" } else { name_of(&self.file) };
        let wrong = |error: io::Error| format!("{}: {error}", self.out);
        let mut out = Written::create(&self.out, &self.file).map_err(wrong)?;
        let size = write_parts([head, tail], name, &view, &carried, &mut out).map_err(wrong)?;
        out.finish().map_err(wrong)?;
        Ok(said(size, &carried))
    }

    /// Opens the file, and finds the fragment of the view that the page is to open at.
    fn look(&self, input: &mut Input) -> Result<(String, Engine), String> {
        let mut members = Vec::new();
        let (summary, mut engine) = open(input, name_of(&self.file), None, &mut members)?;
        if members.len() > 1 {
            eprintln!("memscape: {}: the first of {} snapshots in it", self.file, members.len());
        }
        let mut pairs = vec![if self.view.is_empty() { "v=1".to_owned() } else { self.view.clone() }];
        if self.at.is_some() || self.device.is_some() {
            let of_view = self.view.split('&').find_map(|pair| pair.strip_prefix("device=")?.parse().ok());
            let mut asking = Asking::of(summary, engine, self.device.or(of_view))?;
            pairs.push(format!("device={}", asking.device.device));
            if let Some(when) = self.at {
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
    let from = if carried.taken == packed { String::new() } else { format!(" from {}", grouped(carried.taken)) };
    let large = if page > MAIL { "; too large for most mail: hand on the file, or a link to it" } else { "" };
    format!(
        "{} ({} bytes): the page, and the snapshot as {} bytes of {}{from}{large}",
        Bytes(page),
        grouped(page),
        grouped(packed),
        carried.how
    )
}

/// Writes the page with its snapshot; how many bytes that are.
fn write_parts(page: [&str; 2], name: &str, view: &str, carried: &Carried, out: &mut impl Write) -> io::Result<u64> {
    let [head, tail] = page;
    let begin = element(name, view);
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
mod tests {
    use super::*;

    const VIEWER: [&str; 2] = ["<html><body><script id=\"part-wasm\"></script>", "</body></html>"];

    fn html(line: &str) -> Result<Html, String> {
        Html::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_of_a_file_ends_its_element() {
        let hostile = "x</script><script>alert(1)</script>\"><img src=x>";
        let carried = Carried { taken: 7, how: "gzip", bytes: hostile.as_bytes().to_vec() };
        let mut out = Vec::new();
        let size = write_parts(VIEWER, hostile, "v=1&at=\"3\"", &carried, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        let tags = VIEWER.concat();
        assert_eq!(page.matches("</script").count(), 2, "{page}");
        assert_eq!(page.matches('<').count(), tags.matches('<').count() + 2, "{page}");
        assert!(page.contains(" data-view=\"v=1&amp;at=&quot;3&quot;\">"), "{page}");
        assert!(page.ends_with("</script>\n</body></html>") && size == page.len() as u64, "{page}");
    }

    #[test]
    fn what_went_in_is_said() {
        let carried = Carried { taken: 7000, how: "gzip", bytes: vec![0; 7] };
        let text = "1012 B (1,012 bytes): the page, and the snapshot as 7 bytes of gzip";
        assert_eq!(said(1012, &carried), format!("{text} from 7,000"));
        assert_eq!(said(1012, &Carried { taken: 7, ..carried }), text);
        let carried = Carried { taken: 7, how: "gzip", bytes: vec![0; 7] };
        assert!(said(30_000_000, &carried).ends_with("too large for most mail: hand on the file, or a link to it"));
    }

    #[test]
    fn a_view_is_what_stands_behind_the_sign_of_a_link() {
        let view = |text: &str| html(&format!("a -o b --view {text}")).unwrap().view;
        assert_eq!(view("#v=1&tab=why"), "v=1&tab=why");
        assert_eq!(view("tab=why"), "v=1&tab=why");
        assert_eq!(view("https://a.b/c#v=1&url=https://d.e/f&at=3&url=x"), "v=1&at=3");
        assert_eq!(html("a -o b").unwrap().view, "");
        assert!(html("a -o b --view at=3 --at 4").is_err() && html("a -o b --view device=3 --at 4").is_ok());
    }

    #[test]
    fn arguments_come_in_any_order() {
        let read = html("--at peak -o b.html --device 1 -- -a.pickle").unwrap();
        assert_eq!((read.file.as_str(), read.at, read.device), ("-a.pickle", Some(When::Peak), Some(1)));
        assert_eq!(html("- -o -").unwrap().file, "-");
        for wrong in ["", "a", "a b -o c", "-o b", "a -o", "a -o b --at soon", "a -o b --device x", "a -o b --json"] {
            assert!(html(wrong).is_err(), "{wrong}");
        }
    }
}
