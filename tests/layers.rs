//! The house rules that a machine can check: who may use whom, how long files are, where `cfg` stands, that every id
//! the page names exists, that no JavaScript and no markup from strings creeps in.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the helpers of a test fail as it does, by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "circles.rs"]
mod circles;
#[path = "contributing.rs"]
mod contributing;
#[path = "plain_words.rs"]
mod plain_words;

/// The crates under `src`, in the order of the data.
const CRATES: &[&str] = &[
    "base",
    "history",
    "allocator",
    "analysis",
    "picture",
    "gpu",
    "protocol",
    "channel",
    "intake",
    "engine",
    "compare",
    "exports",
    "sqlite",
    "sql",
    "ui",
    "page",
    "tui",
    "cli",
];

/// Crates whose top-level modules have an order of their own.
const OF_LAYERS: &[&str] = &["base", "history", "picture"];

/// Every layer in the order of the data flow, and the layers that it may use. Cargo ensures that crates use only crates
/// below them. Do not extend an entry to make code compile: move code that two layers need to the lower layer.
const LAYERS: &[(&str, &[&str])] = &[
    ("base::out_of_line", &[]),
    ("base::later", &[]),
    ("base::units", &[]),
    ("base::heap", &[]),
    ("base::column", &["base::heap", "base::units"]),
    ("base::slice", &[]),
    ("base::escape", &[]),
    ("base::cores", &[]),
    ("base::listed", &[]),
    ("base::natural", &[]),
    ("base::sorted", &[]),
    ("history::container", &["base"]),
    ("history::pickle", &["base"]),
    ("history::json", &["base", "history::pickle::Builder"]),
    ("history::writing", &["base"]),
    ("history::recorder", &["base"]),
    ("history::python_path", &[]),
    ("history::snapshot", &["base", "history::pickle", "history::recorder"]),
    ("history::compact", &["base", "history::container::COLUMNS_MAGIC", "history::recorder", "history::snapshot"]),
    ("history::replay", &["base", "history::snapshot"]),
    ("allocator", &["base", "history::replay", "history::snapshot"]),
    (
        "analysis",
        &[
            "base",
            "history::json",
            "history::pickle::Builder",
            "history::python_path",
            "history::replay",
            "history::snapshot",
        ],
    ),
    ("picture::timeline", &["base", "history::replay"]),
    ("picture::outline", &[]),
    ("picture::shapes", &[]),
    ("picture::render", &["base", "picture::timeline"]),
    ("picture::svg", &["base", "picture::outline", "picture::render", "picture::shapes", "picture::timeline"]),
    ("gpu", &["picture"]),
    ("protocol", &["allocator", "analysis", "base", "history::replay", "history::snapshot", "picture::timeline"]),
    ("channel", &["protocol"]),
    ("yaml", &["analysis", "base", "channel"]),
    ("intake", &["base", "history", "protocol"]),
    (
        "engine",
        &[
            "allocator",
            "analysis",
            "base",
            "history::compact",
            "history::recorder",
            "history::replay",
            "history::snapshot",
            "history::writing",
            "intake",
            "picture::timeline",
            "protocol",
        ],
    ),
    (
        "compare",
        &["analysis", "base", "engine", "history::replay", "history::snapshot", "picture::timeline", "protocol"],
    ),
    ("exports", &["analysis", "base", "engine", "history::replay", "history::snapshot", "protocol"]),
    ("server", &[]),
    ("sqlite", &[]),
    ("sql", &["analysis", "base", "channel", "engine", "history::replay", "history::snapshot", "protocol", "sqlite"]),
    ("ui", &["base", "picture::outline", "picture::shapes", "picture::svg::Drawing", "picture::timeline", "protocol"]),
    ("page", &["base", "channel", "compare", "engine", "gpu", "picture", "protocol", "ui"]),
    ("tui", &["base", "compare", "engine", "picture", "protocol", "ui"]),
    (
        "cli",
        &[
            "base",
            "compare",
            "engine",
            "exports",
            "history::compact::WriteError",
            "history::container",
            "history::writing",
            "picture",
            "protocol",
            "sql",
            "tui",
            "ui",
            "yaml",
        ],
    ),
    ("simulator", &["allocator", "base", "channel", "protocol"]),
    ("surveyor", &["base", "channel", "compare", "engine", "exports", "protocol"]),
    ("pack", &["base"]),
];

/// The rooms of `ui`. Each may use only the rooms before it.
const UI_ROOMS: &[&str] = &["text", "state", "scope", "plot", "prefs", "session", "features", "shell"];

