//! Opens the snapshots of a command one after the other, compares each with its baseline, and collects the results.

use super::arguments::Arguments;
use super::baseline::{Baseline, Identity, identities};
use super::device::{DeviceBaseline, check_device};
use super::verdict::{CheckedDevice, Verdict};
use crate::cancellation;
use crate::common_args::SnapshotArgs;
use crate::diff::complete;
use crate::input::Input;
use crate::kept_file::OpenedFile;
use crate::open_snapshot::OpenSnapshot;
use crate::opening::open;
use crate::serve::{ALL_ENTRIES, search};
use base::natural::compare_names;
use compare::{CompareOptions, Comparer, Comparison, Key};
use engine::Work;
use protocol::{DeviceSummary, FileSummary};
use std::path::Path;

/// A snapshot to check: the name of its file, the snapshot's index in the file if that has several, and its identity.
struct Job<'a> {
    path: &'a Path,
    name: String,
    member: Option<u32>,
    identity: Identity,
}

/// Checks all snapshots.
pub(super) fn check_all(arguments: &Arguments) -> Verdict {
    let mut verdict = Verdict::default();
    let absent = arguments.files.iter().filter_map(|path| Some((path, std::fs::metadata(path).err()?)));
    let is_stream = |path: &Path| path.as_os_str() == "-";
    verdict.errors.extend(
        absent
            .filter(|(path, _)| !is_stream(path))
            .map(|(path, error)| (path.display().to_string(), error.to_string())),
    );
    let mut found = Vec::new();
    for path in &arguments.files {
        let mut searched = search(&[path], ALL_ENTRIES);
        searched.snapshots.sort_by(|a, b| compare_names(&a.name, &b.name));
        if path.is_dir() && searched.snapshots.is_empty() {
            verdict.errors.push((path.display().to_string(), "no snapshots found".to_owned()));
        }
        if is_stream(path) {
            found.push((path.clone(), "-".to_owned()));
        }
        let is_file = !path.is_dir();
        // A file is named as it was given, a file of a folder by its path in the folder.
        let name = |name: String| if is_file { path.display().to_string() } else { name };
        found.extend(searched.snapshots.into_iter().map(|it| (it.path, name(it.name))));
    }
    let names: Vec<&str> = found.iter().map(|(_, name)| &**name).collect();
    let baseline = arguments.baseline.as_deref().map(Baseline::find);
    for ((path, name), identity) in found.iter().zip(identities(&names)) {
        let job = Job { path, name: name.clone(), member: None, identity };
        check_file(arguments, baseline.as_ref(), job, &mut verdict);
    }
    verdict.is_exceeded = verdict.devices.iter().any(CheckedDevice::is_exceeded);
    verdict
}

/// Checks each snapshot of a file.
fn check_file(arguments: &Arguments, baseline: Option<&Baseline>, first: Job<'_>, verdict: &mut Verdict) {
    let mut input = match Input::open(first.path) {
        Ok(input) => input,
        Err(error) => return verdict.errors.push((first.name, error.to_string())),
    };
    let mut members = Vec::new();
    let mut opened = Some(open(&mut input, &first.name, None, &mut members));
    let mut jobs = vec![];
    if members.len() > 1 {
        let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
        let members = (0..).zip(&names).zip(identities(&names));
        jobs.extend(members.map(|((index, name), identity)| Job {
            path: first.path,
            name: [&first.name, "/", name].concat(),
            member: Some(index),
            identity,
        }));
    } else {
        jobs.push(first);
    }
    for job in &jobs {
        let result = opened.take().unwrap_or_else(|| open(&mut input, &job.name, job.member, &mut Vec::new()));
        let checked = result.and_then(|(summary, opened)| check_snapshot(arguments, baseline, job, &summary, opened));
        match checked {
            Ok(devices) => verdict.devices.extend(devices),
            Err(error) => verdict.errors.push((job.name.clone(), error)),
        }
    }
}

fn check_snapshot(
    arguments: &Arguments,
    baseline: Option<&Baseline>,
    job: &Job<'_>,
    summary: &FileSummary,
    mut opened: OpenedFile,
) -> Result<Vec<CheckedDevice>, String> {
    while opened.step(&mut cancellation::should_continue) == Work::More {
        cancellation::check()?;
    }
    let limits = &arguments.limits();
    let partner = baseline.and_then(|baseline| baseline.partner(&job.name, &job.identity));
    let Some((path, name)) = partner else {
        if arguments.require_baseline {
            return Err("no baseline".to_owned());
        }
        let check = |device| check_device(&job.name, &job.identity, device, limits, baseline.is_some(), None);
        return checked_devices(summary).map(|devices| devices.into_iter().map(check).collect());
    };
    let wrong = |error: String| format!("baseline {}: {error}", path.display());
    let other = OpenSnapshot::open(&SnapshotArgs { file: path.to_owned(), device: None }).map_err(wrong)?;
    let mut checked = Vec::new();
    for device in checked_devices(summary)? {
        let old = partner_device(device, summary, &other.summary);
        let comparison = match old {
            Some(old) => Some(compare(&opened, device, &other, old, arguments.by.key())?),
            None => None,
        };
        let of_baseline = old.zip(comparison.as_ref());
        let of_baseline = of_baseline.map(|(summary, comparison)| DeviceBaseline { name, summary, comparison });
        if of_baseline.is_none() && arguments.require_baseline {
            return Err(wrong(format!("no device {}", device.device)));
        }
        checked.push(check_device(&job.name, &job.identity, device, limits, true, of_baseline.as_ref()));
    }
    Ok(checked)
}

/// Returns the devices to check: all GPUs with memory, or the default device if there are none.
fn checked_devices(summary: &FileSummary) -> Result<Vec<&DeviceSummary>, String> {
    let is_used = |device: &&DeviceSummary| {
        device.device >= 0 && (device.drawn_peak > 0 || device.peak_reserved > 0 || device.oom_count() > 0)
    };
    let gpus: Vec<&DeviceSummary> = summary.devices.iter().filter(is_used).collect();
    match (gpus.is_empty(), summary.devices.get(summary.default_device())) {
        (false, _) => Ok(gpus),
        (true, Some(device)) => Ok(vec![device]),
        (true, None) => Err("no device has events or segments".to_owned()),
    }
}

/// Returns the device of the baseline that belongs to a device: the one with the same ordinal, or the only GPU if each
/// file has one, since a rank may run on another GPU of its machine.
fn partner_device<'a>(
    device: &DeviceSummary,
    summary: &FileSummary,
    baseline: &'a FileSummary,
) -> Option<&'a DeviceSummary> {
    let same = baseline.devices.iter().find(|it| it.device == device.device);
    let only = || match (checked_devices(summary).ok()?.len(), &*checked_devices(baseline).ok()?) {
        (1, [only]) if (only.device < 0) == (device.device < 0) => Some(*only),
        _ => None,
    };
    same.or_else(only)
}

/// Compares the peaks of a device with those of its baseline.
fn compare(
    opened: &OpenedFile,
    device: &DeviceSummary,
    baseline: &OpenSnapshot,
    old: &DeviceSummary,
    key: Key,
) -> Result<Comparison, String> {
    let missing = || format!("no device {}", device.device);
    let a = baseline.engine().side(old.device).ok_or_else(missing)?;
    let b = opened.side(device.device).ok_or_else(missing)?;
    let options = CompareOptions { key: Some(key), ..CompareOptions::default() };
    complete(Comparer::new(&a, &b, options), &a, &b)
}
