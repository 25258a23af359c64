//! `memscape html`: the written page opens with the same numbers, invalid arguments are rejected, and no partial files
//! remain.

#![cfg(unix)]

use crate::zip;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use memscape::protocol::CategorySet;
use memscape::yaml;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The smallest page that `memscape html` accepts as a viewer.
const VIEWER: &str = "<html><body><script id=\"part-wasm\">AAAA</script></body></html>";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-html").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("viewer.html"), VIEWER).unwrap();
    folder
}

/// Runs memscape in a folder.
fn memscape(folder: &Path, words: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn html(folder: &Path, words: &[&str], input: &[u8]) -> Output {
    memscape(folder, &[&["html", "--viewer", "viewer.html"], words].concat(), input)
}

/// Returns the summary of a file without its name and format.
fn devices(folder: &Path, file: &str) -> Value {
    let output = memscape(folder, &["summary", file, "--json"], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut summaries: Value = serde_json::from_slice(&output.stdout).unwrap();
    let summary = summaries[0].as_object_mut().unwrap();
    assert!(summary.remove("file").is_some() && summary.remove("format").is_some());
    Value::Object(summary.clone())
}

fn view(page: &str) -> &str {
    page.split_once("data-view=\"").unwrap().1.split('"').next().unwrap()
}

/// Returns the decoded bytes of the snapshot embedded in a page.
fn embedded(page: &str) -> Vec<u8> {
    let (_, part) = page.split_once("id=\"part-snapshot\"").unwrap();
    let text = part.split_once('>').unwrap().1.split('<').next().unwrap();
    BASE64_STANDARD.decode(text).unwrap()
}

/// Builds a snapshot with one allocation, made by a frame of the given name.
fn snapshot(frame: &str) -> Vec<u8> {
    format!(
        r#"{{"segments":[],"device_traces":[[{{"action":"alloc","addr":4096,"size":512,"stream":0,
            "frames":[{{"name":{},"filename":"a.py","line":1}}]}}]]}}"#,
        Value::from(frame)
    )
    .into_bytes()
}

/// The written page can be opened like a snapshot.
#[test]
fn html_page_has_same_summary_as_its_snapshot() {
    let Some(corpus) = crate::opened::snapshots() else { return };
    let folder = folder("real");
    for name in ["train-annotated-100.pickle", "torch-2.10-bf16-expandable.pickle", "two-devices-one-event-each.pickle"]
    {
        let file = corpus.join(name);
        let file = file.to_str().unwrap();
        let output = html(&folder, &[file, "-o", "out.html", "--at", "peak"], b"");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{message}");
        assert_eq!(devices(&folder, "out.html"), devices(&folder, file), "{name}");
        let page = std::fs::read_to_string(folder.join("out.html")).unwrap();
        let size = memscape::units::group_digits(page.len() as u64);
        assert!(
            message.contains(&format!("({size} B)")) && message.contains(" B of gzipped columns from "),
            "{message}"
        );
        let summary = devices(&folder, file);
        // Without an OOM, the device with the higher peak is the default.
        let all = summary["devices"].as_array().unwrap().iter();
        let device = all.max_by_key(|device| device["peak_requested"].as_i64()).unwrap();
        assert_eq!(view(&page), format!("v=1&amp;device={}&amp;at={}", device["device"], device["peak_event"]));
    }
}

/// After `./run build` the page is compiled in. Otherwise the error says how to build it.
#[test]
fn built_in_viewer_is_used_if_present() {
    let folder = folder("built-in");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    let output = memscape(&folder, &["html", "a.json", "-o", "out.html"], b"");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/built/memscape.html");
    match std::fs::read_to_string(built) {
        Ok(page) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let out = std::fs::read_to_string(folder.join("out.html")).unwrap();
            assert!(out.len() > page.len() && out.starts_with(page.split("</body>").next().unwrap()));
        }
        Err(_) => {
            assert_eq!(output.status.code(), Some(1));
            assert!(String::from_utf8_lossy(&output.stderr).contains("run './run build' and build again"));
        }
    }
}