/// Where `cfg` on a feature or a target may stand, and why.
const CONDITIONAL: &[(&str, &str)] = &[
    ("channel/lib.rs", "there is no browser elsewhere"),
    ("page/lib.rs", "there is no browser elsewhere"),
    ("page/main.rs", "there is no browser elsewhere"),
    ("simulator/main.rs", "there is no browser elsewhere"),
    ("surveyor/main.rs", "there is no browser elsewhere"),
    ("sql/main.rs", "there is no browser elsewhere"),
    ("sqlite/lib.rs", "there SQLite is another one"),
    ("yaml/main.rs", "there is no browser elsewhere"),
    ("cli/serve/browser.rs", "what opens a browser"),
    ("engine/stranded/mod.rs", "the ledger is too large for the page"),
    ("lib.rs", "the WebGPU renderer is optional"),
];

/// Maximum number of lines of source files, and of tests.
const MAX_FILE_LINES: [usize; 2] = [300, 600];

#[test]
fn modules_use_only_lower_layers() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.name.ends_with("lib.rs") && source.name != "main.rs") {
        let layer = source.layer();
        let (_, allowed) = LAYERS
            .iter()
            .find(|(name, _)| *name == layer)
            .unwrap_or_else(|| panic!("{layer} is a new layer: add an entry to LAYERS"));
        for used in used_paths(source.crate_name(), &source.code()) {
            let within = |path: &str| used == path || used.starts_with(&format!("{path}::"));
            if !within(&layer) && !allowed.iter().any(|path| within(path)) {
                wrong.push(format!("{} uses {used}", source.name));
            }
        }
        if source.code().contains("super::super") {
            wrong.push(format!("{} climbs by super::super; say crate::", source.name));
        }
    }
    assert!(wrong.is_empty(), "not allowed by LAYERS: {wrong:#?}");
}

#[test]
fn rooms_of_ui_use_only_rooms_before_them() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.crate_name() == "ui" && source.name != "ui/lib.rs") {
        let room_of = |path: &str| UI_ROOMS.iter().position(|room| path.split(['/', ':', '.']).next() == Some(room));
        let room = room_of(&source.name["ui/".len()..]);
        let room = room.unwrap_or_else(|| panic!("{} is in no room of UI_ROOMS", source.name));
        for used in used_paths("ui", &source.code()).iter().filter_map(|path| path.strip_prefix("ui::")) {
            // A name that `lib.rs` exports stands in a later room as well.
            if room_of(used).is_none_or(|used| used > room) {
                wrong.push(format!("{} uses {used}", source.name));
            }
        }
    }
    assert!(wrong.is_empty(), "not in the order of UI_ROOMS: {wrong:#?}");
}

/// A feature gets `&Shared` and returns intents, so that its signatures say what it changes. One function carries the
/// intents out.
#[test]
fn features_of_ui_do_not_change_shared_state() {
    let naming = |text: &str, folder: &str| -> Vec<String> {
        let sources = sources().into_iter().filter(|source| source.name.starts_with(folder));
        sources.filter(|source| source.code().contains(text)).map(|source| source.name).collect()
    };
    assert!(naming("impl Shared {", "ui/").len() <= 2, "{:?}", naming("impl Shared {", "ui/"));
    let mut found = naming("&mut Shared", "ui/features");
    found.sort();
    assert_eq!(found, ["ui/features.rs", "ui/features/intents.rs"]);
    let manifest = fs::read_to_string(root().join("src/ui/Cargo.toml")).unwrap();
    let names = |name: &str| manifest.lines().any(|line| line.starts_with(&format!("{name}.")));
    assert!(names("protocol") && !names("engine"), "{manifest}");
}

#[test]
fn layers_exist_and_are_listed_after_those_they_use() {
    let layers = sources().iter().map(Source::layer).collect::<BTreeSet<_>>();
    for (at, (name, allowed)) in LAYERS.iter().enumerate() {
        assert!(layers.contains(*name), "there is no {name}");
        for path in *allowed {
            let is_below = LAYERS[..at].iter().any(|(below, _)| {
                path == below || path.starts_with(&format!("{below}::")) || below.starts_with(&format!("{path}::"))
            });
            assert!(is_below, "{name} uses {path}, which is not below it");
        }
    }
}

