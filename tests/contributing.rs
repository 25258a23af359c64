//! Checks CONTRIBUTING.md and ARCHITECTURE.md against the source tree: paths exist, all crates are described, and the
//! lists of files to touch are right.

use super::{root, rust_files};
use memscape::protocol::sql::SqlFile;
use memscape::protocol::{TableColumn, Topic};
use std::collections::BTreeSet;
use std::fs;

/// Returns the text under a heading of CONTRIBUTING.md.
fn chapter(heading: &str) -> String {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).expect(heading);
    rest.split("\n## ").next().unwrap().to_owned()
}

/// Returns the quoted paths in a text.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|it| {
            !it.contains([' ', '<']) && (it.starts_with("src/") || it.starts_with("tests/") || it.ends_with(".html"))
        })
        .collect()
}

#[test]
fn paths_in_documents_exist() {
    for (document, least) in [("CONTRIBUTING.md", 20), ("ARCHITECTURE.md", 60)] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let paths = paths(&text);
        assert!(paths.len() > least, "{document}: {paths:?}");
        for path in paths.into_iter().filter(|path| !path.contains("NAME")) {
            assert!(root().join(path).exists(), "{document} names {path}, which does not exist");
        }
    }
}

/// A dependency is described where its version is. The crates of the workspace describe themselves.
#[test]
fn every_dependency_has_its_sentence() {
    let crates = fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let folders = crates.chain([root().to_owned(), root().join("tests/fuzz")]);
    let manifests: Vec<_> = folders.map(|it| it.join("Cargo.toml")).filter(|it| it.is_file()).collect();
    assert!(manifests.len() > 20, "{manifests:?}");
    for manifest in manifests {
        let (mut lists_dependencies, mut is_described) = (false, false);
        for line in fs::read_to_string(&manifest).unwrap().lines() {
            let table = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            let is_own = line.contains("workspace = true") || line.contains("path = \"src/");
            let is_dependency = match table {
                Some(table) => table.contains("dependencies."),
                None => lists_dependencies && line.contains('=') && !line.starts_with('#') && !is_own,
            };
            assert!(is_described || !is_dependency, "{}: why {line}?", manifest.display());
            lists_dependencies = table.map_or(lists_dependencies, |table| table.ends_with("dependencies"));
            is_described = line.starts_with('#');
        }
    }
}

#[test]
fn architecture_describes_every_crate() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = text.split_once("| crate | what it does |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let described: BTreeSet<&str> = paths(table).into_iter().filter(|path| path.starts_with("src/")).collect();
    let folders = fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let crates: BTreeSet<String> = folders
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| format!("src/{}", folder.file_name().unwrap().to_str().unwrap()))
        .collect();
    assert_eq!(described, crates.iter().map(String::as_str).collect());
}

/// Returns the files that a chapter lists. Panics if there are more than `most`.
fn listed(heading: &str, most: usize) -> BTreeSet<String> {
    let chapter = chapter(heading);
    // In a numbered list, the first path of each line is the file to touch.
    let lines = chapter.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_digit()));
    let files: BTreeSet<String> = lines.filter_map(|line| paths(line).first().map(|it| (*it).to_owned())).collect();
    assert!(!files.is_empty() && files.len() <= most, "{heading}: at most {most} files, listed are {files:?}");
    files
}

/// Returns the listed files that exist already, such as registries.
fn registries(listed: BTreeSet<String>) -> BTreeSet<String> {
    listed.into_iter().filter(|path| !path.contains("NAME")).collect()
}

/// Returns the files under `src` that contain one of `names`, except those whose path contains one of `own`.
fn naming(names: &[&str], own: &[&str]) -> BTreeSet<String> {
    let sources = rust_files("src").into_iter();
    let is_own = |name: &str| own.iter().any(|own| name.contains(own));
    let found = sources.filter(|it| names.iter().any(|name| it.text.contains(name)) && !is_own(&it.name));
    found.map(|source| format!("src/{}", source.name)).collect()
}

