//! `memscape serve` with more ranks than the page lists, and its hints for different hosts.

#![cfg(unix)]

use crate::generate::{Options, generate};
use crate::served::Server;
use memscape::compare::ranks::SurveyProgress;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// The smallest page that `memscape serve` accepts as a viewer.
const VIEWER: &str = "<html><body><script id=\"part-wasm\"></script></body></html>";

/// Creates an empty folder and a page beside it.
fn folder(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-serve-ranks").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let viewer = folder.with_extension("html");
    std::fs::write(&viewer, VIEWER).unwrap();
    (folder, viewer)
}

/// Requests a path below the token and returns status and body.
fn get(server: &Server, path: &str) -> (String, Vec<u8>) {
    let (mut stream, head) = server.request(path, "");
    let mut body = Vec::new();
    stream.read_to_end(&mut body).unwrap();
    (head.split(' ').nth(1).unwrap_or_default().to_owned(), body)
}

/// The outlier is the oldest of 230 ranks, beyond the 200 that the page lists.
#[test]
fn rank_scan_includes_ranks_not_listed_on_page() {
    let (folder, viewer) = folder("outlier");
    let bytes = |words: &str| {
        let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).unwrap();
        generate(&options, Vec::new()).unwrap().0
    };
    let (usual, larger) = (bytes("--events 200"), bytes("--events 2000"));
    for rank in 0..230 {
        let path = folder.join(format!("rank{rank}.pickle"));
        std::fs::write(&path, if rank == 0 { &larger } else { &usual }).unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(rank + 1);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
    }
    std::fs::write(folder.join("rank230.pickle"), b"").unwrap();
    let server = Server::start(&viewer, &[folder.to_str().unwrap()]);
    let (_, head) = server.request("", "");
    assert!(head.contains("/rank229.pickle") && !head.contains("/rank0.pickle"), "{head}");
    let all = String::from_utf8(get(&server, "listing").1).unwrap();
    let files: Vec<&str> = all.lines().collect();
    let mut gathering = SurveyProgress::new(files.iter().map(|file| (*file).to_owned()).collect());
    for (file, place) in files.iter().zip(0..) {
        let (status, body) = get(&server, &format!("{file}?survey"));
        gathering.add(
            place,
            match &*status {
                "200" => Ok(memscape::protocol::decode(&body).unwrap()),
                _ => Err(String::from_utf8(body).unwrap()),
            },
        );
    }
    let of = gathering.ranks();
    assert_eq!(of.outliers.iter().map(|it| of.ranks[it.at as usize].rank).collect::<Vec<_>>(), [Some(0)]);
    let unread: Vec<_> = of.ranks.iter().filter(|rank| rank.error.is_some()).map(|rank| rank.rank).collect();
    assert_eq!(unread, [Some(230)], "the empty file has a row with an error: {:?}", of.verdict);
}

/// Returns what the server prints for a host.
fn output_for_host(host: &str) -> String {
    let (_, viewer) = folder(&host.replace(':', "-"));
    let mut process = Command::new(env!("CARGO_BIN_EXE_memscape"))
        .args(["serve", "--no-browser", "--host", host, "--viewer"])
        .arg(viewer)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap());
    let mut output = String::new();
    while !output.contains("Ctrl+C") {
        assert!(lines.read_line(&mut output).unwrap() > 0, "the server ended: {output}");
    }
    process.kill().unwrap();
    process.wait().unwrap();
    output
}

#[test]
#[cfg(target_os = "linux")]
fn hints_match_listening_host() {
    let output = output_for_host("127.0.0.2");
    let port = output.split_once("http://127.0.0.2:").unwrap().1.split_once('/').unwrap().0.to_owned();
    assert!(output.contains(&format!("ssh -L {port}:127.0.0.2:{port} ")), "{output}");
    assert!(output.contains(&format!("then open http://localhost:{port}/")), "{output}");
    let output = output_for_host("127.0.0.1");
    assert!(output.contains(":127.0.0.1:") && output.contains("then open the address there."), "{output}");
    let output = output_for_host("0.0.0.0");
    let (first, rest) = output.split_once('\n').unwrap();
    assert!(first.contains("http://127.0.0.1:") && rest.contains("From another machine: http://"), "{output}");
    assert!(!rest.contains("http://127.") && !rest.contains("ssh -L 8") && rest.contains("Unencrypted"), "{output}");
}