#[test]
fn files_are_short_and_start_with_doc_comment() {
    let banned = ["util", "utils", "common", "helper", "helpers", "misc", "types", "core", "lib"];
    let files = ["src", "tests"].map(rust_files).into_iter().zip(MAX_FILE_LINES);
    for (file, most) in files.flat_map(|(files, most)| files.into_iter().map(move |file| (file, most))) {
        let lines = file.text.lines().count();
        assert!(lines <= most, "{} has {lines} lines; cut it where its jobs part", file.name);
        assert!(file.text.starts_with("//!"), "{}: the first line says the file's one job", file.name);
        let parts = Path::new(&file.name).with_extension("");
        let vague = parts.iter().find(|part| banned.iter().any(|name| part.to_str() == Some(*name)));
        assert!(vague.is_none() || file.name.ends_with("lib.rs"), "{}: a name that says nothing", file.name);
    }
}

#[test]
fn files_named_in_comments_exist() {
    let mut missing = Vec::new();
    for source in sources().iter().chain(&rust_files("tests")) {
        let is_path = |letter: char| letter.is_alphanumeric() || "/_.".contains(letter);
        for path in source.text.split(|letter| !is_path(letter)).map(|path| path.trim_end_matches('.')) {
            let is_file = path.starts_with("src/") && path.ends_with(".rs") && !path.contains("NAME");
            if is_file && !root().join(path).exists() {
                missing.push(format!("{} names {path}", source.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn cfg_conditions_are_only_in_listed_files() {
    for source in sources() {
        let conditional = source.code().lines().any(|line| {
            let condition = ["cfg(", "cfg_attr(", "cfg!("].iter().any(|start| line.contains(start));
            condition && ["feature", "target"].iter().any(|word| line.contains(word))
        });
        let expected = CONDITIONAL.iter().any(|(name, _)| *name == source.name);
        assert!(!conditional || expected, "{}: cfg on a feature or target belongs to {CONDITIONAL:#?}", source.name);
    }
}

#[test]
fn text_is_never_inserted_as_markup_or_script() {
    let ways =
        ["innerHTML", "inner_html", "outerHTML", "outer_html", "insert_adjacent_html", "js_sys::eval", "inline_js"];
    for source in sources() {
        // What is read of the document, to be saved, enters nothing.
        let code = source.code().replace("delivered.outer_html()", "");
        let found = ways.iter().find(|way| code.contains(**way));
        assert!(found.is_none(), "{}: {found:?}; a file's text enters the page by textContent only", source.name);
    }
}

/// Scripts that are written by hand, because the platform takes no other language, with their maximum number of lines.
const SCRIPTS: [(&str, usize); 4] = [
    ("www/offline.js", 60),
    ("src/pack/npm/viewer.js", 60),
    ("src/pack/npm/viewer.d.ts", 45),
    ("src/vscode/extension.ts", 150),
];

/// Files of the command line that may create files: outputs, temporary files and folders, and the cache.
const WRITERS: [&str; 5] =
    ["cli/output_file.rs", "cli/temporary_file.rs", "cli/attach/request.rs", "cli/cache/folder.rs", "cli/build.rs"];

#[test]
fn commands_write_files_only_through_output_file() {
    for source in sources().iter().filter(|source| source.name.starts_with("cli/")) {
        if WRITERS.contains(&source.name.as_str()) {
            continue;
        }
        let code = source.code();
        for way in
            ["File::create", "fs::write", "File::options", "OpenOptions", "fs::rename", "fs::copy", "generate_to"]
        {
            assert!(!code.contains(way), "{} uses {way}: take an OutputFile", source.name);
        }
    }
}

/// rustfmt does not wrap comments.
#[test]
fn comments_are_at_most_120_characters_wide() {
    for file in sources().into_iter().chain(rust_files("tests")) {
        let is_wide = |line: &&str| line.trim_start().starts_with("//") && line.chars().count() > 120;
        let wide: Vec<&str> = file.text.lines().filter(is_wide).collect();
        assert!(wide.is_empty(), "{}: {wide:#?}", file.name);
    }
}

#[test]
fn handwritten_scripts_are_few_and_short() {
    for folder in ["src", "www", "tests"] {
        for file in files(&root().join(folder)) {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if ["js", "mjs", "cjs", "ts"].contains(&ending) {
                let script = SCRIPTS.iter().find(|(name, _)| file.ends_with(name));
                let (_, most) = script.unwrap_or_else(|| panic!("{} is hand-written JavaScript", file.display()));
                let lines = fs::read_to_string(&file).unwrap().lines().count();
                assert!(lines <= *most, "{} has {lines} lines, at most {most} are allowed", file.display());
            }
        }
    }
}

#[test]
fn order_and_colour_pickers_list_all_groupings() {
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    for (picker, first) in [("stacking", &["birth"][..]), ("colouring", &[])] {
        let (_, rest) = html.split_once(&format!("<select id=\"{picker}\"")).unwrap_or_default();
        let (options, _) = rest.split_once("</select>").unwrap_or_default();
        let initial_range = quoted_after(options, "<option value=\"").into_iter().collect::<BTreeSet<_>>();
        let known = memscape::protocol::Grouping::ALL.map(|grouping| grouping.name());
        let known = known.iter().chain(first).map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(initial_range, known, "{picker}");
    }
}

#[test]
fn page_code_and_index_html_use_same_ids() {
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    let mut ids = BTreeSet::new();
    for id in quoted_after(&html, " id=\"") {
        assert!(ids.insert(id.clone()), "index.html has the id {id} twice");
    }
    // What the skeleton itself refers to: labels, descriptions, links inside the page.
    let mut used = BTreeSet::new();
    let references = [
        " for=\"",
        "aria-labelledby=\"",
        "aria-describedby=\"",
        "aria-controls=\"",
        " list=\"",
        " form=\"",
        "popovertarget=\"",
    ];
    for names in references.iter().flat_map(|attribute| quoted_after(&html, attribute)) {
        used.extend(names.split_whitespace().map(str::to_owned));
    }
    used.extend(quoted_after(&html, " href=\"#"));
    for id in &used {
        assert!(ids.contains(id), "index.html refers to an id {id} that it does not have");
    }
    for command in memscape::ui::shell::commands::all() {
        let has_heading = memscape::ui::state::binding::KeyScope::all().any(|(scope, _)| scope == command.scope);
        assert!(has_heading, "the list of keys has no heading for {:?}", command.scope);
        assert!(
            ids.contains(command.control),
            "{} is to be the control of a key, but is not in index.html",
            command.control
        );
        used.insert(command.control.to_owned());
    }
    for group in memscape::ui::text::tab::TabGroup::ALL {
        used.extend([Some(group.control()), group.toggle()].into_iter().flatten().map(str::to_owned));
    }
    let mut literals = BTreeSet::new();
    for source in sources().iter().filter(|source| source.crate_name() == "page") {
        literals.extend(quoted_after(&source.code(), "\""));
        for id in elements(&source.code()) {
            assert!(ids.contains(&id), "{} works on an element {id} that index.html does not have", source.name);
            literals.insert(id);
        }
        for call in ["by_id(\"", "focus_on(\"", "select(\""] {
            // Parts are what `pack/main.rs` and `cli/html.rs` put into a page in one file.
            for id in quoted_after(&source.code(), call).into_iter().filter(|id| !id.starts_with("part-")) {
                assert!(ids.contains(&id), "{} looks for an id {id} that index.html does not have", source.name);
            }
        }
    }
    let sheets = ["style", "views", "insights", "sql", "narrow", "dialogs"].map(|name| format!("www/{name}.css"));
    let style: String = sheets.iter().filter_map(|name| fs::read_to_string(root().join(name)).ok()).collect();
    for id in ids {
        let known = used.contains(&id) || literals.contains(&id) || style.contains(&format!("#{id}"));
        assert!(known, "nothing uses the id {id} of index.html");
    }
}

/// The ids of the elements that a part of the page names in `elements! { Kind: one, another_one; }`.
fn elements(code: &str) -> Vec<String> {
    let Some((_, block)) = code.split_once("\nelements! {\n") else { return Vec::new() };
    let kinds = block.split("\n}").next().unwrap().split(';').filter_map(|kind| kind.split_once(':'));
    kinds.flat_map(|(_, names)| names.split(',')).map(|name| name.trim().replace('_', "-")).collect()
}

/// Types, and functions that take more than one argument or can fail, have a doc comment. Other functions may be clear
/// from their names and types.
#[test]
fn public_items_are_documented() {
    let kinds = ["fn ", "const fn ", "struct ", "enum ", "trait "];
    for source in sources() {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(item) = line.strip_prefix("pub ") else { continue };
            let above = lines[..at].iter().rev().find(|above| !above.starts_with("#[")).copied().unwrap_or_default();
            // Items in a macro are documented by its caller.
            let is_item = !item.contains('$') && kinds.iter().any(|kind| item.starts_with(kind));
            let is_type = !item.contains("fn ");
            // The signature, which may go on for some lines.
            let signature =
                lines[at..].iter().take_while(|line| !line.is_empty()).take(12).copied().collect::<Vec<_>>().join(" ");
            let signature = signature.split('{').next().unwrap_or_default();
            let arguments = signature.split("->").next().unwrap_or_default().matches(": ").count();
            let can_fail = signature.contains("-> Result") || signature.contains("-> io::Result");
            let needs_words = is_item && (is_type || arguments > 1 || can_fail);
            assert!(
                !needs_words || above.starts_with("///") || above.ends_with(")]"),
                "{}:{}: {line}",
                source.name,
                at + 1
            );
        }
    }
}

/// One Rust file; its name is relative to `src` (or to the folder that was asked for), with `/`.
struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Name of the crate that contains the file.
    fn crate_name(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    /// The file's crate, with the top-level module if the crate is one of [`OF_LAYERS`].
    fn layer(&self) -> String {
        let mut parts = self.name.split('/');
        let crate_name = parts.next().unwrap();
        match parts.next().filter(|_| OF_LAYERS.contains(&crate_name)) {
            Some(module) => format!("{crate_name}::{}", module.trim_end_matches(".rs")),
            None => crate_name.to_owned(),
        }
    }

    /// The text without comments. An address in a string (`http://…`) is no comment.
    fn code(&self) -> String {
        let code = |line: &str| {
            let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':')).map(|(at, _)| at);
            line[..comment.unwrap_or(line.len())].to_owned()
        };
        self.text.lines().map(code).collect::<Vec<_>>().join("\n")
    }
}

/// The paths of our crates that this code of the crate `room` names, by `crate::`, a crate's name or a `use` of either.
fn used_paths(room: &str, code: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for start in CRATES.iter().chain(&["crate"]) {
        let crate_name = if *start == "crate" { room } else { start };
        for (at, _) in code.match_indices(&format!("{start}::")) {
            // `some_crate::` is another one, `module::ui::` a module; `::ui` is the crate.
            let before = code[..at].trim_end_matches("::");
            let is_part = before.chars().next_back().is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '$');
            if !is_part || code[..at].ends_with(' ') {
                collect_paths(crate_name, &code[at + start.len() + 2..], &mut paths);
            }
        }
    }
    paths
}

/// Follows `a::b`, `a::{b, c::d}` from the start of `code`, and adds each path with `prefix` before it. Returns the
/// rest of `code`.
fn collect_paths<'a>(prefix: &str, code: &'a str, paths: &mut BTreeSet<String>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut group) = code.strip_prefix('{') {
        while !group.trim_start().is_empty() && !group.trim_start().starts_with('}') {
            let rest = collect_paths(prefix, group, paths);
            // Skips what ends a path, such as `,` or `as name`, but not the group's end.
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            group = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
        }
        return group.trim_start().strip_prefix('}').unwrap_or("");
    }
    let end = code.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(code.len());
    let path = if prefix.is_empty() { code[..end].to_owned() } else { format!("{prefix}::{}", &code[..end]) };
    match code[end..].strip_prefix("::") {
        Some(rest) => collect_paths(&path, rest, paths),
        None => {
            paths.insert(path.trim_end_matches("::").to_owned());
            &code[end..]
        }
    }
}

