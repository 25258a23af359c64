//! Scans many files in parallel, within a memory budget. The decoded tables of a file are dropped once it is scanned.

use super::cancellation::{self, CancelFlag};
use super::file_survey::survey_open_file;
use super::input::Input;
use super::opening::open_with;
use super::serve::{ALL_ENTRIES, Search, Snapshot, search};
use base::cores::map_on_all_cores;
use base::natural::compare_names;
use base::units::Bytes;
use compare::ranks::{Pattern, Rank, Ranks, parse_names_with};
use engine::Engine;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};

/// Estimated memory use of a file's decoded tables, per byte of the file. Compressed files need more, uncompressed
/// files need less.
const TABLES_PER_BYTE: u64 = 4;

/// Scanned ranks, and the paths of their files.
pub(super) struct Surveys {
    pub(super) ranks: Ranks,
    paths: Vec<(String, PathBuf)>,
    /// Error message for each given path that cannot be accessed.
    pub(super) absent: Vec<String>,
}

impl Surveys {
    /// Returns the path of a rank's file.
    pub(super) fn path(&self, rank: &Rank) -> Option<&Path> {
        self.paths.iter().find(|(name, _)| *name == rank.file).map(|(_, path)| &**path)
    }
}

/// A pending scan of a file, or of one snapshot in a file.
struct Job {
    rank: Rank,
    path: PathBuf,
}

/// Result of scanning a file: its ranks, or further jobs.
#[derive(Default)]
struct JobResult {
    ranks: Vec<Rank>,
    /// Jobs for the individual snapshots, if the file contains several.
    more: Vec<Job>,
    note: Option<String>,
}

/// Scans the snapshots in files and folders. `memory` is the budget in bytes.
///
/// # Errors
/// Returns an error message if no snapshots are found.
pub(super) fn survey(given: &[PathBuf], pattern: Option<&Pattern>, memory: u64) -> Result<Surveys, String> {
    let inaccessible: Vec<(&PathBuf, String)> =
        given.iter().filter_map(|path| Some((path, access_error(path)?))).collect();
    let Search { snapshots: mut found, not_searched } = search(given, ALL_ENTRIES);
    if found.is_empty() {
        let absent = inaccessible.iter().map(|(path, error)| format!("{}: {error}", path.display()));
        let reasons: Vec<String> = absent.chain(not_searched).collect();
        return Err(if reasons.is_empty() { "no snapshots found".to_owned() } else { reasons.join("; ") });
    }
    let is_partial = !not_searched.is_empty() || !inaccessible.is_empty();
    // Missing paths become rows too, with the reason.
    found.extend(
        inaccessible.iter().map(|(path, _)| Snapshot { path: (*path).clone(), name: path.display().to_string() }),
    );
    found.sort_by(|a, b| compare_names(&a.name, &b.name).then_with(|| a.path.cmp(&b.path)));
    let names: Vec<&str> = found.iter().map(|snapshot| &*snapshot.name).collect();
    let (parsed_names, fitting) = parse_names_with(&names, pattern);
    let mut paths = Vec::new();
    let mut jobs = Vec::new();
    for (Snapshot { path, name }, named) in found.iter().zip(parsed_names) {
        paths.push((name.clone(), path.clone()));
        jobs.push(Job { rank: Rank::from_file(name.clone(), named), path: path.clone() });
    }
    let (mut ranks, mut notes) = (Vec::new(), Vec::new());
    // Only names of files are counted here. Names in archives are not known yet.
    if pattern.is_some() && fitting < found.len() {
        notes.push(format!("File names: the pattern fits {fitting} of {}.", found.len()));
    }
    let done = run_jobs(&jobs, pattern, memory);
    let mut more = Vec::new();
    for done in done {
        ranks.extend(done.ranks);
        notes.extend(done.note);
        more.extend(done.more);
    }
    for done in run_jobs(&more, pattern, memory) {
        ranks.extend(done.ranks);
        notes.extend(done.note);
    }
    notes.sort_unstable();
    notes.extend(not_searched);
    let ranks = if is_partial { Ranks::partial(ranks, notes) } else { Ranks::new(ranks, notes) };
    let absent = inaccessible.into_iter().map(|(path, error)| format!("{}: {error}", path.display())).collect();
    Ok(Surveys { ranks, paths, absent })
}

