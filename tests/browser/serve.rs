//! `cargo run --example serve -- FOLDER PORT`: serves a folder on localhost, at PORT or the next free one. `./run serve`
//! calls it.

mod server;

use server::Response;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map(PathBuf::from).filter(|folder| folder.join("index.html").is_file());
    let port = arguments.next().and_then(|port| port.to_str()?.parse::<u16>().ok());
    let (Some(folder), Some(port)) = (folder, port) else {
        eprintln!("serve: wants a folder with an index.html, and a port number");
        return ExitCode::from(2);
    };
    match server::start(port..=u16::MAX, move |path| Response::file(&folder, path)) {
        Ok(address) => println!("memscape is at http://{address}/ (Ctrl+C ends it)"),
        Err(error) => {
            eprintln!("serve: can't listen at port {port} or any above: {error}");
            return ExitCode::FAILURE;
        }
    }
    loop {
        std::thread::park();
    }
}
