//! The page in one file, which `memscape html` and `memscape serve` hand on: one that is named, or that which is in this program.

use std::fs;
use std::path::Path;

/// The page that this program was built with; nothing where there was none (build.rs).
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/memscape.html"));

/// The elements that make it one with SQL; nothing where those were not built.
const SQL: &str = include_str!(concat!(env!("OUT_DIR"), "/sql-part.html"));

/// What the page has, and no other: `./run build` puts its module there.
const MARK: &str = "id=\"part-wasm\"";

/// The page at `path`, or that which this program was built with.
///
/// # Errors
/// There is none, or it is another file: one sentence.
pub(crate) fn viewer(path: Option<&Path>) -> Result<String, String> {
    match path {
        Some(path) => {
            let shown = path.display();
            let bytes = fs::read(path).map_err(|error| format!("--viewer {shown}: {error}"))?;
            let page = String::from_utf8(bytes).ok().filter(|page| page.contains(MARK) && page.contains("</body>"));
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

/// A page with the part that answers in SQL, if it has none yet.
///
/// # Errors
/// This program was built without it: one sentence.
pub(crate) fn with_sql(mut page: String) -> Result<String, String> {
    if page.contains("id=\"part-sql\"") {
        return Ok(page);
    }
    if SQL.is_empty() {
        return Err("--sql: built without SQL for the page; ./run build needs clang for it".to_owned());
    }
    let end = page.rfind("</body>").ok_or("the viewer has no </body>")?;
    page.insert_str(end, SQL);
    Ok(page)
}
