//! Unit tests of `src/intake/private.rs`.

use super::{public_path, traceback_line};
use protocol::LeaveOut;

fn path(path: &str) -> String {
    String::from_utf8(public_path(path.as_bytes())).unwrap()
}

#[test]
fn private_folders_become_hashes_and_public_paths_stay() {
    for (from, to) in [
        (
            "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py",
            "/site-packages/torch/nn/modules/linear.py",
        ),
        (r"C:\env\Lib\site-packages\torch\_tensor.py", "/site-packages/torch/_tensor.py"),
        ("/usr/lib/python3.11/threading.py", "/lib/python3.11/threading.py"),
        ("/root/.pyenv/versions/3.11.7/lib/python3.11/runpy.py", "/lib/python3.11/runpy.py"),
        ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"),
        ("train.py", "train.py"),
        ("??", "??"),
        ("", ""),
    ] {
        assert_eq!(path(from), to, "{from}");
    }
}

#[test]
fn files_of_a_folder_get_the_same_hash_and_keep_their_names() {
    let (train, model) = (path("/home/alice/secret/train.py"), path("/home/alice/secret/model.py"));
    assert_eq!(train.split_once('/').unwrap().0, model.split_once('/').unwrap().0);
    assert!(train.ends_with("/train.py") && model.ends_with("/model.py"));
    assert_ne!(path("/home/bob/secret/train.py"), train);
    assert_eq!(path(r"C:\alice\train.py"), path("C:/alice/train.py"));
    // A package that is installed but not well known.
    let package = path("/env/lib/python3.11/site-packages/secret_lab/model.py");
    assert!(!package.contains("secret_lab") && package.ends_with("/model.py"), "{package}");
}

#[test]
fn lines_of_tracebacks_keep_their_place_without_source() {
    let line = "  File \"/home/alice/train.py\", line 3, in step\n    secret = 1\n";
    let all = String::from_utf8(traceback_line(line.as_bytes(), LeaveOut::ALL)).unwrap();
    assert!(all.contains("train.py\", line 3, in step") && !all.contains("alice") && !all.contains("secret"), "{all}");
    let paths = LeaveOut { paths: true, ..LeaveOut::default() };
    let paths = String::from_utf8(traceback_line(line.as_bytes(), paths)).unwrap();
    assert!(!paths.contains("alice") && paths.contains("secret = 1"), "{paths}");
    assert_eq!(traceback_line(b"    secret = 1", LeaveOut::ALL), b"");
}
