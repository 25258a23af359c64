//! `serve FOLDER FIRST_PORT [--building MARKER]`: serves a folder on localhost, at FIRST_PORT or the next free port.
//!
//! While the file MARKER exists, requests for parts of the page that are not built yet wait for them.

use server::Response;
use server::parts::Parts;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (folder, port, marker) = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [folder, port] => (PathBuf::from(folder), port.parse::<u16>(), None),
        [folder, port, "--building", marker] => (PathBuf::from(folder), port.parse(), Some(PathBuf::from(marker))),
        _ => {
            eprintln!("usage: serve FOLDER PORT [--building MARKER]");
            return ExitCode::from(2);
        }
    };
    let Ok(port) = port else {
        eprintln!("serve: invalid port: a number from 0 to 65535 is needed");
        return ExitCode::from(2);
    };
    if !folder.join("index.html").is_file() {
        eprintln!("serve: {} has no index.html", folder.display());
        return ExitCode::from(2);
    }
    let parts = Parts::new(folder.clone(), marker);
    match server::start(port..=u16::MAX, move |path| Response::file(&folder, &parts.resolve(path))) {
        Ok(address) => println!("memscape is at http://{address}/ (press Ctrl+C to stop)"),
        Err(error) => {
            eprintln!("serve: cannot listen on port {port} or any above it: {error}");
            return ExitCode::FAILURE;
        }
    }
    loop {
        std::thread::park();
    }
}