/// Files that do something special for an insight, and what.
const SPECIAL_INSIGHTS: &[(Topic, &str, &str)] = &[
    (Topic::OutOfMemory, "src/cli/survey/file.rs", "stores its findings"),
    (Topic::OutOfMemory, "src/cli/insights.rs", "comes first after an OOM"),
    (Topic::OutOfMemory, "src/ui/features/insights.rs", "opens after an OOM"),
    (Topic::Savings, "src/ui/features/plan.rs", "has the plan below it"),
    (Topic::Peak, "src/cli/insight_command.rs", "has no command, because `peak` is another one"),
    (Topic::Peak, "src/cli/lib.rs", "had the command `report`"),
    (Topic::Leaks, "src/cli/insights.rs", "names the leaks of other devices"),
    (Topic::Leaks, "src/ui/features/insights/alarm.rs", "opens when a leak is found"),
    (Topic::Categories, "src/ui/features/insights.rs", "is requested while rules are edited"),
    (Topic::Categories, "src/ui/features/insights/view.rs", "shows the effect of edited rules"),
    (Topic::Fragmentation, "src/cli/insight_command.rs", "has the argument --stranded"),
    (Topic::Settings, "src/page/panels/what_if.rs", "has the simulator below it"),
    (Topic::Settings, "src/ui/features/what_if.rs", "has the simulator below it"),
    (Topic::Steps, "src/cli/live.rs", "contains Mosaic's peak"),
    (Topic::Range, "src/cli/insight_command.rs", "has the arguments --from and --to"),
    (Topic::Range, "src/ui/features/insights.rs", "opens when a range is selected"),
];

#[test]
fn new_insight_needs_files_listed_in_contributing() {
    let [module, row] = ["src/engine/report/mod.rs", "src/protocol/topic.rs"];
    let listed = listed("A new insight", 3);
    assert_eq!(listed, ["src/engine/report/NAME.rs", module, row].map(str::to_owned).into());
    let read = |path: &str| fs::read_to_string(root().join(path));
    let [modules, rows] = [module, row].map(|path| read(path).unwrap());
    for topic in Topic::ALL {
        let (name, variant) = (topic.name(), format!("{topic:?}"));
        let times = |text: &str, part: &str| text.lines().filter(|line| line.trim().contains(part)).count();
        assert_eq!(times(&modules, &format!("mod {name};")), 1, "{name}");
        assert_eq!(times(&rows, &format!("{name}: {variant}, \"")), 1, "{name}");
        let files = [format!("src/engine/report/{name}.rs"), format!("src/engine/report/{name}/mod.rs")];
        let insight: Vec<String> = files.iter().filter_map(|file| read(file).ok()).collect();
        assert_eq!(insight.len(), 1, "{name} has its own file or folder");
        assert!(insight[0].contains(&format!("impl Insight for {variant} {{")), "{name}");
        let special = SPECIAL_INSIGHTS.iter().filter(|(special, ..)| *special == topic);
        let special: BTreeSet<String> = special.map(|(_, file, _)| (*file).to_owned()).collect();
        let named = [")", ",", ";", " ", "\n"].map(|end| format!("Topic::{variant}{end}"));
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        assert_eq!(naming(&named, &["protocol/topic.rs"]), special, "{name}");
    }
}

#[test]
fn new_tab_needs_files_listed_in_contributing() {
    let mut listed = registries(listed("A new tab", 6));
    assert!(listed.remove("index.html"));
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    assert!(html.contains("id=\"tab-segments\"") && html.contains("aria-labelledby=\"tab-segments\""));
    // An existing tab that only its own feature and panels treat specially.
    let own = ["features/segments", "panels/segments"];
    let names = ["Tab::Segments", "SegmentsAction", "start_part::<segments", "segments::FEATURE"];
    // The terminal does not need every tab.
    let others = ["src/engine/", "src/tui/"];
    let is_other = |path: &String| others.iter().any(|other| path.starts_with(other));
    let found = naming(&names, &own).into_iter().filter(|path| !is_other(path)).collect();
    assert_eq!(listed, found);
}

/// Returns the words in a text that follow `before` and end at `after`.
fn words_between<'a>(text: &'a str, before: &str, after: char) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| Some(rest.split_once(after)?.0)).collect()
}

