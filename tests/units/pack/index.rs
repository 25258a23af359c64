//! Edits of `index.html`: style sheets, hashed parts, and omitted parts.

use super::{add_part, move_script_first, omit_part};
use std::fs;
use std::path::PathBuf;

const PAGE: &str = "<head>\n<link rel=\"stylesheet\" href=\"./a-1.css\"/>\n<link rel=\"stylesheet\" href=\"./b-2.css\"/>\n\
<script data-wasm=\"./page-3_bg.wasm\">fetch</script>\n</head>\n\
<script type=\"x\" id=\"part-sql\" data-glue=\"./sql.js\" data-wasm=\"./sql_bg.wasm\"></script>\n\
<script type=\"x\" id=\"part-yaml\" data-glue=\"./yaml.js\" data-wasm=\"./yaml_bg.wasm\"></script>\n";

/// Creates a folder with [`PAGE`], its style sheets and the files of a part.
fn dist(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-pack-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let files = [
        ("index.html", PAGE),
        ("a-1.css", "a{}\n"),
        ("b-2.css", "b{}\n"),
        ("built.js", "glue"),
        ("built.wasm", "wasm"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

#[test]
fn style_sheets_are_merged_after_the_script() {
    let dist = dist("early");
    move_script_first(&dist).unwrap();
    let page = fs::read_to_string(dist.join("index.html")).unwrap();
    let script = page.find("<script data-wasm").unwrap();
    let style = page.find("<link rel=\"stylesheet\" href=\"./style-").unwrap();
    assert!(script < style, "{page}");
    assert_eq!(page.matches("rel=\"stylesheet\"").count(), 1);
    let name: String = page[style..].split('"').nth(3).unwrap().chars().skip(2).collect();
    assert_eq!(fs::read_to_string(dist.join(name)).unwrap(), "a{}\nb{}\n");
    assert!(!dist.join("a-1.css").exists() && !dist.join("b-2.css").exists());
    assert!(move_script_first(&dist).is_ok(), "a second run succeeds");
    fs::remove_dir_all(dist).unwrap();
}

#[test]
fn part_file_name_contains_hash() {
    let dist = dist("part");
    add_part(&dist, "sql", &dist.join("built.js"), &dist.join("built.wasm")).unwrap();
    let page = fs::read_to_string(dist.join("index.html")).unwrap();
    let name = page.split("data-glue=\"./").nth(1).and_then(|rest| rest.split(".js").next()).unwrap();
    assert!(name.starts_with("sql-") && page.contains(&format!("data-wasm=\"./{name}_bg.wasm\"")), "{page}");
    assert_eq!(fs::read_to_string(dist.join(format!("{name}.js"))).unwrap(), "glue");
    assert_eq!(fs::read_to_string(dist.join(format!("{name}_bg.wasm"))).unwrap(), "wasm");
    assert!(page.contains("./yaml.js"), "other parts are unchanged");
    let again = add_part(&dist, "sql", &dist.join("built.js"), &dist.join("built.wasm"));
    assert_eq!(again.unwrap_err(), "index.html does not name the part sql");
    fs::remove_dir_all(dist).unwrap();
}

#[test]
fn part_not_built_is_removed_from_page() {
    let dist = dist("omit");
    omit_part(&dist, "sql").unwrap();
    let page = fs::read_to_string(dist.join("index.html")).unwrap();
    assert!(!page.contains("part-sql") && page.contains("part-yaml"), "{page}");
    fs::remove_dir_all(dist).unwrap();
}
