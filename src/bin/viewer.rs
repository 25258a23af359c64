//! The page in one file, which `memscape html` and `memscape serve` hand on: one that is named, or that which is in this program.

use std::fs;
use std::path::Path;

/// The page that this program was built with.
#[cfg(feature = "embed")]
const PAGE: Option<&str> = Some(include_str!("../../dist/memscape.html")); // It is missing? `./run build` makes it.
#[cfg(not(feature = "embed"))]
const PAGE: Option<&str> = None;

/// What the page has, and no other: `./run build` puts its module there.
const MARK: &str = "id=\"part-wasm\"";

/// The page at `path`, or that which this program was built with.
///
/// # Errors
/// There is none, or what is there is another file: one sentence.
pub(crate) fn viewer(path: Option<&Path>) -> Result<String, String> {
    match (path, PAGE) {
        (Some(path), _) => {
            let shown = path.display();
            let bytes = fs::read(path).map_err(|error| format!("--viewer {shown}: {error}"))?;
            let page = String::from_utf8(bytes).ok().filter(|page| page.contains(MARK) && page.contains("</body>"));
            let page = page.ok_or_else(|| format!("--viewer {shown} is no memscape.html, which ./run build makes"))?;
            if page.contains("id=\"part-snapshot\"") {
                return Err(format!(
                    "--viewer {shown} has a snapshot in it already: name the memscape.html without one"
                ));
            }
            Ok(page)
        }
        (None, Some(page)) => Ok(page.to_owned()),
        (None, None) => {
            Err("this program was built without the page: './run build --native' makes one with it, or name a \
                             memscape.html with --viewer"
                .to_owned())
        }
    }
}