/// Files that do something special for a column of allocations, and what.
const SPECIAL_COLUMNS: &[(TableColumn, &str, &str)] = &[
    (TableColumn::Id, "src/ui/features/table.rs", "follows the last column when the sort column is changed by key"),
    (TableColumn::Size, "src/page/panels/table_mini.rs", "has a histogram"),
    (TableColumn::Size, "src/ui/features/table/grid.rs", "has a sign in a comparison of two moments"),
    (TableColumn::CallSite, "src/engine/table/order.rs", "needs the ranks of all frames"),
    (TableColumn::CallSite, "src/engine/table/rows.rs", "is the last field of copied text"),
    (TableColumn::CallSite, "src/tui/views/grid.rs", "takes the remaining width"),
    (TableColumn::CallSite, "src/ui/features/table/grid.rs", "is shortened at its beginning"),
    (TableColumn::Lifetime, "src/page/panels/table_mini.rs", "has a histogram"),
    (TableColumn::Lifetime, "src/tui/views/grid.rs", "is the last column that existed when the others were ordered"),
];

/// Columns that the terminal hides on narrow screens.
const HIDDEN_IN_TERMINAL: &[TableColumn] = &[
    TableColumn::Stream,
    TableColumn::Pool,
    TableColumn::Freed,
    TableColumn::Address,
    TableColumn::Age,
    TableColumn::Allocated,
];

#[test]
fn new_table_column_needs_file_listed_in_contributing() {
    let path = "src/protocol/allocation_columns.rs";
    assert_eq!(listed("A new table column", 1), BTreeSet::from([path.to_owned()]));
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (allocations, others) = (read(path), read("src/engine/tables/columns.rs"));
    let lines = allocations.lines().map(str::trim).filter_map(|line| line.strip_prefix('"')?.split_once("\": "));
    let mut columns: BTreeSet<&str> = lines.map(|(name, _)| name).collect();
    let count = columns.len();
    columns.extend(words_between(&others, "    column(\"", '"'));
    assert!(count >= 19 && others.matches(": &[Column] = &[").count() == 5 && columns.len() > 30, "{columns:?}");
    // Files that write or show all columns list none, except that exports keep two former names.
    let writers = [
        "cli/parquet_output.rs",
        "engine/table/order.rs",
        "engine/table/rows.rs",
        "exports/rows.rs",
        "exports/tables.rs",
        "page/panels/table.rs",
        "sql/rows.rs",
        "sql/tables/between.rs",
        "sql/tables/device.rs",
        "sql/tables/frame.rs",
        "tui/views/grid.rs",
    ];
    let sources = rust_files("src");
    for writer in writers {
        let source = sources.iter().find(|source| source.name == writer).expect(writer);
        for column in columns.iter().filter(|column| !["id", "position"].contains(column)) {
            assert!(!source.text.contains(&format!("\"{column}\"")), "{writer} lists {column}");
        }
    }
    for column in TableColumn::ALL {
        let texts = column.texts();
        let row =
            format!("{} {column:?} \"{}\" \"{}\" \"{}\";", column as usize, texts.link, texts.title, texts.tooltip);
        assert!(columns.contains(texts.key) && allocations.contains(&row), "{column:?} is not one row: {row}");
        let special = SPECIAL_COLUMNS.iter().filter(|(special, ..)| *special == column);
        let mut special: BTreeSet<String> = special.map(|(_, file, _)| (*file).to_owned()).collect();
        special.extend(HIDDEN_IN_TERMINAL.contains(&column).then(|| "src/tui/views/grid.rs".to_owned()));
        // The start address and the pool are fields of rows that are printed.
        let own = ["protocol/table.rs", "protocol/allocation_columns.rs"];
        let named = [")", ",", ";", " ", "\n", "."].map(|end| format!("TableColumn::{column:?}{end}"));
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        assert_eq!(naming(&named, &own), special, "{column:?}");
    }
}

#[test]
fn new_export_needs_files_listed_in_contributing() {
    let listed = registries(listed("A new export for another tool", 3));
    let text = fs::read_to_string(root().join("src/protocol/export.rs")).unwrap();
    let (_, variants) = text.split_once("pub enum ExportFormat {").unwrap();
    let variants = variants
        .split('}')
        .next()
        .unwrap()
        .split(',')
        .filter_map(|line| line.split('=').next()?.split_whitespace().last());
    let variants: Vec<&str> = variants.collect();
    assert!(variants.len() >= 8 && variants.contains(&"Speedscope"), "{variants:?}");
    for variant in variants {
        // CSV and JSON lines have one writer. The page also has a key for each.
        let own = ["exports/tables.rs", "ui/features/export/"];
        assert_eq!(naming(&[&format!("ExportFormat::{variant}")], &own), listed, "{variant}");
    }
}

