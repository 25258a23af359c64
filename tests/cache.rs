//! The command line's cache of decoded snapshots: output never changes, and stale entries are never used.

use crate::generate;
use crate::opened::snapshots;
use crate::packed::{gzip, zstd};
use crate::zip::zip_of;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// An empty folder for one test, with a cache in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// Writes a file with a modification time one hour ago.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        set_old_mtime(&path);
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(words).arg("--cache-folder").arg(self.cache()).args(["--cache-least", "0"]);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn entries(&self) -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(self.cache()).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries
    }
}

fn set_old_mtime(path: &Path) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn generated(words: &str) -> Vec<u8> {
    let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    generate::generate(&options, Vec::new()).unwrap().0
}

/// Commands that are run on each file.
const COMMANDS: &[&[&str]] = &[
    &["summary", "--json"],
    &["insights", "--json"],
    &["live", "--json"],
    &["peak", "--json", "--by", "tree"],
    &["events", "--json"],
    &["segments", "--json", "--blocks"],
    &["whatif", "--json"],
    &["sql", "--json", "select count(*), sum(size) from allocations"],
    &["convert", "-o", "-", "--to", "json"],
];

/// Compares the output of all commands with and without the cache. Returns whether anything was cached.
fn compare(folder: &Folder, file: &Path) -> bool {
    let _ = fs::remove_dir_all(folder.cache());
    let path = file.to_str().unwrap();
    for words in COMMANDS {
        let words = [&[words[0], path], &words[1..]].concat();
        let without = folder.run(&[&*words, &["--no-cache"]].concat());
        // The first run writes the entry.
        for _ in 0..if folder.entries().is_empty() { 2 } else { 1 } {
            assert_eq!(outcome(&folder.run(&words)), outcome(&without), "{words:?}");
        }
    }
    !folder.entries().is_empty()
}

#[test]
fn cached_and_uncached_output_of_real_files_are_equal() {
    let Some(snapshots) = snapshots() else { return };
    let folder = Folder::new("real");
    let mut files: Vec<_> = fs::read_dir(snapshots).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pickle"));
    files.sort();
    let mut kept = 0;
    for file in &files {
        let bytes = fs::read(file).unwrap();
        kept += usize::from(compare(&folder, &folder.file("a.pickle", &bytes)));
    }
    assert!(kept * 10 >= files.len() * 9, "{kept} of {} are kept", files.len());
}

#[test]
fn cached_and_uncached_output_of_all_formats_are_equal() {
    let folder = Folder::new("forms");
    let pickle = generated("--example");
    assert!(compare(&folder, &folder.file("a.pickle.gz", &gzip(&pickle))));
    assert!(compare(&folder, &folder.file("a.pickle.zst", &zstd(&pickle))));
    assert!(compare(&folder, &folder.file("a.zip", &zip_of(&[("a.pickle", &pickle)]))));
    let two = zip_of(&[("a.pickle", &pickle), ("b.pickle", &pickle)]);
    assert!(!compare(&folder, &folder.file("two.zip", &two)), "members of an archive are not cached");
    let columns = folder.0.join("a.columns");
    let to = folder.run(&["convert", folder.0.join("a.pickle.gz").to_str().unwrap(), "-o", columns.to_str().unwrap()]);
    assert!(to.status.success(), "{:?}", outcome(&to));
    set_old_mtime(&columns);
    assert!(!compare(&folder, &columns), "columns are not cached");
    assert!(!compare(&folder, &folder.file("broken.pickle", &pickle[..pickle.len() / 2])));
}