/// Returns the reason why a path cannot be accessed, or `None` if it can.
fn access_error(path: &Path) -> Option<String> {
    std::fs::metadata(path).err().map(|error| error.to_string())
}

/// Memory budget in bytes for files that are read at the same time. A file larger than the budget is read alone.
struct Budget {
    max_bytes: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

impl Budget {
    /// Reserves `bytes` of the budget while `work` runs. Waits until enough of the budget is free.
    fn run_within<R>(&self, bytes: u64, work: impl FnOnce() -> R) -> Option<R> {
        let used = self.used.lock().ok()?;
        let mut used = self.freed.wait_while(used, |used| *used > 0 && *used + bytes > self.max_bytes).ok()?;
        *used += bytes;
        drop(used);
        let result = work();
        *self.used.lock().ok()? -= bytes;
        self.freed.notify_all();
        Some(result)
    }
}

/// Runs all jobs, with one thread per core. Results are in the order of the jobs, without those that are cancelled.
fn run_jobs(jobs: &[Job], pattern: Option<&Pattern>, memory: u64) -> Vec<JobResult> {
    let budget = Budget { max_bytes: memory, used: Mutex::new(0), freed: Condvar::new() };
    let run = |job: &Job| {
        let bytes = std::fs::metadata(&job.path).map_or(0, |metadata| metadata.len());
        budget.run_within(bytes.saturating_mul(TABLES_PER_BYTE), || run_job(job, pattern, memory))
    };
    let cancelled = CancelFlag::current();
    let done = map_on_all_cores(jobs, |job| {
        cancelled.run_with(|| if cancellation::should_continue() { run(job) } else { None })
    });
    done.into_iter().flatten().collect()
}

fn run_job(job: &Job, pattern: Option<&Pattern>, memory: u64) -> JobResult {
    let mut members = Vec::new();
    let opened = Input::open(&job.path).map_err(|error| error.to_string()).and_then(|mut input| {
        open_with(Engine::with_memory_limit(memory), &mut input, &job.rank.file, job.rank.member, &mut members, false)
    });
    let mut done = JobResult::default();
    if job.rank.member.is_none() && members.len() > 1 {
        // The members of an archive have their own names.
        let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
        let (parsed_names, _) = parse_names_with(&names, pattern);
        let ranks = parsed_names.into_iter().zip(&names).zip(0..).map(|((named, name), place)| {
            let file = format!("{}/{name}", job.rank.file);
            Rank { member: Some(place), ..Rank::from_file(file, named) }
        });
        done.more = ranks.map(|rank| Job { rank, path: job.path.clone() }).collect();
        return done;
    }
    let (summary, engine) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            // The engine's message is written for the page.
            let error = error.replace("Use the command line", "Use a larger --memory");
            done.ranks.push(job.rank.clone().with_error(error));
            return done;
        }
    };
    match survey_open_file(&summary, &engine) {
        Ok(of) => (done.ranks, done.note) = job.rank.clone().of_file(of),
        Err(error) => done.ranks.push(job.rank.clone().with_error(error)),
    }
    done
}

/// Parses a size such as `8GiB`, `512MiB` or a number of bytes.
pub(super) fn parse_memory(typed: &str) -> Result<u64, String> {
    let letters = typed.trim_end_matches("iB").trim_end_matches('B');
    let (number, factor) = match letters.chars().last() {
        Some('G' | 'g') => (letters.get(..letters.len() - 1), 1 << 30),
        Some('M' | 'm') => (letters.get(..letters.len() - 1), 1 << 20),
        _ => (Some(letters), 1u64),
    };
    let bytes = number.and_then(|number| number.trim().parse::<u64>().ok()).and_then(|it| it.checked_mul(factor));
    bytes.filter(|&bytes| bytes > 0).ok_or(format!("expected bytes, such as {}", Bytes(8 << 30)))
}
