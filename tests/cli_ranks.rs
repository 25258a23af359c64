//! `memscape ranks`: generated ranks with known differences, real files against expected summaries, and files that are
//! missing, broken or merged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::{generate, opened};

use generate::Options;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const STORY: &str = "--steps 3 --layers 2 --hidden 128 --sequence 64 --record-from-start --frames 12";

fn memscape(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn text(arguments: &[&str]) -> String {
    let (code, out, error) = memscape(arguments);
    assert_eq!((code, &*error), (Some(0), ""), "{arguments:?}");
    out
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

/// Creates an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(path: &Path, words: &str) {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    fs::write(path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
}

/// Writes snapshots of eight ranks. Rank 5 leaks 4 MiB per step, rank 6 has no file, and the file of rank 7 is
/// truncated.
fn eight_ranks(name: &str) -> PathBuf {
    let folder = folder(name);
    for rank in 0..8 {
        let path = folder.join(format!("snapshot_rank{rank}.pickle"));
        match rank {
            5 => write(&path, &format!("{STORY} --extra-leak 4")),
            6 => {}
            _ => write(&path, STORY),
        }
    }
    let cut_off = folder.join("snapshot_rank7.pickle");
    let bytes = fs::read(&cut_off).unwrap();
    fs::write(&cut_off, &bytes[..bytes.len() / 2]).unwrap();
    folder
}

/// Runs a Python program that modifies the snapshots, given as `d`, a dict keyed by file name. Returns false if there
/// is no Python.
fn modify_with_python(folder: &Path, program: &str) -> bool {
    let load = "import pickle,sys,os\nfolder=sys.argv[1]\nd={n:pickle.load(open(os.path.join(folder,n),'rb')) for n in os.listdir(folder)}\n";
    let save = "\nfor n in d: pickle.dump(d[n],open(os.path.join(folder,n),'wb'),4)\n";
    let run = Command::new("python3").arg("-c").arg([load, program, save].concat()).arg(folder).output();
    let Ok(output) = run else {
        eprintln!("SKIPPED: there is no python3 to change snapshots");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn folder_with_outlier_and_missing_rank_is_summarized() {
    let folder = eight_ranks("ranks-eight");
    let path = folder.to_str().unwrap();
    let of = json(&["ranks", path]);
    assert_eq!(of["ranks"].as_array().unwrap().len(), 8);
    for (number, row) in of["ranks"].as_array().unwrap().iter().enumerate() {
        assert_eq!(row["rank"], number);
        let file = folder.join(format!("snapshot_rank{number}.pickle"));
        match number {
            6 => assert_eq!((&row["error"], &row["file"]), (&"no file".into(), &Value::Null)),
            7 => assert!(row["error"].as_str().is_some_and(|error| error.contains("byte")), "{row}"),
            _ => {
                let summary = json(&["summary", file.to_str().unwrap()]);
                let device = &summary[0]["devices"][0];
                for key in ["device", "events", "peak_requested", "peak_event", "peak_reserved", "end_requested"] {
                    assert_eq!(row[key], device[key], "rank {number}: {key}");
                }
                let sites = row["sites_at_peak"].as_array().unwrap().iter();
                let bytes: u64 = sites.map(|site| site["bytes"].as_u64().unwrap()).sum();
                assert_eq!(bytes + row["other_bytes_at_peak"].as_u64().unwrap(), device["peak_requested"], "{number}");
            }
        }
    }
    let outliers: Vec<_> = of["outliers"].as_array().unwrap().iter().map(|it| it["rank"].as_u64()).collect();
    assert_eq!(outliers, [Some(5)]);
    let groups: Vec<_> = of["groups"].as_array().unwrap().iter().map(|group| group["ranks"].clone()).collect();
    assert_eq!(groups, [serde_json::json!([0, 1, 2, 3, 4]), serde_json::json!([5])]);
    // The difference is the leak: 4 MiB for each step before the peak.
    let delta = &of["groups"][1]["differences"][0];
    let more = of["ranks"][5]["delta_to_median_bytes"].as_u64().unwrap();
    assert_eq!((delta["delta_bytes"].as_u64(), more % (4 << 20)), (Some(more), 0), "{delta}");
    assert!(more > 0, "{of}");

    // Piped output has full names, and does not depend on the order of the files. The first line has the path.
    let listing = text(&["ranks", path]);
    let without_title = |listing: &str| listing.split_once('\n').unwrap().1.to_owned();
    assert!(listing.starts_with(&format!("Ranks: {path}\n  - 5 ranks alike (peak ")), "{listing}");
    assert!(listing.contains("No file of 1 rank (6)"), "{listing}");
    assert!(!listing.contains('…'), "{listing}");
    let mut files: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path().to_str().unwrap().to_owned()).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    let arguments: Vec<&str> = ["ranks"].into_iter().chain(files.iter().map(String::as_str)).collect();
    assert_eq!(without_title(&text(&arguments)), without_title(&listing));
    let few = text(&["ranks", path, "--top", "3"]);
    assert!(few.contains("and 5 more (see --top)") && few.contains("snapshot_rank5.pickle"), "{few}");
    let markdown = text(&["ranks", path, "--markdown"]);
    assert!(markdown.starts_with("## Ranks: ") && markdown.contains("\n\n- 5 ranks alike"), "{markdown}");
    assert!(markdown.contains("| `5` | "), "{markdown}");

    let (_, limited, _) = memscape(&["ranks", path, "--memory", "1"]);
    assert!(limited.contains("not enough memory") && limited.contains("--memory"), "{limited}");
    // Memory for one file at a time.
    let small = json(&["ranks", path, "--memory", "1MiB"]);
    assert_eq!((&small["ranks"], &small["memory_budget_bytes"]), (&of["ranks"], &(1 << 20).into()));
}

#[test]
fn explain_compares_rank_with_group_median() {
    let folder = eight_ranks("ranks-explain");
    let path = folder.to_str().unwrap();
    let listing = text(&["ranks", path, "--explain", "5"]);
    assert!(listing.starts_with("rank 5 against rank 2, the median of the largest group\n\n"), "{listing}");
    let of = json(&["ranks", path, "--explain", "5"]);
    assert_eq!(of["b"]["file"], "snapshot_rank5.pickle", "{of}");
    let more = json(&["ranks", path])["ranks"][5]["delta_to_median_bytes"].clone();
    assert_eq!(of["delta_bytes"], more);
    for (rank, cause) in [("6", "rank 6: no file"), ("9", "no rank 9")] {
        let (code, _, error) = memscape(&["ranks", path, "--explain", rank]);
        assert!(code == Some(1) && error.contains(cause), "{error}");
    }
    let none = folder.join("none");
    let (code, out, error) = memscape(&["ranks", none.to_str().unwrap()]);
    assert!((code, &*out) == (Some(1), "") && error.contains("No such file"), "{error}");
    let (code, _, error) = memscape(&["ranks", self::folder("ranks-empty").to_str().unwrap()]);
    assert!(code == Some(1) && error.contains("no snapshots found"), "{error}");
}

/// Rank 2 allocates after the peak, and stays below it.
#[test]
fn rank_that_differs_only_at_its_end_is_compared_there() {
    let folder = folder("ranks-end");
    (0..4).for_each(|rank| write(&folder.join(format!("rank{rank}.pickle")), STORY));
    let path = folder.to_str().unwrap();
    let alike = json(&["ranks", path]);
    let bytes = |key: &str| alike["ranks"][2][key].as_u64().unwrap();
    let added = (bytes("peak_requested_bytes") - bytes("end_requested_bytes")) / 2 / 512 * 512;
    assert!(added * 50 > bytes("end_requested_bytes") && alike["end_outliers"] == serde_json::json!([]), "{added}");
    let program = "trace=d['rank2.pickle']['device_traces'][0]\nlast={**trace[-1],'addr':1<<45,'size':ADDED}\ntrace+=[{**last,'action':'segment_alloc'},{**last,'action':'alloc'}]\nblock={'address':1<<45,'size':ADDED,'requested_size':ADDED,'state':'active_allocated','frames':last.get('frames',[])}\nsegments=d['rank2.pickle']['segments']\nsegments.append({**segments[0],'address':1<<45,'total_size':ADDED,'allocated_size':ADDED,'active_size':ADDED,'requested_size':ADDED,'blocks':[block]})";
    if !modify_with_python(&folder, &program.replace("ADDED", &added.to_string())) {
        return;
    }
    let of = json(&["ranks", path]);
    assert_eq!(of["outliers"], serde_json::json!([]));
    let outlier = &of["end_outliers"][0];
    assert_eq!((&outlier["rank"], &outlier["delta_bytes"]), (&2.into(), &added.into()), "{of}");
    assert_eq!(
        (&of["ranks"][2]["end_delta_to_median_bytes"], &of["ranks"][1]["end_delta_to_median_bytes"]),
        (&added.into(), &0.into())
    );
    let listing = text(&["ranks", path]);
    assert!(
        listing.contains("\n  - All ranks alike at the peak, ") && listing.contains("\n  - Rank 2 (+"),
        "{listing}"
    );
    assert!(text(&["ranks", path, "--markdown"]).contains("\n| `rank 2` | `end` | "), "{listing}");
    assert!(
        text(&["ranks", path, "--explain", "2"]).starts_with("rank 2 against rank 1, its group's median, at the end\n")
    );
    assert_eq!(json(&["ranks", path, "--explain", "2"])["delta_bytes"], added);
}

#[test]
fn recorder_metadata_gives_rank_host_and_coordinates() {
    let folder = folder("ranks-recorder");
    for name in ["c", "a", "b"] {
        let words = if name == "a" { "--extra-leak 8" } else { "" };
        write(&folder.join(format!("{name}.pickle")), &format!("{STORY} {words}"));
    }
    let program = "for r,n in enumerate(['b.pickle','c.pickle','a.pickle']):\n d[n]['memscape']={'schema':1,'rank':r,'world_size':4,'host':'node-%d'%r,'mesh':{'pp':r//2,'tp':r%2},'reason':'oom' if r==1 else 'exit','step':30+r,'devices':[{'device':0,'name':'GPU','capacity_bytes':1<<30}]}";
    if !modify_with_python(&folder, program) {
        return;
    }
    let of = json(&["ranks", folder.to_str().unwrap()]);
    let rows = of["ranks"].as_array().unwrap();
    let files: Vec<_> =
        rows.iter().map(|row| (row["rank"].as_u64(), row["file"].as_str(), row["host"].as_str())).collect();
    assert_eq!(
        files,
        [
            (Some(0), Some("b.pickle"), Some("node-0")),
            (Some(1), Some("c.pickle"), Some("node-1")),
            (Some(2), Some("a.pickle"), Some("node-2")),
            (Some(3), None, None),
        ]
    );
    assert_eq!((&rows[2]["coords"]["pp"], &rows[2]["capacity_bytes"]), (&"1".into(), &(1 << 30).into()));
    assert_eq!(of["groups"][1]["shared"], "pp 1");
    let steps: Vec<_> = rows.iter().map(|row| row["step"].as_u64()).collect();
    assert_eq!(steps, [Some(30), Some(31), Some(32), None]);
    // The recorder's key takes precedence over file names and `--names`.
    let by_name = self::folder("ranks-recorder-named");
    for (name, file) in [("snapshot_rank6.pickle", "a.pickle"), ("snapshot_rank7.pickle", "b.pickle")] {
        fs::copy(folder.join(file), by_name.join(name)).unwrap();
    }
    let of = json(&["ranks", by_name.to_str().unwrap(), "--names", "snapshot_rank{rank}"]);
    let ranks: Vec<_> = of["ranks"].as_array().unwrap().iter().map(|row| (&row["rank"], &row["error"])).collect();
    assert_eq!(
        ranks.iter().filter(|(_, error)| error.is_null()).map(|(rank, _)| rank.as_u64()).collect::<Vec<_>>(),
        [Some(0), Some(2)]
    );
    // Other recorders store coordinates next to the rank.
    let flat = "for r,n in enumerate(sorted(d)):\n d[n]['memscape']={'rank':r,'world':2,'tp':r,'pp':5}";
    if modify_with_python(&by_name, flat) {
        let of = json(&["ranks", by_name.to_str().unwrap()]);
        assert_eq!((&of["ranks"][1]["coords"]["tp"], &of["ranks"][1]["coords"]["pp"]), (&"1".into(), &"5".into()));
    }
}

#[test]
fn pattern_for_names_gives_rank_host_and_coordinates() {
    let folder = folder("ranks-names");
    for (pp, tp) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let words = if pp == 0 { "--extra-leak 8" } else { "" };
        write(&folder.join(format!("gpu{pp}-stage{pp}-{tp}-{}.pickle", 2 * pp + tp)), &format!("{STORY} {words}"));
    }
    write(&folder.join("other.pickle"), STORY);
    let path = folder.to_str().unwrap();
    let of = json(&["ranks", path, "--names", "{host}-stage{pp}-{tp}-{rank}.pickle"]);
    let rows = of["ranks"].as_array().unwrap();
    let listing: Vec<_> =
        rows.iter().map(|row| (row["rank"].as_u64(), row["host"].as_str(), row["coords"]["tp"].as_str())).collect();
    let rank = |number: u64, host, tp| (Some(number), Some(host), Some(tp));
    assert_eq!(listing[..4], [rank(0, "gpu0", "0"), rank(1, "gpu0", "1"), rank(2, "gpu1", "0"), rank(3, "gpu1", "1")]);
    assert_eq!(listing[4], (None, None, None));
    assert_eq!(of["groups"][1]["shared"], "pp 0");
    assert_eq!(of["notes"][0], "File names: the pattern fits 4 of 5.");
    let (code, _, error) = memscape(&["ranks", path, "--names", "rank.pickle"]);
    assert!(code == Some(2) && error.contains("write {rank} where the rank stands"), "{error}");
}

#[test]
fn html_report_is_self_contained() {
    let folder = eight_ranks("ranks-page");
    fs::rename(folder.join("snapshot_rank4.pickle"), folder.join("a<b>&\"c\"_rank4.pickle")).unwrap();
    let (path, out) = (folder.to_str().unwrap(), folder.with_extension("html"));
    let _ = fs::remove_file(&out);
    let (code, printed, said) = memscape(&["ranks", path, "-o", out.to_str().unwrap()]);
    assert_eq!((code, &*printed), (Some(0), ""), "{said}");
    assert!(said.contains("8 ranks"), "{said}");
    let page = fs::read_to_string(&out).unwrap();
    for verdict in json(&["ranks", path])["verdict"].as_array().unwrap() {
        assert!(page.contains(&format!("<li>{}</li>", verdict.as_str().unwrap())), "{verdict}");
    }
    assert!(page.contains("a&lt;b&gt;&amp;&quot;c&quot;_rank4.pickle") && !page.contains("a<b>"));
    // The page has no scripts and loads nothing, and each readable rank has a curve.
    assert!(!page.contains("<script") && !page.contains("://") && page.contains("default-src 'none'"));
    assert_eq!((page.matches("<svg ").count(), page.matches("<text ").count()), (1, 6));
    assert_eq!(text(&["ranks", path, "-o", "-"]), page);
    // Sorted by peak, highest first.
    let by_peak = text(&["ranks", path, "-o", "-", "--order", "peak"]);
    assert!(by_peak.find(">rank 5 ·") < by_peak.find(">rank 0 ·"), "{by_peak}");
    assert!(page.find(">rank 5 ·") > page.find(">rank 0 ·"));
    for arguments in [["--json", "-o"], ["--markdown", "-o"]] {
        assert_eq!(memscape(&["ranks", path, arguments[0], arguments[1], "x.html"]).0, Some(2));
    }
}

#[test]
fn merged_traces_of_several_ranks_are_recognized() {
    let folder = folder("ranks-merged");
    write(&folder.join("merged.pickle"), &format!("{STORY} --devices 3"));
    if !modify_with_python(
        &folder,
        "d['merged.pickle']['segments']=[s for s in d['merged.pickle']['segments'] if s['device']==0]",
    ) {
        return;
    }
    let of = json(&["ranks", folder.to_str().unwrap()]);
    let ranks: Vec<_> = of["ranks"].as_array().unwrap().iter().map(|row| (&row["rank"], &row["device"])).collect();
    assert_eq!(ranks, [(&0.into(), &0.into()), (&1.into(), &1.into()), (&2.into(), &2.into())]);
    assert_eq!(
        of["notes"][0],
        "merged.pickle has the traces of 3 ranks and the segments of rank 0 only: what the others had before recording is unknown."
    );
}

#[test]
fn ranks_in_archive_equal_ranks_in_folder() {
    let folder = folder("ranks-archive");
    for rank in 0..3 {
        write(&folder.join(format!("rank{rank}.pickle")), STORY);
    }
    let program = "import shutil\nshutil.make_archive(folder+'-packed','zip',folder)\nd={}";
    if !modify_with_python(&folder, program) {
        return;
    }
    let packed = format!("{}-packed.zip", folder.to_str().unwrap());
    let one_by_one = json(&["ranks", folder.to_str().unwrap()]);
    let of = json(&["ranks", &packed]);
    for rank in 0..3 {
        let [mut own, mut expected] = [&of, &one_by_one].map(|of| of["ranks"][rank].clone());
        assert_eq!(own["file"].take(), format!("ranks-archive-packed.zip/rank{rank}.pickle"));
        expected["file"].take();
        assert_eq!(own, expected);
    }
}

#[test]
fn rows_of_real_files_match_expected_summaries() {
    let Some(snapshots) = opened::snapshots() else { return };
    let expected: Value = serde_json::from_slice(&fs::read(snapshots.join("expected.json")).unwrap()).unwrap();
    let of = json(&["ranks", snapshots.to_str().unwrap()]);
    let mut rows = 0;
    for row in of["ranks"].as_array().unwrap().iter().filter(|row| row["error"].is_null()) {
        let devices = expected[row["file"].as_str().unwrap()].as_array().unwrap();
        let device = devices.iter().find(|device| device["device"] == row["device"]).unwrap();
        for key in ["events", "peak_requested", "peak_event", "peak_reserved", "end_requested"] {
            assert_eq!(row[key], device[key], "{}: {key}", row["file"]);
        }
        rows += 1;
    }
    assert_eq!(rows, expected.as_object().unwrap().len(), "each file has a row");
}

#[test]
fn missing_path_fails_but_others_are_printed() {
    let folder = eight_ranks("ranks-absent");
    let absent = folder.join("snapshot_rank9.pickle");
    let arguments = ["ranks", folder.to_str().unwrap(), absent.to_str().unwrap(), "--json"];
    let (code, out, error) = memscape(&arguments);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("snapshot_rank9.pickle: No such file"), "{error}");
    let of: Value = serde_json::from_str(&out).unwrap();
    let rows = of["ranks"].as_array().unwrap();
    let last = rows.last().unwrap();
    assert_eq!((&last["rank"], last["error"].as_str().unwrap().contains("No such file")), (&9.into(), true));
    // Ranks 6 and 8 may be in the missing path.
    assert!(of["is_partial"] == true && rows.iter().all(|row| row["error"] != "no file"), "{of}");
}