#[test]
fn use_paths_are_found_in_every_form() {
    let code = "use crate::{column::Column, sorted};\nuse history::{replay::{History, Peak}, Loader as E};\nlet x = base::units::Bytes(1);";
    let found: Vec<String> = used_paths("base", code).into_iter().collect();
    let expected = [
        "base::column::Column",
        "base::sorted",
        "base::units::Bytes",
        "history::Loader",
        "history::replay::History",
        "history::replay::Peak",
    ];
    assert_eq!(found, expected);
    assert!(used_paths("ui", "$crate::x other_crate::y my_engine::z super::engine::w").is_empty());
}

/// Every text that stands between `start` and the next quote.
fn quoted_after(text: &str, start: &str) -> Vec<String> {
    text.match_indices(start)
        .filter_map(|(at, _)| text[at + start.len()..].split('"').next())
        .map(str::to_owned)
        .collect()
}

fn sources() -> Vec<Source> {
    rust_files("src")
}

fn rust_files(folder: &str) -> Vec<Source> {
    let folder = root().join(folder);
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    let read = |path: PathBuf| Source {
        name: path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/"),
        text: fs::read_to_string(&path).unwrap(),
    };
    files(&folder).into_iter().filter(is_rust).map(read).collect()
}

/// All files under a folder; none where it is missing.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
