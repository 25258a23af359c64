//! Unit tests of `src/cli/attach/request.rs`: who can read, replace or forge the files of a request.

use super::super::process::tests::own_process;
use super::*;
use std::os::unix::fs::symlink;
use std::process::Command;

/// User without a name.
const NOBODY: u32 = 65534;

/// A new folder of this user for a test, and the request in it.
fn folder() -> TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

fn request(base: &Path) -> Request {
    Request::write_in(base, &own_process(), json!({"what": "status"})).unwrap()
}

fn refusal(base: &Path) -> String {
    Request::write_in(base, &own_process(), json!({})).err().unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// Returns the refusal of a folder.
fn unsafe_text(folder: &Path) -> String {
    format!(
        "other users can replace files in {}, so the script for the program would not be safe there: set TMPDIR to a folder \
         of your own",
        folder.display()
    )
}

#[test]
fn only_the_owner_can_open_the_folder_and_read_the_script() {
    let base = folder();
    let request = request(base.path());
    let script = request.script();
    assert_eq!(script.parent(), Some(request.folder.path()));
    assert_eq!((mode(request.folder.path()), mode(script)), (0o700, 0o600));
    for path in [script, request.folder.path()] {
        assert_eq!(fs::metadata(path).unwrap().uid(), own_user().unwrap());
    }
}

#[test]
fn script_has_the_request_and_all_modules() {
    let base = folder();
    let options = json!({"what": "start", "folder": "/a \"b\"\n\\c'''", "entries": 7});
    let request = Request::write_in(base.path(), &own_process(), options).unwrap();
    let text = fs::read_to_string(request.script()).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("_memscape_attach(")).unwrap();
    // A string of Python that is also one of JSON, with JSON in it.
    let inner: String = serde_json::from_str(line.strip_suffix(')').unwrap()).unwrap();
    let value: Value = serde_json::from_str(&inner).unwrap();
    assert_eq!((&value["folder"], &value["entries"]), (&json!("/a \"b\"\n\\c'''"), &json!(7)));
    assert_eq!(value["reply"], json!(request.folder.path().join("reply.json")));
    let modules = value["modules"].as_object().unwrap();
    assert_eq!(modules.len(), MODULES.len());
    assert!(modules.contains_key("memscape._attached"));
}

#[test]
fn folder_and_script_are_removed_with_the_request() {
    let base = folder();
    drop(request(base.path()));
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}

#[test]
fn folder_that_others_can_write_to_is_refused_unless_it_is_sticky() {
    let base = folder();
    let base = base.path().canonicalize().unwrap();
    for shared in [0o777, 0o770, 0o702, 0o720] {
        set_mode(&base, shared);
        assert_eq!(refusal(&base), unsafe_text(&base), "{shared:o}");
    }
    // As /tmp.
    for sticky in [0o1777, 0o1770] {
        set_mode(&base, sticky);
        drop(request(&base));
    }
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
}

#[test]
fn folder_below_one_that_others_can_write_to_is_refused() {
    let outer = folder();
    let outer = outer.path().canonicalize().unwrap();
    let inner = outer.join("a/b");
    fs::create_dir_all(&inner).unwrap();
    set_mode(&outer, 0o777);
    assert_eq!(refusal(&inner), unsafe_text(&outer));
}