#[test]
fn script_tags_in_names_are_escaped() {
    let folder = folder("hostile");
    let hostile = "</script><script>alert(1)</script>";
    let name = "it's \"q\" & <b> <script>.json";
    std::fs::write(folder.join(name), snapshot(hostile)).unwrap();
    assert!(html(&folder, &[name, "-o", "out.html"], b"").status.success());
    let page = std::fs::read_to_string(folder.join("out.html")).unwrap();
    // One script of the viewer and one for the embedded snapshot.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2), "{page}");
    assert!(page.contains("data-name=\"it's &quot;q&quot; &amp; &lt;b&gt; &lt;script&gt;.json\""), "{page}");
    assert_eq!(view(&page), "v=1");
    let found = memscape(&folder, &["allocations", "out.html", "alert"], b"");
    assert!(String::from_utf8(found.stdout).unwrap().contains("</script>"), "the frame's name is unchanged");
}

#[test]
fn cursor_given_by_at_option_is_stored_in_view_link() {
    let folder = folder("moments");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    let view_of = |words: &[&str]| {
        let output = html(&folder, &[&["a.json", "-o", "-"], words].concat(), b"");
        let message = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            view(&format!("{}data-view=\"\"", String::from_utf8(output.stdout).unwrap())).to_owned(),
            message,
        )
    };
    for (words, expected) in [
        (&["--at", "end"][..], "v=1&amp;device=0&amp;at=0"),
        (&["--at", "-1"], "v=1&amp;device=0&amp;at=-1"),
        (&["--at", "alloc:1000_0", "--view", "#v=1&tab=table"], "v=1&amp;tab=table&amp;device=0&amp;at=0"),
        (&["--device", "0"], "v=1&amp;device=0"),
        (&["--view", "x=\"><script>"], "v=1&amp;x=&quot;&gt;&lt;script&gt;"),
    ] {
        assert_eq!(view_of(words).1, expected, "{words:?}");
    }
    for (words, message) in [
        (&["--at", "7"][..], "no event 7"),
        (&["--at", "350ms"], "has no timestamps"),
        (&["--device", "3"], "no such device; available: 0"),
    ] {
        let (status, page, error) = view_of(words);
        assert_eq!((status, page.as_str()), (Some(1), ""), "{words:?}");
        assert!(error.contains(message) && error.lines().count() == 1, "{words:?}: {error}");
    }
}

#[test]
fn with_option_embeds_second_snapshot() {
    let folder = folder("two");
    for name in ["a.json", "b c.json", "more/a.json"] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, snapshot(name)).unwrap();
    }
    let page = |words: &[&str]| {
        let output = html(&folder, &[&["a.json", "-o", "-"], words].concat(), b"");
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (_, both, said) = page(&["--with", "b c.json", "--view", "#v=1&with=other.pickle&compare=end"]);
    assert!(said.contains("with the snapshots as ") && said.contains(" and "), "{said}");
    assert_eq!(view(&both), "v=1&amp;compare=end&amp;with=b%20c.json");
    // Both snapshots are embedded unchanged.
    let second = &both[both.find("id=\"part-second\"").unwrap()..];
    assert!(second.starts_with("id=\"part-second\" data-name=\"b c.json\""), "{second}");
    let (_, alone, _) = page(&[]);
    assert_eq!(embedded(&both), embedded(&alone));
    let as_first = second.replace("part-second", "part-snapshot");
    let output = html(&folder, &["b c.json", "-o", "-"], b"");
    assert_eq!(embedded(&as_first), embedded(&String::from_utf8(output.stdout).unwrap()));
    // Two files of the same name get different names.
    let (_, same, _) = page(&["--with", "more/a.json"]);
    assert!(same.contains("data-name=\"B a.json\"") && view(&same).ends_with("with=B%20a.json"), "{}", view(&same));
    let (status, page, error) = page(&["--with", "none.json"]);
    assert_eq!((status, page.as_str()), (Some(1), ""), "{error}");
    assert!(error.contains("none.json: "), "{error}");
}

/// Returns the stored text of the rules in a page.
fn stored_rules(page: &str) -> String {
    let text = page.split_once(" data-rules=\"").unwrap().1.split('"').next().unwrap();
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (escaped, letter)| text.replace(escaped, letter))
}

