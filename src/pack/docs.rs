//! Converts the manual, Markdown in `www/docs`, to HTML pages in `DIST/docs`.
//!
//! The pages use the style sheet of the page and `www/docs.css`, and contain no scripts. They are not part of the
//! single-file page, and not listed in `offline.js`: a browser fetches them when they are opened. Pictures and the
//! snapshots of the tutorials are copied.

use crate::index::style_sheet;
use base::escape::Html;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::fs;
use std::path::Path;

/// Folder of the manual in the build.
const FOLDER: &str = "docs";
/// Folders of the manual whose files are copied: pictures, and snapshots of the tutorials.
const COPIED: [&str; 2] = ["pictures", "samples"];
/// End of the name of a picture in light colours. The same picture in dark colours ends with [`DARK`].
const LIGHT: &str = "-light.webp";
const DARK: &str = "-dark.webp";
/// Style of the manual, in addition to the style of the page.
const STYLE: &str = include_str!("../../www/docs.css");

/// Prefix of the ids of headings. Without it, styles of the page's elements would apply to headings such as `share`.
const ID_PREFIX: &str = "section-";

/// Template of a page, with placeholders.
const TEMPLATE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{TITLE} · memscape</title>
<link rel="icon" href="../icon.svg">
<link rel="stylesheet" href="../{STYLE}">
<link rel="stylesheet" href="./docs.css">
</head>
<body class="docs">
<header><a href="../">memscape</a> <a href="./index.html">Manual</a></header>
<main>
{BODY}</main>
</body>
</html>
"#;

/// Converts all Markdown files in `source`, and writes them to the folder `docs` in `dist`, with the [`COPIED`]
/// folders.
///
/// # Errors
/// Returns an error message if a file cannot be read or written, has no heading, or if the page has no style sheet.
pub(crate) fn write(source: &Path, dist: &Path) -> Result<(), String> {
    let style = style_sheet(dist)?;
    let message = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let folder = dist.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| message(&folder, error))?;
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).map_err(|error| format!("{name}: {error}"));
    put("docs.css", STYLE)?;
    for entry in fs::read_dir(source).map_err(|error| message(source, error))? {
        let path = entry.map_err(|error| message(source, error))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let markdown = fs::read_to_string(&path).map_err(|error| message(&path, error))?;
            let page = page(&markdown, &style).ok_or_else(|| format!("{}: no heading", path.display()))?;
            put(&path.with_extension("html").file_name().unwrap_or_default().to_string_lossy(), &page)?;
        }
    }
    COPIED.iter().try_for_each(|name| copy(&source.join(name), &folder.join(name)))
}

/// Copies the files of a folder, if it exists.
fn copy(source: &Path, target: &Path) -> Result<(), String> {
    let message = |error: std::io::Error| format!("{}: {error}", source.display());
    if !source.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(target).map_err(message)?;
    for entry in fs::read_dir(source).map_err(message)? {
        let entry = entry.map_err(message)?;
        fs::copy(entry.path(), target.join(entry.file_name())).map_err(message)?;
    }
    Ok(())
}

/// Converts Markdown to a page. Its title is the first heading. Returns `None` if there is no heading.
fn page(markdown: &str, style: &str) -> Option<String> {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut title = None;
    for at in 0..events.len() {
        match events.get(at) {
            Some(Event::Start(Tag::Heading { .. })) => {
                let text = heading_text(events.get(at + 1..).unwrap_or_default());
                if let Some(Event::Start(Tag::Heading { id, .. })) = events.get_mut(at) {
                    *id = Some([ID_PREFIX, &anchor(&text)].concat().into());
                }
                title.get_or_insert(text);
            }
            Some(Event::Start(Tag::Link { .. })) => {
                if let Some(Event::Start(Tag::Link { dest_url, .. })) = events.get_mut(at) {
                    *dest_url = html_link(dest_url);
                }
            }
            _ => {}
        }
    }
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter().flat_map(with_dark_picture));
    let title = Html(&title?).to_string();
    Some(TEMPLATE.replace("{TITLE}", &title).replace("{STYLE}", style).replace("{BODY}", &body))
}

/// Puts an image into a `picture` element. For a picture in light colours, the element also has the one in dark
/// colours.
fn with_dark_picture(event: Event<'_>) -> impl Iterator<Item = Event<'_>> {
    let opening = match &event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(match dest_url.strip_suffix(LIGHT) {
            Some(name) => {
                let dark = Html(&[name, DARK].concat()).to_string();
                ["<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"", &dark, "\">"].concat()
            }
            None => "<picture>".to_owned(),
        }),
        _ => None,
    };
    let closing = matches!(event, Event::End(TagEnd::Image)).then(|| "</picture>".to_owned());
    let html = |text: String| Event::InlineHtml(text.into());
    opening.map(html).into_iter().chain([event]).chain(closing.map(html))
}

/// Returns the text of a heading that starts before `events`.
fn heading_text(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Returns the anchor of a heading, as GitHub generates it.
fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the link to a page or heading of the manual as in the build: with another extension, and with [`ID_PREFIX`].
/// Web addresses are returned unchanged.
fn html_link<'a>(link: &CowStr<'a>) -> CowStr<'a> {
    if link.contains("://") {
        return link.clone();
    }
    let (path, heading) = link.split_once('#').map_or((&**link, None), |(path, heading)| (path, Some(heading)));
    let file = path.strip_suffix(".md").map_or_else(|| path.to_owned(), |name| format!("{name}.html"));
    let id = heading.map_or_else(String::new, |heading| ["#", ID_PREFIX, heading].concat());
    [file, id].concat().into()
}

#[cfg(test)]
#[path = "../../tests/units/pack/docs.rs"]
mod tests;