#[test]
fn second_run_reads_cache() {
    let folder = Folder::new("reads");
    let file = folder.file("a.pickle", &generated("--events 3000"));
    let path = file.to_str().unwrap();
    let without = outcome(&folder.run(&["summary", path, "--json", "--no-cache"]));
    assert!(folder.entries().is_empty(), "--no-cache writes no entry");
    assert_eq!(outcome(&folder.run(&["summary", path, "--json", "--load-last", "2000"])).0, Some(0));
    assert!(folder.entries().is_empty(), "a partial load writes no entry");
    assert_eq!(outcome(&folder.run(&["ranks", path, "--json"])).0, Some(0));
    assert!(folder.entries().is_empty(), "several files write no entry");
    assert_eq!(outcome(&folder.run(&["summary", path, "--json"])), without);
    let [entry] = &*folder.entries() else { panic!("{:?}", folder.entries()) };
    // A replaced entry shows which commands read it.
    let other = folder.file("b.pickle", &generated("--events 5000"));
    let of_other = outcome(&folder.run(&["live", other.to_str().unwrap(), "--json"]));
    let entries = folder.entries();
    let entry_of_other = entries.iter().find(|other| *other != entry).unwrap();
    fs::copy(entry_of_other, entry).unwrap();
    let renamed =
        |(status, text, error): (Option<i32>, String, String)| (status, text.replace("b.pickle", "a.pickle"), error);
    assert_eq!(outcome(&folder.run(&["live", path, "--json"])), renamed(of_other));
    assert_eq!(outcome(&folder.run(&["summary", path, "--json", "--no-cache"])), without);
    let mut pipe = folder.command(&["summary", "-", "--json"]);
    let piped = pipe.stdin(File::open(&other).unwrap()).output().unwrap();
    assert!(outcome(&piped).1.contains(r#""file": "-""#));
    assert_eq!(folder.entries().len(), 2, "standard input is not cached");
}

#[test]
fn changed_file_is_read_again() {
    let folder = Folder::new("changed");
    let [one, other] = ["--events 3000 --seed 1", "--events 3000 --seed 2"].map(generated);
    let file = folder.file("a.pickle", &one);
    let asked = ["summary", file.to_str().unwrap(), "--json"];
    let of_one = outcome(&folder.run(&asked));
    let of_other = {
        folder.file("a.pickle", &other);
        outcome(&folder.run(&[&asked[..], &["--no-cache"]].concat()))
    };
    assert_ne!(of_one, of_other);
    assert_eq!(outcome(&folder.run(&asked)), of_other);
    let as_before = fs::metadata(&file).unwrap().modified().unwrap();
    // Changed in place, with the same length and modification time.
    let byte =
        one.windows(9).position(|bytes| bytes == b"python3.1").or(one.windows(3).position(|bytes| bytes == b".py"));
    let mut changed = other.clone();
    let at = byte.filter(|&at| at < changed.len()).unwrap_or(changed.len() / 2);
    changed[at] = changed[at].wrapping_add(1);
    fs::write(&file, &changed).unwrap();
    File::options().append(true).open(&file).unwrap().set_modified(as_before).unwrap();
    let without = outcome(&folder.run(&[&asked[..], &["--no-cache"]].concat()));
    assert_eq!(outcome(&folder.run(&asked)), without);
    // A file changed just now may change again within the same timestamp.
    fs::write(&file, &one).unwrap();
    let entries = folder.entries();
    assert_eq!(outcome(&folder.run(&asked)), of_one);
    assert_eq!(folder.entries(), entries);
}

#[test]
fn damaged_entry_is_replaced() {
    let folder = Folder::new("damaged");
    let file = folder.file("a.pickle", &generated("--events 3000"));
    let asked = ["insights", file.to_str().unwrap(), "--json"];
    let answer = outcome(&folder.run(&asked));
    let entry = folder.entries().remove(0);
    let whole = fs::read(&entry).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    for bytes in [
        vec![],
        whole[..whole.len() / 2].to_vec(),
        flipped(3),
        flipped(20),
        flipped(whole.len() - 9),
        [&*whole, b"x"].concat(),
    ] {
        fs::write(&entry, bytes).unwrap();
        assert_eq!(outcome(&folder.run(&asked)), answer);
        assert!(fs::read(&entry).unwrap() == whole, "the entry is rewritten");
    }
}

#[test]
fn least_recently_used_entry_is_evicted() {
    let folder = Folder::new("room");
    let files: Vec<PathBuf> = (1..4)
        .map(|seed| folder.file(&format!("{seed}.pickle"), &generated(&format!("--events 3000 --seed {seed}"))))
        .collect();
    let ask = |file: &Path, most: u64| {
        let most = most.to_string();
        let output = folder.run(&["summary", file.to_str().unwrap(), "--json", "--cache-most", &most]);
        assert_eq!(output.status.code(), Some(0));
    };
    ask(&files[0], 1 << 20);
    let first = folder.entries().remove(0);
    let bytes = fs::metadata(&first).unwrap().len();
    ask(&files[1], 1 << 20);
    let users = ["cache/allocations.columns", "cache/notes.part"].map(|name| folder.file(name, &[0; 100]));
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    File::options().append(true).open(&users[1]).unwrap().set_modified(two_days_ago).unwrap();
    // The first was used longer ago than the second.
    set_old_mtime(&first);
    ask(&files[2], bytes * 5 / 2);
    assert!(users.iter().all(|file| file.exists()), "files of the user are kept");
    assert_eq!(folder.entries().len(), 2 + users.len());
    assert!(!first.exists());
    ask(&files[0], bytes / 2);
    assert_eq!(folder.entries().len(), 2 + users.len(), "an entry larger than the limit is not cached");
}

#[test]
fn concurrent_processes_share_cache() {
    let folder = Folder::new("several");
    let files: Vec<PathBuf> = (1..3)
        .map(|seed| folder.file(&format!("{seed}.pickle"), &generated(&format!("--events 3000 --seed {seed}"))))
        .collect();
    let asked = |file: &Path| ["summary".to_owned(), file.to_str().unwrap().to_owned(), "--json".to_owned()];
    let answers: Vec<_> = files
        .iter()
        .map(|file| outcome(&folder.run(&[&asked(file).each_ref().map(String::as_str)[..], &["--no-cache"]].concat())))
        .collect();
    for _ in 0..3 {
        let started: Vec<_> = (0..8)
            .map(|at| {
                let words = asked(&files[at % 2]);
                let mut command = folder.command(&words.each_ref().map(String::as_str));
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for (at, child) in started.into_iter().enumerate() {
            assert_eq!(outcome(&child.wait_with_output().unwrap()), answers[at % 2]);
        }
        assert_eq!(folder.entries().len(), 2);
        fs::remove_file(folder.entries().remove(0)).unwrap();
    }
}

#[test]
fn unwritable_cache_folder_is_ignored() {
    let folder = Folder::new("none");
    let file = folder.file("a.pickle", &generated("--events 3000"));
    let path = file.to_str().unwrap();
    let answer = outcome(&folder.run(&["summary", path, "--json", "--no-cache"]));
    for cache in [file.join("cache"), PathBuf::from("/proc/memscape"), PathBuf::from("/dev/null")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(["summary", path, "--json", "--cache-least", "0", "--cache-folder"]).arg(cache);
        assert_eq!(outcome(&command.output().unwrap()), answer);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(["summary", path, "--json", "--cache-least", "0"]).env_remove("HOME").env_remove("XDG_CACHE_HOME");
    assert_eq!(outcome(&command.output().unwrap()), answer);
}

#[test]
fn tui_and_ask_use_cache() {
    let folder = Folder::new("tui");
    let file = folder.file("a.pickle", &generated("--events 3000"));
    let path = file.to_str().unwrap();
    let without = outcome(&folder.run(&["tui", path, "--plain", "--no-cache"]));
    assert_eq!(outcome(&folder.run(&["tui", path, "--plain"])), without);
    assert_eq!(folder.entries().len(), 1);
    assert_eq!(outcome(&folder.run(&["tui", path, "--plain"])), without);
    assert_eq!(
        outcome(&folder.run(&["summary", path, "--json"])),
        outcome(&folder.run(&["summary", path, "--json", "--no-cache"]))
    );
    fs::remove_dir_all(folder.cache()).unwrap();
    assert_eq!(outcome(&folder.run(&["ask", path])).0, Some(0));
    assert_eq!(folder.entries().len(), 1);
}