#[test]
fn new_export_that_sql_writes_needs_files_listed_in_contributing() {
    let listed = registries(listed("A new export that SQL writes", 4));
    let modules = fs::read_to_string(root().join("src/sql/lib.rs")).unwrap();
    for file in SqlFile::ALL {
        assert_eq!(modules.matches(&format!("mod {};", file.name())).count(), 1, "{file:?}");
        // The command of the page names it too. The enum names itself in the rows of its contents.
        let found = naming(&[&format!("SqlFile::{file:?}")], &["ui/features/export/"]);
        assert_eq!(&found | &BTreeSet::from(["src/sql/lib.rs".to_owned()]), listed, "{file:?}");
    }
}

#[test]
fn new_option_of_saved_page_needs_files_listed_in_contributing() {
    assert_eq!(registries(listed("A new option of a saved page", 3)), naming(&["SavedPage {"], &[]));
    let fields = fs::read_to_string(root().join("src/ui/state/saved_page.rs")).unwrap();
    let attributes: Vec<&str> =
        words_between(&fields, "(\"", '"').into_iter().filter(|it| it.starts_with("data-")).collect();
    assert!(attributes.len() >= 2 && attributes.contains(&"data-rules"), "{attributes:?}");
    for attribute in attributes {
        assert_eq!(literals(attribute), [("ui/state/saved_page.rs".to_owned(), 1)], "{attribute}");
    }
}

#[test]
fn new_export_of_picture_needs_files_listed_in_contributing() {
    let mut listed = registries(listed("A new export of the picture", 3));
    assert!(listed.remove("index.html"));
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    assert!(html.contains("id=\"export-svg\""));
    // The command line draws the same picture.
    for one in ["Format::Svg", "Format::Png2"] {
        assert_eq!(naming(&[one], &["cli/plot.rs"]), listed, "{one}");
    }
}

/// Returns the files of the page's code that contain `text` as a string literal, with its count in each file.
fn literals(text: &str) -> Vec<(String, usize)> {
    let literal = format!("\"{text}\"");
    let sources = rust_files("src").into_iter().filter(|source| ["ui", "page"].contains(&source.crate_name()));
    let counts = sources.map(|source| (source.name.clone(), source.text.matches(&literal).count()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The title of a command is only in its row, so nothing else has to know the command.
#[test]
fn every_command_is_one_row() {
    assert_eq!(
        listed("A new command", 2),
        BTreeSet::from(["src/ui/shell/commands/NAME.rs", "index.html"].map(str::to_owned))
    );
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    let all: Vec<_> = memscape::ui::shell::commands::all().collect();
    assert!(all.len() > 180, "{} commands", all.len());
    for command in &all {
        let rows = literals(command.title);
        let is_table = |name: &str| {
            let is_list = ["ui/text/tab.rs", "ui/state/picture_file.rs"].contains(&name);
            is_list
                || name.starts_with("ui/shell/commands/")
                || name.starts_with("ui/features/") && name.ends_with("/commands.rs")
        };
        assert!(rows.iter().all(|(name, _)| is_table(name)), "{command:?} is named in {rows:?}");
        // The rows that no list shows are variants of a listed one.
        let variants = if command.title.ends_with("match") { 2 } else { 1 };
        let same = all.iter().filter(|other| other.title == command.title).count();
        let count: usize = rows.iter().map(|(_, count)| count).sum();
        assert!(same <= count && count <= same * variants, "{command:?}: {rows:?}");
        assert!(html.contains(&format!(" id=\"{}\"", command.control)), "index.html has no {}", command.control);
    }
}

/// The name and the control of a setting are only in its row.
#[test]
fn every_setting_is_one_row() {
    let data = "src/ui/state/settings.rs";
    assert_eq!(listed("A new setting", 2), BTreeSet::from([data, "index.html"].map(str::to_owned)));
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    for setting in memscape::ui::state::settings::SETTINGS {
        let rows = literals(setting.control);
        assert!(rows.iter().all(|(name, _)| format!("src/{name}") == data), "{} is named in {rows:?}", setting.control);
        assert!(html.contains(&format!(" id=\"{}\"", setting.control)), "index.html has no {}", setting.control);
    }
}