#[test]
fn unreadable_files_have_row_with_error() {
    let folder = eight_ranks("ranks-unwritten");
    fs::write(folder.join("snapshot_rank6.pickle"), b"").unwrap();
    fs::write(folder.join("snapshot_rank8.pickle.gz"), b"").unwrap();
    fs::write(folder.join("_SUCCESS"), b"").unwrap();
    let of = json(&["ranks", folder.to_str().unwrap()]);
    let rows = of["ranks"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    for (rank, reason) in [(6, "empty"), (7, "byte"), (8, "empty")] {
        let error = rows[rank]["error"].as_str().unwrap();
        assert!(error.contains(reason) && rows[rank]["file"].is_string(), "{rank}: {error}");
    }
    assert!(text(&["ranks", folder.to_str().unwrap()]).contains("3 files not readable (6–8)"));
    let none = self::folder("ranks-all-empty");
    (0..3).for_each(|rank| fs::write(none.join(format!("rank{rank}.pickle")), b"").unwrap());
    let of = json(&["ranks", none.to_str().unwrap()]);
    assert_eq!(of["ranks"].as_array().unwrap().len(), 3);
}

#[test]
fn ranks_are_sorted_numerically() {
    let folder = folder("ranks-numbers");
    for rank in [1, 2, 10, 9] {
        write(&folder.join(format!("rank{rank}.pickle")), STORY);
    }
    let path = folder.to_str().unwrap();
    let numbers = |rows: Vec<Option<u64>>| rows.into_iter().flatten().collect::<Vec<_>>();
    let read = |row: &Value| row["rank"].as_u64().filter(|_| row["error"].is_null());
    let of = json(&["ranks", path]);
    assert_eq!(numbers(of["ranks"].as_array().unwrap().iter().map(read).collect()), [1, 2, 9, 10]);
    let is_row = |line: &&str| line.contains(".pickle");
    let first = |line: &str| {
        line.trim_start_matches(['|', ' ', '`']).split([' ', '|', '`']).next().and_then(|it| it.parse().ok())
    };
    for form in [&["ranks", path][..], &["ranks", path, "--markdown"]] {
        let text = text(form);
        assert_eq!(numbers(text.lines().filter(is_row).map(first).collect()), [1, 2, 9, 10], "{text}");
    }
    let page = text(&["ranks", path, "-o", "-"]);
    let places: Vec<_> = [1, 2, 9, 10].map(|rank| page.find(&format!(">rank {rank} ·"))).to_vec();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
    let sql = json(&["sql", path, "SELECT DISTINCT rank FROM event"]);
    assert_eq!(sql["rows"], serde_json::json!([[1], [2], [9], [10]]));
    // Files without ranks in their names are sorted by the numbers in them.
    let unnamed = self::folder("ranks-numbers-unnamed");
    for name in ["dump-10.pickle", "dump-9.pickle"] {
        write(&unnamed.join(name), STORY);
    }
    let of = json(&["ranks", unnamed.to_str().unwrap()]);
    assert_eq!((&of["ranks"][0]["file"], &of["ranks"][1]["file"]), (&"dump-9.pickle".into(), &"dump-10.pickle".into()));
}

#[cfg(unix)]
#[test]
fn skipped_symlink_is_noted() {
    let folder = folder("ranks-links");
    write(&folder.join("rank2.pickle"), STORY);
    std::os::unix::fs::symlink(folder.join("rank2.pickle"), folder.join("rank1.pickle")).unwrap();
    let of = json(&["ranks", folder.to_str().unwrap()]);
    assert_eq!(
        (of["ranks"].as_array().unwrap().len(), &of["notes"]),
        (1, &serde_json::json!(["1 link not followed."]))
    );
}
