//! `memscape serve`: serves the page and snapshots to a local browser, or to one at the other end of `ssh -L`.
//!
//! ```text
//! /TOKEN/              → page?live#url=0/a.pickle&url=1/rank1%252Fb.pickle    lists the current snapshots
//! /TOKEN/page          the page in one file
//! /TOKEN/0/a.pickle    a snapshot, compressed in transit, or a byte range
//! /TOKEN/changes       server-sent events about changes in the folders
//! /TOKEN/listing       addresses of all snapshots, including those that the page does not list
//! /TOKEN/0/a.pickle?survey   the survey of a snapshot, for the comparison of ranks
//! /ONCE                → /TOKEN/, only once: other users can see the browser's command line
//! ```
//! With `--lake`, the snapshots are those of the tables of a survey ([`lake`]). By default only this machine can
//! connect. Requests need the token, and a `Host` header that names this machine ([`hosts`]).

mod announcement;
mod browser;
mod connections;
mod decoded_cache;
mod hosts;
mod lake;
mod listing;
mod range;
mod search;
mod snapshot_response;
mod surveys;
mod watch;

use super::file_survey::survey_file;
use super::input::Input;
use super::opening::open;
use super::output::print;
use super::signals;
use super::viewer::{viewer, with_sql};
use announcement::{Found, announcement};
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use decoded_cache::{DecodedCache, Peer};
use hosts::Hosts;
use lake::Lake;
use listing::{LISTING_TYPE, Listing};
pub(crate) use search::{ALL_ENTRIES, FEW_ENTRIES, Search, Snapshot, search, snapshots};
use snapshot_response::{redirect, text_response};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use watch::Watch;

/// Arguments of `memscape serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serve {
    /// Snapshots and folders of snapshots; links in folders are not followed
    #[arg(value_name = "FILE|FOLDER", value_parser = PathBufValueParser::new().try_map(parse_path))]
    pub(crate) paths: Vec<PathBuf>,
    /// Serve the snapshots in the tables of memscape fleet survey, by job, step and rank
    #[arg(long, value_name = "LAKE", conflicts_with = "paths")]
    pub(crate) lake: Option<OsString>,
    /// Options of the object store, as for memscape fleet
    #[arg(long, value_name = "JSON", requires = "lake")]
    pub(crate) storage: Option<OsString>,
    /// Port to listen on; the first free one from 8765 if omitted
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Listen on this name or address of the machine, reachable from the network and unencrypted
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Use this memscape.html instead of the built-in page
    #[arg(long, value_name = "PAGE")]
    pub(crate) viewer: Option<PathBuf>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Stop when standard input ends, as it does when the program that started this one is gone
    #[arg(long, hide = true)]
    pub(crate) exit_with_stdin: bool,
    /// Maximum time, in milliseconds, for a client to send the head of its request
    #[arg(long, value_name = "MS", default_value_t = 10_000, hide = true)]
    pub(crate) head_deadline: u64,
}

fn parse_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path.as_os_str() == "-" { Err("standard input cannot be served: name a file") } else { Ok(path) }
}

