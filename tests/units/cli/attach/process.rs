//! Unit tests of `src/cli/attach/process.rs`.

use super::*;

/// This process, as if it ran Python 3.14.
pub(in super::super) fn own_process() -> Process {
    let group = ids(&fs::read_to_string("/proc/self/status").unwrap(), "Gid:")[1];
    let pid = std::process::id();
    let executable = std::env::current_exe().unwrap();
    Process { pid, started: state(pid).unwrap().1, user: own_user().unwrap(), group, version: (3, 14), executable }
}

#[test]
fn name_of_a_program_does_not_hide_its_state_and_start() {
    let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
    for name in ["python3", "a) Z 1 2 (b", "", "\u{fffd}\n"] {
        assert_eq!(parse_stat(&format!("4711 ({name}) {fields}")), Some(('S', 987_654)), "{name}");
    }
    for broken in ["", "4711 (python3", "4711 (python3)", "4711 (python3) S 1 2", "4711 (python3) S x x x"] {
        assert_eq!(parse_stat(broken), None, "{broken}");
    }
}

#[test]
fn process_with_the_id_of_another_one_is_not_that_one() {
    let process = own_process();
    assert!(process.is_running());
    assert!(!Process { started: process.started + 1, ..process }.is_running());
}

#[test]
fn process_that_ended_is_not_running_before_and_after_it_is_waited_for() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let process = Process { pid: child.id(), started: state(child.id()).unwrap().1, ..own_process() };
    assert!(process.is_running());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!process.is_running());
}

#[test]
fn version_is_that_of_the_library_or_the_program() {
    let path = |path: &str| version("", Path::new(path));
    assert_eq!(path("/usr/bin/python3.14"), Some((3, 14)));
    assert_eq!(path("/usr/bin/python3.9 (deleted)"), Some((3, 9)));
    assert_eq!(path("/usr/bin/uwsgi"), None);
    let maps = "7f0 r-xp 0 0 0 /usr/lib/libpython3.11.so.1.0\n7f1 r--p 0 0 0 /usr/lib/libc.so.6\n";
    assert_eq!(version(maps, Path::new("/usr/bin/uwsgi")), Some((3, 11)));
    assert_eq!(path("/opt/python99999999999.1/bin/x"), None);
}

#[test]
fn ids_are_those_of_the_named_line() {
    let status = "Name:\tUid: 7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n";
    assert_eq!(ids(status, "Uid:"), [1, 2, 3, 4]);
    assert_eq!(ids(status, "Gid:"), [5, 6, 7, 8]);
    assert_eq!(ids("", "Uid:"), [0; 0]);
}
