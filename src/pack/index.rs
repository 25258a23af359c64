//! Build steps that change `index.html` after trunk has written it.
//!
//! ```text
//! early   move the script that fetches the wasm before the style sheets, and join those
//! split   split the page's wasm, and reference the second module in index.html
//! part    copy the files of a part under names with a hash, and reference them in index.html
//! omit    remove a part that could not be built from index.html
//! ```

use crate::split::{Split, split};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

const INDEX: &str = "index.html";
const STYLE: &str = "<link rel=\"stylesheet\" href=\"./";
const STYLE_END: &str = "\"/>";

/// Moves the script that fetches the wasm before the style sheets, so that it does not wait for them. Joins the style
/// sheets in order, because each request delays the first frame.
///
/// # Errors
/// Returns an error if `index.html` has no such script or no style sheet, or if a file cannot be read or written.
pub(crate) fn move_script_first(dist: &Path) -> Result<(), String> {
    let mut page = read(dist, INDEX)?;
    let script = {
        let start = page.find("<script data-wasm=\"").ok_or("index.html does not fetch its program")?;
        let rest = page.get(start..).unwrap_or_default();
        let end = rest.find("</script>").ok_or("index.html has a script without an end")? + "</script>".len();
        page.drain(start..start + end).collect::<String>()
    };
    let (mut sheets, mut first) = (Vec::new(), None);
    while let Some(start) = page.find(STYLE) {
        let rest = page.get(start + STYLE.len()..).unwrap_or_default();
        let name = rest.get(..rest.find(STYLE_END).ok_or("a style sheet's link has no end")?).unwrap_or_default();
        sheets.push(name.to_owned());
        let end = start + STYLE.len() + name.len() + STYLE_END.len();
        page.replace_range(start..end, "");
        first.get_or_insert(start);
    }
    let first = first.ok_or("index.html has no style sheets")?;
    let mut style = String::new();
    for name in &sheets {
        style.push_str(&read(dist, name)?);
        fs::remove_file(dist.join(name)).map_err(|error| format!("{name}: {error}"))?;
    }
    let name = format!("style-{}.css", short_hash(&[style.as_bytes()]));
    write(dist, &name, style.as_bytes())?;
    page.insert_str(first, &format!("{script}\n{STYLE}{name}{STYLE_END}"));
    write(dist, INDEX, page.as_bytes())
}

/// Splits the page's wasm in `dist` (see [`split`]), and references both modules in `index.html` under names with a
/// hash.
///
/// # Errors
/// Returns an error if `index.html` does not name the wasm or the second module, if the wasm cannot be split, or if a
/// file cannot be read or written.
pub(crate) fn split_page(dist: &Path) -> Result<(), String> {
    let page = read(dist, INDEX)?;
    let name = page.split_once("<script data-wasm=\"./").and_then(|(_, rest)| Some(rest.split_once('"')?.0));
    let name = name.ok_or("index.html does not fetch its program")?;
    let wasm = fs::read(dist.join(name)).map_err(|error| format!("{name}: {error}"))?;
    let Split { page: first, later } = split(&wasm)?;
    let (before, after) = ("./later_bg.wasm", format!("./later-{}_bg.wasm", short_hash(&[&later])));
    if !page.contains(before) {
        return Err("index.html does not name the part later".to_owned());
    }
    let new_name = format!("page-{}_bg.wasm", short_hash(&[&first]));
    write(dist, after.trim_start_matches("./"), &later)?;
    write(dist, &new_name, &first)?;
    write(dist, INDEX, page.replace(name, &new_name).replace(before, &after).as_bytes())?;
    fs::remove_file(dist.join(name)).map_err(|error| format!("{name}: {error}"))
}

/// Copies the files of the part `name` to `dist` under names with a hash, and references them in `index.html`.
///
/// `wasm` is written before `glue`, and `index.html` last. A page that is served meanwhile finds both files or neither.
///
/// # Errors
/// Returns an error if `index.html` does not name the part without a hash, or if a file cannot be read or written.
pub(crate) fn add_part(dist: &Path, name: &str, glue: &Path, wasm: &Path) -> Result<(), String> {
    let bytes = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (glue, wasm) = (bytes(glue)?, bytes(wasm)?);
    let hash = short_hash(&[&wasm, &glue]);
    let page = read(dist, INDEX)?;
    let before = format!("data-glue=\"./{name}.js\" data-wasm=\"./{name}_bg.wasm\"");
    let after = format!("data-glue=\"./{name}-{hash}.js\" data-wasm=\"./{name}-{hash}_bg.wasm\"");
    if !page.contains(&before) {
        return Err(format!("index.html does not name the part {name}"));
    }
    write(dist, &format!("{name}-{hash}_bg.wasm"), &wasm)?;
    write(dist, &format!("{name}-{hash}.js"), &glue)?;
    write(dist, INDEX, page.replace(&before, &after).as_bytes())
}

/// Removes the part `name` from `index.html`. Used if the part could not be built.
///
/// # Errors
/// Returns an error if `index.html` cannot be read or written.
pub(crate) fn omit_part(dist: &Path, name: &str) -> Result<(), String> {
    let id = format!("id=\"part-{name}\"");
    let page: String =
        read(dist, INDEX)?.lines().filter(|line| !line.contains(&id)).map(|it| format!("{it}\n")).collect();
    write(dist, INDEX, page.as_bytes())
}

/// Returns the name of the style sheet that [`move_script_first`] has written.
///
/// # Errors
/// Returns an error if `index.html` cannot be read, or names no style sheet.
pub(crate) fn style_sheet(dist: &Path) -> Result<String, String> {
    let page = read(dist, INDEX)?;
    let name = page.split_once(STYLE).and_then(|(_, rest)| Some(rest.split_once(STYLE_END)?.0.to_owned()));
    name.ok_or_else(|| "index.html has no style sheet".to_owned())
}

/// Returns the first 64 bits of the SHA-256 of the concatenated `parts`, in hexadecimal.
fn short_hash(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn read(dist: &Path, name: &str) -> Result<String, String> {
    fs::read_to_string(dist.join(name)).map_err(|error| format!("{name}: {error}"))
}

/// Replaces a file atomically, because a server may read it at the same time.
fn write(dist: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let (temporary, path) = (dist.join(format!("{name}.new")), dist.join(name));
    fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path)).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
#[path = "../../tests/units/pack/index.rs"]
mod tests;
