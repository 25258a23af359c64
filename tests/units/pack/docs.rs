//! Unit tests of `src/pack/docs.rs`: links, anchors and the pages of the manual.

use super::{anchor, page, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn headings_get_anchors_and_links_the_extension_of_the_build() {
    let markdown = "# Two & `one`\n\n[a](b.md) [c](./b.md#two--one) [d](https://example.org/x.md) [e](#top)\n\n| k | v |\n| --- | --- |\n| 1 | < |\n";
    let html = page(markdown, "style-1.css").unwrap();
    for part in [
        "<title>Two &amp; one · memscape</title>",
        "<h1 id=\"section-two--one\">",
        "href=\"b.html\"",
        "href=\"./b.html#section-two--one\"",
        "href=\"https://example.org/x.md\"",
        "href=\"#section-top\"",
        "<td>&lt;</td>",
        "href=\"../style-1.css\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(page("no heading", "style-1.css"), None);
    assert_eq!(anchor("Steps & annotations (all)"), "steps--annotations-all");
}

#[test]
fn picture_follows_colour_scheme() {
    let html = page("# A\n\n![a < b](pictures/a-light.webp)\n\n![c](c.png)\n", "style-1.css").unwrap();
    let dark = "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"pictures/a-dark.webp\">";
    assert!(
        html.contains(&format!("{dark}<img src=\"pictures/a-light.webp\" alt=\"a &lt; b\" /></picture>")),
        "{html}"
    );
    assert!(html.contains("<picture><img src=\"c.png\" alt=\"c\" /></picture>"), "{html}");
}

/// Returns the attributes with this name, in order.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let parts: Vec<&str> = html.split(&*start).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn links_of_the_built_manual_resolve_and_pages_have_no_scripts() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../www/docs");
    let dist = std::env::temp_dir().join(format!("memscape-pack-docs-{}", std::process::id()));
    fs::create_dir_all(&dist).unwrap();
    assert!(write(&source, &dist).unwrap_err().starts_with("index.html"));
    fs::write(dist.join("index.html"), "<link rel=\"stylesheet\" href=\"./style-1.css\"/>").unwrap();
    // The samples of the start page are beside the folder of the manual, in the build as in the sources.
    let samples = ["out-of-memory", "leak", "training", "cuda-graphs"].map(|name| format!("{name}.pickle.gz"));
    for name in ["style-1.css", "icon.svg"].into_iter().chain(samples.iter().map(String::as_str)) {
        fs::write(dist.join(name), "").unwrap();
    }
    write(&source, &dist).unwrap();
    let folder = dist.join("docs");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: BTreeMap<String, String> = files
        .filter(|name| name.ends_with(".html"))
        .map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap()))
        .collect();
    let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    let sources = fs::read_dir(&source).unwrap().filter(|entry| is_page(&entry.as_ref().unwrap().path()));
    assert_eq!(pages.len(), sources.count());
    for (name, html) in &pages {
        assert!(!html.contains("<script") && !html.contains("style=\""), "{name}");
        // Styles of the page's elements must not apply to headings.
        assert!(attributes(html, "id").iter().all(|id| id.starts_with("section-")), "{name}");
        let links = ["href", "src", "srcset"].into_iter().flat_map(|attribute| attributes(html, attribute));
        for link in links.filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = path.trim_start_matches("./");
            let target = if target.is_empty() { name.as_str() } else { target };
            assert!(folder.join(target).exists(), "{name}: {link}");
            let has_anchor = anchor.is_empty() || attributes(&pages[target], "id").contains(&anchor);
            assert!(has_anchor, "{name}: {link}");
        }
    }
    fs::remove_dir_all(dist).unwrap();
}
