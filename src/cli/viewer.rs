//! The page as a single HTML file, for `memscape html` and `memscape serve`: the built-in page, or a file given by the
//! user.

use std::fs;
use std::path::Path;

/// The built-in page. Empty if the page was not built (see `build.rs`).
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/memscape.html"));

/// HTML elements that add SQL support to the page. Empty if they were not built.
const SQL_PART: &str = include_str!(concat!(env!("OUT_DIR"), "/sql-part.html"));

/// Text that identifies a memscape page. `./run build` inserts the wasm module there.
const PAGE_MARKER: &str = "id=\"part-wasm\"";

/// Returns the page at `path`, or the built-in page.
///
/// # Errors
/// Returns an error message if this program has no built-in page, or the file is not a memscape page.
pub(crate) fn viewer(path: Option<&Path>) -> Result<String, String> {
    match path {
        Some(path) => {
            let shown = path.display();
            let bytes = fs::read(path).map_err(|error| format!("--viewer {shown}: {error}"))?;
            let page =
                String::from_utf8(bytes).ok().filter(|page| page.contains(PAGE_MARKER) && page.contains("</body>"));
            let page =
                page.ok_or_else(|| format!("--viewer {shown} is not a memscape.html, which ./run build makes"))?;
            if page.contains("id=\"part-snapshot\"") {
                return Err(format!("--viewer {shown} contains a snapshot already: use a memscape.html without one"));
            }
            Ok(page)
        }
        None if PAGE.is_empty() => {
            Err("built without the page: run './run build' and build again, or use --viewer".to_owned())
        }
        None => Ok(PAGE.to_owned()),
    }
}

/// Adds SQL support to a page, unless the page already has it.
///
/// # Errors
/// Returns an error message if this program was built without SQL support.
pub(crate) fn with_sql(mut page: String) -> Result<String, String> {
    if page.contains("id=\"part-sql\"") {
        return Ok(page);
    }
    if SQL_PART.is_empty() {
        return Err("--sql: built without SQL for the page; ./run build needs clang for it".to_owned());
    }
    let end = page.rfind("</body>").ok_or("the viewer has no </body>")?;
    page.insert_str(end, SQL_PART);
    Ok(page)
}
