//! Opens the snapshots that SQL queries read.

use crate::input::Input;
use crate::kept_file::{self, OpenedFile};
use crate::opening::open_first;
use crate::output::print_stderr;
use crate::rules::CategoryRules;
use crate::serve::{ALL_ENTRIES, Search, search};
use base::natural::compare_names;
use compare::ranks::parse_names_with;
use engine::Side;
use protocol::{CategorySet, FileSummary};
use sql::{FileLabel, SideProvider, Source};
use std::path::Path;

/// An open file. When dropped, a file that stays open between requests is returned to `kept_file`.
struct OpenSource(OpenedFile);

impl SideProvider for OpenSource {
    fn side_of(&self, device: i64) -> Option<Side<'_>> {
        self.0.side(device)
    }
}

/// Summary of an opened file and access to its tables, or an error message.
type OpenResult = Result<(FileSummary, Box<dyn SideProvider>), String>;

/// Opens the file, or all snapshots in a folder, and `with`, an optional second file to compare with.
pub(super) fn open(file: &Path, with: Option<&Path>, rules: &CategoryRules) -> Result<Source, String> {
    let rules = rules.read()?;
    let opened = |path: &Path| open_file(path, rules.as_ref());
    let mut source = Source::default();
    if let Some(with) = with {
        for (side, path) in [("A", file), ("B", with)] {
            let (summary, held) = opened(path)?;
            source.add(FileLabel { side: Some(side), rank: None }, summary, held);
        }
    } else if file.is_dir() {
        add_ranks(&mut source, file, &opened)?;
    } else {
        let (summary, held) = opened(file)?;
        source.add(FileLabel::default(), summary, held);
    }
    Ok(source)
}

/// Opens all snapshots in a folder and adds them as ranks. Prints a warning for each that cannot be read.
fn add_ranks(source: &mut Source, folder: &Path, opened: &dyn Fn(&Path) -> OpenResult) -> Result<(), String> {
    let Search { snapshots: mut found, not_searched } = search(&[folder], ALL_ENTRIES);
    not_searched.iter().for_each(|sentence| print_stderr(sentence));
    found.sort_by(|a, b| compare_names(&a.name, &b.name).then_with(|| a.path.cmp(&b.path)));
    let names: Vec<&str> = found.iter().map(|snapshot| &*snapshot.name).collect();
    let (parsed_names, _) = parse_names_with(&names, None);
    let mut ranks: Vec<(Option<u32>, &Path)> =
        parsed_names.iter().zip(&found).map(|(named, snapshot)| (named.rank, &*snapshot.path)).collect();
    // Stable sort: files stay ordered by name, and files without a rank come last, as in `memscape ranks`.
    ranks.sort_by_key(|&(rank, _)| (rank.is_none(), rank));
    let mut is_empty = true;
    for (rank, path) in ranks {
        match opened(path) {
            Ok((summary, held)) => {
                source.add(FileLabel { side: None, rank }, summary, held);
                is_empty = false;
            }
            Err(error) => print_stderr(&format!("left out: {error}")),
        }
    }
    if is_empty { Err(format!("{}: no snapshots found", folder.display())) } else { Ok(()) }
}

fn open_file(path: &Path, rules: Option<&CategorySet>) -> OpenResult {
    let named = |error: String| format!("{}: {error}", path.display());
    let (summary, mut engine) = match kept_file::take(path) {
        Some((summary, engine, _)) => (summary, engine),
        None => {
            let mut input = Input::open(path).map_err(|error| named(error.to_string()))?;
            open_first(&mut input, path).map_err(named)?
        }
    };
    rules.into_iter().for_each(|set| engine.classify(set.clone()));
    // Computes categories and reserved bytes of all devices, because queries may use any of them.
    for device in &summary.devices {
        engine.complete_side(device.device);
    }
    Ok((summary, Box::new(OpenSource(engine))))
}
