//! Build steps of `./run build` after trunk: `index` changes `index.html`, `docs` converts the manual, `single` writes
//! the page as a single file.
//!
//! ```text
//! pack early DIST                  fetch the wasm first, join the style sheets
//! pack split DIST                  move code that is needed later to a wasm of its own
//! pack docs SOURCE DIST            convert the manual to HTML pages in DIST/docs
//! pack part DIST NAME GLUE WASM    add a part of the page
//! pack omit DIST NAME              remove a part that could not be built
//! pack single DIST OUT             write the page as a single file, and DIST/offline.js
//! ```
//!
//! `single` embeds the files next to `DIST/index.html`:
//!
//! ```text
//! <link rel="stylesheet" href="./x.css">      <style>…</style>                        hash in the policy
//! <img data-src="./x.svg"                     <img data-src="data:image/svg+xml,…"
//! <script defer src="./x.js"></script>        <script defer>…</script>                hash in the policy
//! <script type="module">try{…                 the same with BOOT                      hash in the policy
//! <div id="dead" …                            the same with DEAD
//! <script data-wasm="./x_bg.wasm">…fetch…     <script>FAILED THEME EARLY</script>     hash in the policy
//! <script id="part-later" data-wasm=…>        the wasm as below
//! <script id="part-simulator" data-…>         the glue as text, the wasm as below
//! x_bg.wasm, the samples                      <script type="application/octet-stream" id="part-…">
//!                                             gzip, base64, never run
//! <link rel="manifest" …/>                    removed: a single file is not installed
//! <a … href="./docs/index.html">…</a>         MANUAL: the manual is not part of the file
//! ```
//!
//! The policy allows scripts only by hash, because a page from `file://` has no server that `'self'` could match.
//!
//! `single` also writes `DIST/offline.js` for the page in separate files ([`offline`]).
//!
//! The elements of the SQL part go to `DIST/sql-part.html`, which `memscape html --sql` inserts into the page.

mod docs;
mod index;
mod offline;
mod split;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Script that starts the page with the embedded module, and shows errors that an old browser cannot cause. In a frame
/// without a URL, it removes the link to the start page, which would lead to the folder of the outer document.
const BOOT: &str = "if(location.protocol=='about:')document.getElementById('home').removeAttribute('href');\
try{const part=document.getElementById('part-wasm').textContent;\
const packed=Uint8Array.from(atob(part),letter=>letter.charCodeAt(0));\
await wasm_bindgen({module_or_path:new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()})}\
catch(cause){const dead=document.getElementById('dead'),why=cause instanceof ReferenceError?globalThis.failed??cause:cause;\
if(globalThis.WebAssembly&&globalThis.DecompressionStream&&!(why instanceof SyntaxError||why instanceof WebAssembly.CompileError))\
dead.firstElementChild.textContent=`This page could not start. Reload it; if that does not help, report this error: ${why}`;\
dead.hidden=false;throw cause}";

/// Script that records the first error of scripts that run before `BOOT`, which cannot catch such errors.
const FAILED: &str = "addEventListener(\"error\",event=>{globalThis.failed??=event.error});";

/// Statement in the wasm-bindgen glue that fails if neither the script nor its document has a URL, such as an inline
/// script in a frame with `srcdoc`.
const OWN_URL_STATEMENT: &str = "script_src = new URL(document.currentScript.src, location.href).toString();";

/// Script that applies the user's theme before the first paint. Also part of a script in Trunk.toml.
const THEME: &str = "try{const theme=/^theme=(light|dark)$/m.exec(localStorage[\"memscape.settings\"]);\
if(theme)document.documentElement.dataset.theme=theme[1]}catch{}";

/// Script that collects files dropped before the program runs. Also part of a script in Trunk.toml.
const EARLY: &str = "globalThis.early=[];for(const kind of[\"dragover\",\"drop\"])addEventListener(kind,event=>{\
if(early&&event.dataTransfer.types.includes(\"Files\")){event.preventDefault();early.push(...event.dataTransfer.files)}});";

/// Script that fetches the wasm module of the multi-file page as early as possible. Also part of a script in
/// Trunk.toml.
const FETCH: &str = "globalThis.wasm=fetch(document.currentScript.dataset.wasm).then(async got=>{\
try{return await WebAssembly.compileStreaming(got)}catch(cause){if(got.bodyUsed)throw cause;return got}})";

/// Message for browsers that are too old.
const TOO_OLD: &str =
    "<p>This page could not start: it needs a browser from 2024 or later, with WebAssembly allowed.</p>";

/// Link to the manual in the help dialog.
const MANUAL_LINK: &str = "<a class=\"manual\" href=\"./docs/index.html\"";
/// Text that replaces the link to the manual in the single-file page.
const MANUAL: &str = "<span class=\"manual quiet\">Manual: <code>memscape help</code></span>";

