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

pub(crate) use browser::Browser;

use super::input::Input;
use super::opening::open;
use super::viewer::viewer;
use base::units::counted;
use columns::Columns;
use hosts::Hosts;
use http::Response;
use listing::Listing;
use peer::Peer;
use request::Asked;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use ui::html::packing;

/// What `memscape serve` is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Serve {
    /// Files and folders.
    pub(crate) paths: Vec<String>,
    /// The name or number to listen on; this machine's own loopback otherwise.
    pub(crate) host: Option<String>,
    /// The port; without one the first free one.
    pub(crate) port: Option<u16>,
    /// The page; that which this program was built with otherwise.
    pub(crate) viewer: Option<String>,
    /// Whether a browser is opened.
    pub(crate) browser: Browser,
}

impl Serve {
    /// Reads the arguments after `serve`.
    ///
    /// # Errors
    /// What makes no sense, in a few words.
    pub(crate) fn of(arguments: &[String]) -> Result<Serve, String> {
        let mut serve = Serve { paths: Vec::new(), host: None, port: None, viewer: None, browser: Browser::Open };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or_else(|| format!("{word} what?"));
            match word.as_str() {
                "--host" => serve.host = Some(value()?),
                "--port" => {
                    serve.port = Some(value()?.parse().map_err(|_| "--port is a number up to 65535".to_owned())?);
                }
                "--viewer" => serve.viewer = Some(value()?),
                "--no-browser" => serve.browser = Browser::Leave,
                "--" => serve.paths.extend(words.by_ref().cloned()),
                "-" => return Err("standard input can't be served: name a file".to_owned()),
                flag if flag.starts_with('-') => return Err(format!("there is no {flag}")),
                path => serve.paths.push(path.to_owned()),
            }
        }
        Ok(serve)
    }

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
        if self.browser == Browser::Open {
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

    fn serve(line: &str) -> Result<Serve, String> {
        Serve::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_come_in_any_order() {
        let read = serve("a.pickle --port 80 --no-browser --host node7 b -- --c").unwrap();
        assert_eq!((read.paths.len(), read.port, read.browser), (3, Some(80), Browser::Leave));
        assert_eq!((read.host.as_deref(), read.paths[2].as_str()), (Some("node7"), "--c"));
        assert!(serve("").unwrap().paths.is_empty());
        for wrong in ["--port", "--port x", "--port 65536", "--bind", "-", "--host"] {
            assert!(serve(wrong).is_err(), "{wrong}");
        }
    }

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
