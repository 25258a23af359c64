//! Unit tests of `src/history/python_path.rs`. `tests/units/analysis/place.rs` and `tests/units/intake/private.rs` have
//! more paths.

use super::*;

#[test]
fn last_folder_of_packages_is_used() {
    for (path, below) in [
        ("/opt/lib/python3.11/site-packages/torch/nn/functional.py", Some("torch/nn/functional.py")),
        ("/usr/lib/python3/dist-packages/numpy/core.py", Some("numpy/core.py")),
        ("/a/site-packages/b/dist-packages/c.py", Some("c.py")),
        ("site-packages/d.py", Some("d.py")),
        ("/a/my-site-packages/e.py", None),
        ("/a/site-packages", None),
        ("", None),
    ] {
        assert_eq!(below_packages(path), below, "{path}");
    }
}

#[test]
fn standard_library_is_recognized_with_and_without_minor_version() {
    for (path, from, below) in [
        ("/usr/lib/python3.11/json/decoder.py", Some("/lib/python3.11/json/decoder.py"), Some("json/decoder.py")),
        ("/usr/lib64/python3.12/ast.py", None, Some("ast.py")),
        ("/usr/lib/python3.13t/ast.py", Some("/lib/python3.13t/ast.py"), None),
        ("/usr/lib/python3/ast.py", Some("/lib/python3/ast.py"), None),
        ("C:/Python312/Lib/ast.py", None, Some("ast.py")),
        ("/home/Lib/ast.py", None, None),
        ("/opt/python3.12/ast.py", None, None),
        ("ast.py", None, None),
    ] {
        assert_eq!((from_standard_library(path), below_standard_library(path)), (from, below), "{path}");
    }
}