/// Sample snapshots on the start page (see src/ui/state/samples.rs).
const SAMPLES: [&str; 4] = ["out-of-memory.pickle.gz", "leak.pickle.gz", "training.pickle.gz", "cuda-graphs.pickle.gz"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["early", dist] => index::move_script_first(Path::new(dist)),
        ["split", dist] => index::split_page(Path::new(dist)),
        ["docs", source, dist] => docs::write(Path::new(source), Path::new(dist)),
        ["part", dist, name, glue, wasm] => index::add_part(Path::new(dist), name, Path::new(glue), Path::new(wasm)),
        ["omit", dist, name] => index::omit_part(Path::new(dist), name),
        ["single", dist, out] => single(Path::new(dist), Path::new(out)),
        _ => {
            eprintln!(
                "usage: pack early DIST | split DIST | docs SOURCE DIST | part DIST NAME GLUE WASM | omit DIST NAME | single DIST OUT"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("pack: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the single-file page to `out`, and writes `sql-part.html` and `offline.js` to `dist`.
fn single(dist: &Path, out: &Path) -> Result<(), String> {
    let PackedPage { page, sql } = pack_page(dist)?;
    fs::write(out, &page).and_then(|()| fs::write(dist.join(SQL), sql)).map_err(|error| error.to_string())?;
    // Written last, because it lists all files.
    fs::write(dist.join(offline::NAME), offline::script(dist)?).map_err(|error| error.to_string())
}

/// Name of the file that contains the elements of the SQL part. The file is empty if SQL was not built.
const SQL: &str = "sql-part.html";

/// The single-file page, and the HTML elements that add SQL to it.
struct PackedPage {
    page: String,
    sql: String,
}

/// Builds the single-file page without SQL. An error names the missing file or element.
fn pack_page(dist: &Path) -> Result<PackedPage, String> {
    let read = |name: &str| fs::read(dist.join(name)).map_err(|error| format!("{name}: {error}"));
    let text = |name: &str| String::from_utf8(read(name)?).map_err(|_| format!("{name} is no text"));
    let mut page = text("index.html")?;
    let mut policy = Policy::default();
    while let Some(link) = cut(&mut page, "<link rel=\"stylesheet\" href=\"./", "\"/>") {
        let style = text(&link.inner)?;
        policy.styles.push(hash(style.as_bytes()));
        page.insert_str(link.at, &format!("<style>{style}</style>"));
    }
    while let Some(picture) = cut(&mut page, "<img data-src=\"./", "\"") {
        let svg = text(&picture.inner)?;
        page.insert_str(picture.at, &format!("<img data-src=\"{}\"", data_url(&svg)));
    }
    cut(&mut page, "<link rel=\"manifest\" href=\"./", "\"/>").ok_or("index.html names no manifest")?;
    let manual = cut(&mut page, MANUAL_LINK, "</a>").ok_or("index.html does not link to the manual")?;
    page.insert_str(manual.at, MANUAL);
    let wasm = cut(&mut page, "<script data-wasm=\"./", &["\">", THEME, EARLY, FETCH, "</script>"].concat());
    let CutText { at, inner: wasm } = wasm.ok_or("index.html names no wasm")?;
    let first = [FAILED, THEME, EARLY].concat();
    policy.scripts.push(hash(first.as_bytes()));
    page.insert_str(at, &["<script>", &first, "</script>"].concat());
    let glue = cut(&mut page, "<script defer src=\"./", "\"></script>").ok_or("index.html has no script")?;
    let script = remove_own_url(&text(&glue.inner)?)?;
    if script.contains("</script") {
        return Err(format!("{} would end its own element", glue.inner));
    }
    policy.scripts.push(hash(script.as_bytes()));
    page.insert_str(glue.at, &format!("<script defer>{script}</script>"));
    let start = cut(&mut page, "<script type=\"module\">try{", "</script>").ok_or("index.html starts nothing")?;
    policy.scripts.push(hash(BOOT.as_bytes()));
    page.insert_str(start.at, &format!("<script type=\"module\">{BOOT}</script>"));
    let dead = "<div id=\"dead\" role=\"alert\" hidden>";
    let at = cut(&mut page, dead, "</div>").ok_or("index.html says nothing where it can't start")?.at;
    page.insert_str(at, &[dead, TOO_OLD, "</div>"].concat());
    let before = cut(&mut page, "content=\"default-src 'none';", "\">").ok_or("index.html has no policy")?;
    page.insert_str(before.at, &format!("content=\"{}\">", policy.to_text(&before.inner)?));
    let mut parts = Vec::new();
    // A page that is not optimized is not split.
    let later = "<script type=\"application/octet-stream\" id=\"part-later\" data-wasm=\"./";
    if let Some(later) = cut(&mut page, later, "\"></script>") {
        parts.push(part_element("later", "", &gzip(&read(&later.inner)?)));
    }
    // SQL is larger than any other part, so a page contains it only on request.
    let mut sql = String::new();
    for name in ["simulator", "surveyor", "yaml", "sql"] {
        let start = format!("<script type=\"application/octet-stream\" id=\"part-{name}\" data-glue=\"./");
        let files = match cut(&mut page, &start, "\"></script>") {
            Some(files) => files.inner,
            // Not built if clang is missing.
            None if name == "sql" => continue,
            None => return Err(format!("index.html names no {name}")),
        };
        let (glue, wasm) =
            files.split_once("\" data-wasm=\"./").ok_or(format!("index.html names no wasm of {name}"))?;
        let glue = text(glue)?;
        if glue.contains("</script") {
            return Err(format!("the glue of {name} would end its own element"));
        }
        let glue = format!("<script type=\"application/octet-stream\" id=\"part-{name}-glue\">{glue}</script>\n");
        let both = [glue, part_element(name, "", &gzip(&read(wasm)?))];
        if name == "sql" { sql = both.concat() } else { parts.extend(both) }
    }
    parts.push(part_element("wasm", "", &gzip(&read(&wasm)?)));
    for (number, name) in SAMPLES.into_iter().enumerate() {
        parts.push(part_element(&format!("sample-{number}"), &format!(" data-name=\"{name}\""), &read(name)?));
    }
    let end = page.rfind("</body>").ok_or("index.html has no end")?;
    page.insert_str(end, &parts.concat());
    if page.contains("\"./") && page.contains("src=\"./") {
        return Err("index.html still names a file beside it".to_owned());
    }
    Ok(PackedPage { page, sql })
}

/// Removes the statement that reads the glue's own URL, because scripts in a single-file page have no URL.
///
/// # Errors
/// Returns an error unless the statement occurs exactly once, because an update of wasm-bindgen may change the
/// statement.
fn remove_own_url(glue: &str) -> Result<String, String> {
    match glue.matches(OWN_URL_STATEMENT).count() {
        1 => Ok(glue.replace(OWN_URL_STATEMENT, "")),
        count => Err(format!("the glue of wasm-bindgen has its own address {count} times, not once")),
    }
}

/// Text that was removed from the page, and its former position.
struct CutText {
    at: usize,
    inner: String,
}

/// Removes the first text that starts with `from` and ends with `to`, or returns `None` if there is no such text.
fn cut(page: &mut String, from: &str, to: &str) -> Option<CutText> {
    let start = page.find(from)?;
    let inner = page.get(start + from.len()..)?;
    let inner = inner.get(..inner.find(to)?)?.to_owned();
    page.replace_range(start..start + from.len() + inner.len() + to.len(), "");
    Some(CutText { at: start, inner })
}

/// Hashes of scripts and styles that the page's content security policy allows.
#[derive(Default)]
struct Policy {
    scripts: Vec<String>,
    styles: Vec<String>,
}

impl Policy {
    /// Returns the content security policy `before`, with `'self'` for scripts and styles replaced by hashes.
    fn to_text(&self, before: &str) -> Result<String, String> {
        // A single file has no manifest.
        let directives = before.split(';').filter(|it| !it.trim().starts_with("manifest-src")).map(|directive| {
            let directive = directive.trim();
            match directive.split(' ').next() {
                Some("script-src") => format!("script-src 'wasm-unsafe-eval' {}", self.scripts.join(" ")),
                Some("worker-src") => "worker-src blob:".to_owned(),
                Some("style-src") => format!("style-src {}", self.styles.join(" ")),
                _ => directive.to_owned(),
            }
        });
        let text = format!("default-src 'none'; {}", directives.collect::<Vec<_>>().join("; "));
        let is_ours = ["script-src 'wasm", "style-src 'sha256", "worker-src blob:;"].iter().all(|it| text.contains(it));
        if is_ours { Ok(text) } else { Err("the policy is another one".to_owned()) }
    }
}

/// Encodes an SVG image as a data URL. Uses percent-encoding, which is shorter than base64 here.
fn data_url(svg: &str) -> String {
    let svg = svg
        .trim_end()
        .replace('%', "%25")
        .replace('#', "%23")
        .replace('"', "'")
        .replace('<', "%3C")
        .replace('>', "%3E");
    format!("data:image/svg+xml,{svg}")
}

fn hash(bytes: &[u8]) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(bytes)))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn part_element(name: &str, attributes: &str, bytes: &[u8]) -> String {
    format!(
        "<script type=\"application/octet-stream\" id=\"part-{name}\"{attributes}>{}</script>\n",
        BASE64_STANDARD.encode(bytes)
    )
}

#[cfg(test)]
#[path = "../../tests/units/pack/main.rs"]
mod tests;
