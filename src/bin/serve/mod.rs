//! `memscape serve`: the page and some snapshots, for a browser here or at the other end of `ssh -L`.
//!
//! ```text
//! /TOKEN/              → page#url=0/a.pickle&url=1/rank1%252Fb.pickle    looks anew what there is
//! /TOKEN/page          the page in one file
//! /TOKEN/0/a.pickle    a snapshot, packed on its way, or a range of it
//! /ONCE                → /TOKEN/, the first time: what a browser is started with stands in the list of processes
//! ```
//! Only this machine can connect, only whoever knows the token is answered, and only under a name of this machine ([`hosts`]).

mod browser;
mod columns;
mod hosts;
mod http;
mod listing;
mod peer;
mod request;
mod sending;

use super::input::Input;
use super::opening::open;
use super::viewer::viewer;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use columns::Columns;
use hosts::Hosts;
use http::Response;
use listing::Listing;
use memscape::ui::html::packing;
use memscape::units::counted;
use peer::Peer;
use request::Asked;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of `memscape serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serve {
    /// Snapshots and folders of snapshots
    #[arg(value_name = "FILE|FOLDER", value_parser = PathBufValueParser::new().try_map(served))]
    pub(crate) paths: Vec<PathBuf>,
    /// Port to listen on; the first free one from 8765 if omitted
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Listen on this name or address of the machine, reachable from the network and unencrypted
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Use this memscape.html instead of the page in this program
    #[arg(long, value_name = "PAGE")]
    pub(crate) viewer: Option<PathBuf>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

fn served(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path.as_os_str() == "-" { Err("standard input can't be served: name a file") } else { Ok(path) }
}

impl Serve {
    /// Serves until Ctrl+C; the error is one sentence.
    pub(crate) fn run(&self) -> Result<(), String> {
        let page = viewer(self.viewer.as_deref())?;
        let listing = Listing::of(&self.paths)?;
        let (hosts, listener) = Hosts::listen(self.host.as_deref(), self.port)?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        ctrlc::set_handler(end).map_err(|error| format!("Ctrl+C can't be caught: {error}"))?;
        let (used, columns) = (AtomicBool::new(false), Columns::default());
        let served = Served { token: token()?, once: token()?, used, page: page.into(), listing, hosts, columns };
        let server = format!("http://{}:{port}", served.hosts.shown());
        // Nobody who reads it, as behind `| head -1`, is no reason to end.
        let _ = io::stdout().write_all(served.announcement(&server, port).as_bytes());
        if !self.no_browser {
            browser::open(&format!("{server}/{}", served.once));
        }
        http::answer(&listener, move |asked, peer| served.respond(asked, peer));
        Ok(())
    }
}

/// At Ctrl+C, and when it is told to end. What is on its way is cut off, which a page says; there is nothing to clean up.
fn end() {
    let _ = io::stdout().write_all(b"\nended\n");
    std::process::exit(0);
}

/// 128 bits of the system's own source, which nobody can guess.
fn token() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system has no random numbers: {error}"))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// What is answered from.
struct Served {
    token: String,
    once: String,
    used: AtomicBool,
    page: Arc<str>,
    listing: Listing,
    hosts: Hosts,
    columns: Columns,
}

impl Served {
    /// What stands on the terminal.
    fn announcement(&self, server: &str, port: u16) -> String {
        let listed = self.listing.now();
        let mut text = format!("{} at {server}/{}/\n", counted(listed.count as u64, "snapshot"), self.token);
        if listed.left_out > 0 {
            let left_out = counted(listed.left_out as u64, "older one");
            text += &format!("{left_out} are left out: name a folder further down, or files.\n");
        }
        if self.hosts.is_open() {
            text += "Whoever can read what goes over the network reads it all, this address too: ssh -L is safer.\n";
        } else {
            let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            let is_plain = |name: &&str| {
                !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it))
            };
            let machine = Some(machine.trim()).filter(is_plain).unwrap_or("THIS-MACHINE");
            text += &format!(
                "From another machine: ssh -L {port}:127.0.0.1:{port} {machine}, then open that address there.\n"
            );
        }
        text + "Open it again to see what has come meanwhile. Ctrl+C ends it.\n"
    }

    fn respond(&self, asked: &Asked, peer: &Peer) -> Response {
        if !self.hosts.answer_to(&asked.host) {
            return Response::text("403 Forbidden", "this server has another name: --host says which\n");
        }
        if asked.path == self.once && !self.used.swap(true, Ordering::Relaxed) {
            return Response::elsewhere(&format!("/{}/", self.token));
        }
        let inner = asked.path.strip_prefix(self.token.as_str());
        match inner {
            Some("") => Response::elsewhere(&format!("/{}/", self.token)),
            Some("/") => Response::elsewhere(&format!("page#{}", self.listing.now().fragment)),
            Some("/page") => self.page(),
            Some(inner) => match inner.strip_prefix('/').and_then(|path| self.listing.find(path)) {
                Some(snapshot) => sending::snapshot(&snapshot.path, asked, peer, &self.columns),
                None => Response::text("404 Not Found", "there is no such snapshot\n"),
            },
            None => {
                Response::text("404 Not Found", "the address is another one: it stands where memscape serve runs\n")
            }
        }
    }

    fn page(&self) -> Response {
        let page = Arc::clone(&self.page);
        Response {
            status: "200 OK",
            headers: vec!["Content-Type: text/html; charset=utf-8".to_owned()],
            length: Some(page.len() as u64),
            body: Box::new(move |out| out.write_all(page.as_bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one != other && one.len() == 32 && one.bytes().all(|it| it.is_ascii_hexdigit()));
    }

    #[test]
    fn a_browser_is_let_in_once() {
        let (hosts, _listener) = Hosts::listen(None, Some(0)).unwrap();
        let (token, once, used) = ("t".to_owned(), "o".to_owned(), AtomicBool::new(false));
        let (listing, columns) = (Listing::of(&[]).unwrap(), Columns::default());
        let served = Served { token, once, used, page: "page".into(), listing, hosts, columns };
        let status = |path: &str, host: &str| {
            let asked = Asked { path: path.to_owned(), host: host.to_owned(), ..Asked::default() };
            served.respond(&asked, &Peer::default()).status
        };
        assert_eq!(status("o", "evil"), "403 Forbidden");
        assert_eq!((status("o", "localhost"), status("o", "localhost")), ("302 Found", "404 Not Found"));
        assert_eq!((status("t/", "localhost"), status("t/page", "localhost")), ("302 Found", "200 OK"));
        for path in ["", "tt/page", "page", "t/pages", "t//page", "t/../page", "T/page"] {
            assert_eq!(status(path, "localhost"), "404 Not Found", "{path}");
        }
    }
}
