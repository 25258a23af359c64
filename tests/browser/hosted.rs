//! `dist/` on an arbitrary static host: under a path with a space, without special headers, and with wrong content
//! types.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{self, halves};
use crate::opening::wait_for_halves;
use crate::page::Page;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Content types that the server sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentTypes {
    /// No content types.
    None,
    /// `application/octet-stream`, except for HTML and CSS, which browsers reject with another type.
    Bytes,
}

/// Path of the page.
const BASE_PATH: &str = "/a/b%20c/";

/// Serves `dist/` below [`FOLDER`], and fixtures below its `run/`. Returns the URL of the page and a switch that stops
/// the server.
fn serve(types: ContentTypes) -> (String, Arc<AtomicBool>) {
    halves();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = format!("http://{}{BASE_PATH}", listener.local_addr().expect("the server listens"));
    let is_on = Arc::new(AtomicBool::new(true));
    let switch = Arc::clone(&is_on);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let switch = Arc::clone(&switch);
            std::thread::spawn(move || if switch.load(Ordering::SeqCst) { respond(stream, types) } else { Ok(()) });
        }
    });
    (address, is_on)
}

fn respond(mut stream: TcpStream, types: ContentTypes) -> io::Result<()> {
    let (mut request, mut line, mut lines) = (String::new(), String::new(), BufReader::new(stream.try_clone()?));
    while lines.read_line(&mut line)? > 2 {
        if request.is_empty() {
            request.clone_from(&line);
        }
        line.clear();
    }
    let target = request.split(' ').nth(1).unwrap_or_default();
    let Some(name) = target.strip_prefix(BASE_PATH) else {
        return stream.write_all(b"HTTP/1.0 404 Not Found\r\n\r\n");
    };
    let name = if name.is_empty() { "index.html" } else { name };
    let path = match name.strip_prefix("run/") {
        Some(name) => fixtures::folder().join(name),
        None => crate::site::dist().join(name),
    };
    let Ok(bytes) = std::fs::read(path) else { return stream.write_all(b"HTTP/1.0 404 Not Found\r\n\r\n") };
    let kind = match name.rsplit('.').next() {
        _ if types == ContentTypes::None => "",
        Some("html") => "Content-Type: text/html\r\n",
        Some("css") => "Content-Type: text/css\r\n",
        _ => "Content-Type: application/octet-stream\r\n",
    };
    stream.write_all(format!("HTTP/1.0 200 OK\r\n{kind}\r\n").as_bytes())?;
    stream.write_all(&bytes)
}

fn open_page(address: &str) -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), address);
    page.wait_until("the page has started", || !page.text("#snippet").is_empty());
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_works_under_any_path_with_missing_or_generic_content_types() {
    for types in [ContentTypes::None, ContentTypes::Bytes] {
        let (address, _) = serve(types);
        let page = open_page(&address);
        page.click("#open-example");
        page.wait_for_state("ready");
        let styled = page.evaluate("getComputedStyle(document.querySelector('#bar')).display");
        assert_eq!(styled, "flex", "the styles are not applied");
        let own = |url: &String| url.starts_with(&address) || url.starts_with("blob:") || url.starts_with("data:");
        let foreign: Vec<_> = page.requests().into_iter().filter(|url| !own(url)).collect();
        assert_eq!(foreign, Vec::<String>::new(), "requests outside the page's folder");
        assert_eq!(page.errors(), Vec::<String>::new());
        wait_for_halves(&open_page(&format!("{address}#url=run/halves.pickle")));
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn page_keeps_working_after_server_stops() {
    let (address, is_on) = serve(ContentTypes::Bytes);
    let page = open_page(&address);
    // The worker's script has been fetched.
    page.wait_until("the worker has started", || !page.workers().is_empty());
    is_on.store(false, Ordering::SeqCst);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.wait_until("the error of the export is shown", || {
        page.evaluate("document.querySelector('#export-html').click()");
        page.text("#status").contains("memscape.html, the single-file page, is missing next to this page")
    });
}