#[test]
fn rules_option_is_stored_in_page() {
    let folder = folder("rules");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    let page = |words: &[&str]| {
        let output = html(&folder, &[&["a.json", "-o", "-"], words].concat(), b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!page(&[]).contains("data-rules"));
    for (name, rules) in [
        ("rules.json", "{\"\\\">&</script><script>alert(1)</script>\":\r\n \"^f$\"}"),
        ("rules.yaml", "rules:\n  - name: everything\n    pattern: .\n"),
    ] {
        std::fs::write(folder.join(name), rules).unwrap();
        let page = page(&["--rules", name, "--with", "a.json"]);
        // One script of the viewer and one for each snapshot.
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (3, 3), "{page}");
        assert_eq!(page.matches("data-rules").count(), 1, "both snapshots have the same rules");
        let stored = stored_rules(&page);
        let (head, set) = stored.split_once('\n').unwrap();
        assert_eq!(head, format!("memscape rules 1 own {}", set.len()));
        assert_eq!(CategorySet::parse(set).unwrap(), yaml::parse(rules).unwrap());
    }
    for name in ["default", "mosaic"] {
        assert_eq!(stored_rules(&page(&["--rules", name])), format!("memscape rules 1 {name} 0\n"));
    }
}

#[test]
fn invalid_rules_are_rejected_as_by_plot() {
    let folder = folder("rules-wrong");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    std::fs::write(folder.join("wrong.json"), "{\"a\": \"(\",\n \"b\": 3}").unwrap();
    for rules in ["wrong.json", "missing.json", "a.json"] {
        let page = html(&folder, &["a.json", "-o", "out.html", "--rules", rules], b"");
        let plot = memscape(&folder, &["plot", "a.json", "-o", "out.svg", "--rules", rules], b"");
        let error = String::from_utf8(page.stderr).unwrap();
        assert_eq!((page.status.code(), plot.status.code()), (Some(1), Some(1)), "{error}");
        assert_eq!(error, String::from_utf8(plot.stderr).unwrap());
        assert!(error.contains(&format!("{rules}: ")), "{error}");
        assert!(!folder.join("out.html").exists());
    }
}

#[test]
fn all_input_formats_are_embedded() {
    let folder = folder("kinds");
    let plain = snapshot("f");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let archive = zip::zip_of(&[("a.json", &plain), ("b.json", &plain)]);
    let plot =
        format!("<html><script>[{{\"name\": \"a\", \"base64\": \"{}\"}}]</script>", BASE64_STANDARD.encode(&plain));
    std::fs::write(folder.join("plain"), &plain).unwrap();
    let numbers = devices(&folder, "plain");
    for (name, bytes, how) in [
        ("a.json", &plain[..], "gzip from"),
        ("a.json.gz", &gzip, "gzip\n"),
        ("plot.html", plot.as_bytes(), "gzip from"),
        ("a.zip", &archive, "gzipped columns from"),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
        for file in [name, "-"] {
            let output = html(&folder, &[file, "-o", "out.html"], if file == "-" { bytes } else { b"" });
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success() && message.contains(how), "{name}: {message}");
            assert_eq!(message.contains("the first of 2 snapshots"), name == "a.zip", "{message}");
            assert_eq!(devices(&folder, "out.html"), numbers, "{name}");
            let page = std::fs::read_to_string(folder.join("out.html")).unwrap();
            assert!(name != "a.json.gz" || embedded(&page) == gzip, "compressed input is embedded unchanged");
        }
    }
}