impl Serve {
    /// Serves until Ctrl+C. Returns an error message on failure.
    pub(crate) fn run(&self) -> Result<(), String> {
        let listing = Listing::new(&self.paths)?;
        let lake = self.lake.as_ref().map(|lake| Lake::start(lake, self.storage.as_ref())).transpose()?;
        let page = viewer(self.viewer.as_deref())?;
        // If the SQL part was not built, the page is served without it and its SQL tab says so.
        let page = with_sql(page.clone()).unwrap_or(page);
        let (hosts, listener) = Hosts::listen(self.host.as_deref(), self.port)?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let shutdown = shutdown_signal()?;
        if self.exit_with_stdin {
            stop_with_stdin(Arc::clone(&shutdown));
        }
        let (is_once_used, columns) = (AtomicBool::new(false), DecodedCache::default());
        let (token, once_token, watch) = (token()?, token()?, Watch::default());
        let page = page.into();
        let served = ServerState { token, once_token, is_once_used, page, listing, lake, hosts, columns, watch };
        let found = served.lake.as_ref().map_or_else(|| Found::in_folders(served.listing.current()), Found::in_lake);
        let server = format!("http://{}:{port}", served.hosts.url_host());
        print(&announcement(&served.hosts, port, &served.token, &found))?;
        if !self.no_browser {
            browser::open(format!("{server}/{}", served.once_token));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
        let head_timeout = Duration::from_millis(self.head_deadline);
        let answered = connections::serve(listener, routes(Arc::new(served)), head_timeout, shutdown.notified());
        runtime.block_on(answered).map_err(|error| error.to_string())?;
        // Do not wait for files that are still being decoded.
        runtime.shutdown_background();
        print("\nstopped\n")
    }
}

/// Returns a notification for Ctrl+C and SIGTERM. A second signal ends the program immediately.
fn shutdown_signal() -> Result<Arc<Notify>, String> {
    let (shutdown, is_asked) = (Arc::new(Notify::new()), AtomicBool::new(false));
    let notified = Arc::clone(&shutdown);
    let end = move |_| {
        if is_asked.swap(true, Ordering::Relaxed) {
            std::process::exit(0);
        }
        notified.notify_one();
    };
    signals::handle(end).map_err(|error| format!("cannot handle Ctrl+C: {error}"))?;
    Ok(shutdown)
}

/// Notifies `shutdown` when standard input ends.
fn stop_with_stdin(shutdown: Arc<Notify>) {
    std::thread::spawn(move || {
        // A read error also counts as the end.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        shutdown.notify_one();
    });
}

/// Returns 128 random bits as hexadecimal digits.
fn token() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers from the system: {error}"))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// State shared by all requests.
struct ServerState {
    token: String,
    once_token: String,
    is_once_used: AtomicBool,
    page: Bytes,
    listing: Listing,
    lake: Option<Lake>,
    hosts: Hosts,
    columns: DecodedCache,
    watch: Watch,
}

/// Headers of every response. They prevent other sites from framing, embedding or reading responses, and the browser
/// from sending a referrer or storing responses.
const COMMON_HEADERS: [(&str, &str); 7] = [
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Creates the HTTP routes.
fn routes(served: Arc<ServerState>) -> Router {
    let token = &served.token;
    let root = format!("/{token}/");
    // Works only once.
    let enter = async |State(served): State<Arc<ServerState>>, Extension(root): Extension<Root>| {
        if served.is_once_used.swap(true, Ordering::Relaxed) { not_found().await } else { redirect(&root.0) }
    };
    let list = async |State(served): State<Arc<ServerState>>| {
        let listed = spawn_blocking(move || served.listing.current().fragment).await;
        redirect(&format!("page?live#{}", listed.unwrap_or_default()))
    };
    let changes =
        async |State(served): State<Arc<ServerState>>| watch::changes(move || served.watch.files(&served.listing));
    let listing = async |State(served): State<Arc<ServerState>>| {
        let all = spawn_blocking(move || served.listing.all_addresses()).await;
        ([(CONTENT_TYPE, LISTING_TYPE)], all.unwrap_or_default()).into_response()
    };
    let below = format!("{root}{{*path}}");
    let routes = match &served.lake {
        Some(_) => Router::new().route(&root, get(resource)),
        None => Router::new()
            .route(&root, get(list))
            .route(&format!("{root}page"), get(page))
            .route(&format!("{root}changes"), get(changes))
            .route(&format!("{root}listing"), get(listing)),
    };
    routes
        .route(&below, get(resource))
        .route(&format!("/{}", served.once_token), get(enter))
        .route(&format!("/{token}"), get(async |Extension(root): Extension<Root>| redirect(&root.0)))
        .fallback(not_found)
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(
            |_, _, headers: &HeaderMap, _: &_| headers.contains_key(snapshot_response::UNCOMPRESSED_LENGTH),
        ))
        .layer(Extension(Root(root.into())))
        .layer(from_fn_with_state(Arc::clone(&served), check_request))
        .with_state(served)
}

/// Root path of all resources, `/TOKEN/`.
#[derive(Clone)]
struct Root(Arc<str>);

/// Rejects malformed requests and requests with an unknown host, and adds the common headers to every response.
async fn check_request(State(served): State<Arc<ServerState>>, mut request: Request, next: Next) -> Response {
    let hosts: Vec<&[u8]> = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes).collect();
    let mut response = match hosts.as_slice() {
        // Absolute URIs and `*` are used with proxies, and never by the page.
        _ if request.uri().authority().is_some() || !request.uri().path().starts_with('/') => {
            text_response(StatusCode::BAD_REQUEST, "bad request\n".to_owned())
        }
        _ if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            let mut refused =
                text_response(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n".to_owned());
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            refused
        }
        [host] if served.hosts.accepts(&String::from_utf8_lossy(host)) => {
            // Compression needs chunked encoding, which HTTP/1.0 does not have.
            if request.version() == Version::HTTP_10 {
                request.headers_mut().remove(ACCEPT_ENCODING);
            }
            next.run(request).await
        }
        [_] => text_response(StatusCode::FORBIDDEN, "unknown host name: see --host\n".to_owned()),
        _ => text_response(StatusCode::BAD_REQUEST, "expected exactly one Host header\n".to_owned()),
    };
    let headers = response.headers_mut();
    for (name, value) in COMMON_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A compressed response is a different representation and needs a different ETag (RFC 9110, 8.8.3.3).
    if headers.contains_key(CONTENT_ENCODING)
        && let Some(tag) = headers.get(ETAG).and_then(|tag| tag.to_str().ok())
        && let Ok(tag) = HeaderValue::try_from(format!("{}-gzip\"", tag.trim_end_matches('"')))
    {
        headers.insert(ETAG, tag);
    }
    response
}

/// Responds with a snapshot or its survey, and with the lists and the page below them if there is a lake.
async fn resource(State(served): State<Arc<ServerState>>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if served.lake.is_some() && uri.path().ends_with("/page") {
        return page(State(served)).await;
    }
    // Dropped when the client disconnects, which `peer` then notices.
    let waiting = Arc::new(());
    let peer = Peer(Arc::downgrade(&waiting));
    let answer = spawn_blocking(move || {
        let path = uri.path().get(served.token.len() + 2..).unwrap_or_default();
        let snapshot = |path: &Path| snapshot_response::snapshot(path, &method, &headers, &peer, &served.columns);
        match (&served.lake, served.listing.find(path)) {
            (Some(lake), _) => lake.respond(path, uri.query(), snapshot),
            (None, Some(found)) if uri.query() == Some("survey") => surveys::survey(&found.path, &peer),
            (None, Some(found)) => snapshot(&found.path),
            (None, None) => text_response(StatusCode::NOT_FOUND, "no such snapshot\n".to_owned()),
        }
    });
    answer.await.unwrap_or_else(|error| text_response(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

async fn page(State(served): State<Arc<ServerState>>) -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], served.page.clone()).into_response()
}

async fn not_found() -> Response {
    text_response(StatusCode::NOT_FOUND, "not found: use the full address that memscape serve printed\n".to_owned())
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/mod.rs"]
mod tests;