#[test]
fn link_to_a_folder_is_followed_once_and_checked_where_it_leads() {
    let outer = folder();
    let outer = outer.path().canonicalize().unwrap();
    let [private, shared, link] = ["private", "shared", "link"].map(|name| outer.join(name));
    fs::create_dir(&private).unwrap();
    fs::create_dir(&shared).unwrap();
    set_mode(&shared, 0o777);
    symlink(&shared, &link).unwrap();
    assert_eq!(refusal(&link), unsafe_text(&shared));
    fs::remove_file(&link).unwrap();
    symlink(&private, &link).unwrap();
    let request = request(&link);
    // The link may lead elsewhere by now.
    fs::remove_file(&link).unwrap();
    symlink(&shared, &link).unwrap();
    assert!(request.script().starts_with(&private));
    drop(request);
    assert_eq!(fs::read_dir(&private).unwrap().count() + fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn missing_folder_is_an_error_that_names_it() {
    let missing = folder().path().join("missing");
    assert!(refusal(&missing).starts_with(&format!("{}: ", missing.display())));
}

/// Gives a folder to another user. Returns false if this program may not.
fn give(path: &Path) -> bool {
    chown(path, Some(NOBODY), Some(NOBODY)).is_ok()
}

#[test]
fn folder_of_another_user_is_refused_unless_the_program_is_that_users() {
    let base = folder();
    let base = base.path().canonicalize().unwrap();
    if !give(&base) {
        return;
    }
    assert_eq!(refusal(&base), unsafe_text(&base));
    let process = Process { user: NOBODY, group: NOBODY, ..own_process() };
    let request = Request::write_in(&base, &process, json!({})).unwrap();
    for path in [request.script(), request.folder.path()] {
        let facts = fs::symlink_metadata(path).unwrap();
        assert_eq!((facts.uid(), facts.gid()), (NOBODY, NOBODY));
    }
    assert_eq!((mode(request.folder.path()), mode(request.script())), (0o700, 0o600));
}

#[test]
fn reply_is_read_once_it_is_complete() {
    let base = folder();
    let request = request(base.path());
    let path = request.folder.path().join(REPLY);
    assert_eq!(request.reply(), Ok(None));
    fs::write(path.with_extension("json.new"), "{").unwrap();
    assert_eq!(request.reply(), Ok(None));
    fs::write(&path, r#"{"pid": 7}"#).unwrap();
    assert_eq!(request.reply(), Ok(Some(json!({"pid": 7}))));
    for text in ["[1]", "7", "null"] {
        fs::write(&path, text).unwrap();
        assert_eq!(request.reply(), Err("the reply is no JSON object".to_owned()), "{text}");
    }
    for text in ["", "{", "{\"a\": \u{1}}"] {
        fs::write(&path, text).unwrap();
        assert!(request.reply().unwrap_err().starts_with("the reply is no JSON: "), "{text}");
    }
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(request.reply().unwrap_err().starts_with("the reply is no JSON: "));
}

#[test]
fn reply_that_is_a_link_is_not_followed() {
    let base = folder();
    let request = request(base.path());
    let secret = base.path().join("secret.json");
    fs::write(&secret, r#"{"password": 7}"#).unwrap();
    let reply = request.folder.path().join(REPLY);
    symlink(&secret, &reply).unwrap();
    assert!(request.reply().unwrap_err().starts_with("the reply cannot be read: "));
    fs::remove_file(&reply).unwrap();
    symlink(base.path().join("missing"), &reply).unwrap();
    assert!(request.reply().is_err());
}

#[test]
fn reply_that_is_a_pipe_or_a_folder_is_refused_without_waiting() {
    let base = folder();
    let request = request(base.path());
    let reply = request.folder.path().join(REPLY);
    assert!(Command::new("mkfifo").arg(&reply).status().unwrap().success());
    assert_eq!(request.reply(), Err("the reply is no file of the program's owner".to_owned()));
    fs::remove_file(&reply).unwrap();
    fs::create_dir(&reply).unwrap();
    assert_eq!(request.reply(), Err("the reply is no file of the program's owner".to_owned()));
}

#[test]
fn reply_of_another_user_is_refused() {
    let base = folder();
    let request = request(base.path());
    let reply = request.folder.path().join(REPLY);
    fs::write(&reply, "{}").unwrap();
    if give(&reply) {
        assert_eq!(request.reply(), Err("the reply is no file of the program's owner".to_owned()));
    }
}

#[test]
fn long_reply_is_refused_without_reading_all_of_it() {
    let base = folder();
    let request = request(base.path());
    let reply = request.folder.path().join(REPLY);
    let text = |length: u64| format!("{{\"a\": \"{}\"}}", "x".repeat(length as usize - 9));
    fs::write(&reply, text(MAX_REPLY)).unwrap();
    assert!(matches!(request.reply(), Ok(Some(_))));
    fs::write(&reply, text(MAX_REPLY + 1)).unwrap();
    assert_eq!(request.reply(), Err("the reply is longer than 1048576 bytes".to_owned()));
    // A file without blocks on the disk.
    fs::File::create(&reply).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(request.reply(), Err("the reply is longer than 1048576 bytes".to_owned()));
}