#[test]
fn failed_write_keeps_existing_file() {
    let folder = folder("failing");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    std::fs::write(folder.join("cut.json"), &snapshot("f")[..40]).unwrap();
    std::fs::write(folder.join("kept.html"), "kept").unwrap();
    std::fs::write(
        folder.join("report.html"),
        VIEWER.replace("</body>", "<script id=\"part-snapshot\"></script></body>"),
    )
    .unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
    let count = || std::fs::read_dir(&folder).unwrap().count();
    let before = count();
    for (words, status, message) in [
        (&["cut.json", "-o", "kept.html"][..], 1, "cut.json"),
        (&["none.json", "-o", "kept.html"], 1, "none.json"),
        (&["folder", "-o", "kept.html"], 1, "is a folder"),
        (&["a.json", "-o", "folder"], 1, "is a folder"),
        (&["a.json", "-o", "a.json"], 1, "would overwrite the input a.json"),
        (&["a.json", "-o", "none/out.html"], 1, "none/out.html"),
        (&["a.json", "-o", "kept.html", "--viewer", "a.json"], 1, "a.json is not a memscape.html"),
        (&["a.json", "-o", "kept.html", "--viewer", "report.html"], 1, "contains a snapshot already"),
        (&["a.json", "-o", "kept.html", "--viewer", "none.html"], 1, "--viewer none.html"),
        (&["a.json"], 2, "--output <OUT.html>"),
        (&["a.json", "-o", "kept.html", "--at", "soon"], 2, "'soon' for '--at <WHEN>': An event (126670), a time"),
        (&["a.json", "b.json", "-o", "kept.html"], 2, "unexpected argument 'b.json'"),
    ] {
        let output = html(&folder, words, b"");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {error}");
        assert!(error.contains(message) && (error.lines().count() == 1 || status == 2), "{words:?}: {error}");
    }
    let full = html(&folder, &["a.json", "-o", "/dev/full"], b"");
    assert_eq!(full.status.code(), Some(1), "{}", String::from_utf8_lossy(&full.stderr));
    assert_eq!((count(), std::fs::read_to_string(folder.join("kept.html")).unwrap().as_str()), (before, "kept"));
    // A symbolic link is kept.
    std::os::unix::fs::symlink("kept.html", folder.join("link.html")).unwrap();
    assert!(html(&folder, &["a.json", "-o", "link.html"], b"").status.success());
    assert!(std::fs::read_to_string(folder.join("kept.html")).unwrap().starts_with("<html>"));
    assert!(folder.join("link.html").is_symlink());
}

/// Sends SIGINT. Does nothing if the process has ended.
fn interrupt(process: u32) {
    let _ = Command::new("kill").args(["-INT", &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

#[test]
fn ctrl_c_during_write_keeps_existing_file() {
    let folder = folder("interrupted");
    std::fs::write(folder.join("a.json"), snapshot("f")).unwrap();
    std::fs::write(folder.join("out.html"), "kept").unwrap();
    let parts = || {
        std::fs::read_dir(&folder)
            .unwrap()
            .any(|entry| entry.unwrap().path().extension().is_some_and(|it| it == "part"))
    };
    // Tries larger and larger viewers until the signal arrives during the write.
    for megabytes in [100, 300, 900] {
        let mut viewer = std::fs::File::create(folder.join("viewer.html")).unwrap();
        viewer.write_all(VIEWER.split("</body>").next().unwrap().as_bytes()).unwrap();
        viewer.set_len(megabytes << 20).unwrap();
        std::io::Seek::seek(&mut viewer, std::io::SeekFrom::End(0)).unwrap();
        viewer.write_all(b"</body></html>").unwrap();
        drop(viewer);
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(["html", "a.json", "-o", "out.html", "--viewer", "viewer.html"]).current_dir(&folder);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !parts() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        interrupt(child.id());
        let status = child.wait().unwrap();
        assert!(!parts(), "{status}");
        let out = std::fs::read(folder.join("out.html")).unwrap();
        let is_whole = out.ends_with(b"</body></html>");
        assert!(is_whole || (status.code(), out.as_slice()) == (Some(130), b"kept"), "{status}: {} bytes", out.len());
        if !is_whole {
            std::fs::remove_dir_all(&folder).unwrap();
            return;
        }
        std::fs::write(folder.join("out.html"), "kept").unwrap();
    }
    panic!("the signal never arrived during the write");
}

#[test]
fn ctrl_c_removes_temporary_file_of_stdin() {
    let folder = folder("interrupted-input");
    let inner = folder.join("tmp");
    std::fs::create_dir(&inner).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(["html", "-", "-o", "out.html", "--viewer", "viewer.html"]).current_dir(&folder);
    let mut child = command.env("TMPDIR", &inner).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&snapshot("f")).unwrap();
    let count = || std::fs::read_dir(&inner).unwrap().count();
    while count() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "memscape ended before the end of its input");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    interrupt(child.id());
    assert_eq!((child.wait().unwrap().code(), count()), (Some(130), 0));
    drop(input);
}
