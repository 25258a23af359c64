//! Links: which snapshot the page's address names, and what to say when it can't be fetched.
//!
//! `#url=` is never sent to the server that hosts the page; `?url=` is, and is read for convenience where the fragment names nothing.

pub mod resume;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How a page came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Came {
    /// By http.
    #[default]
    Http,
    Https,
    /// From the disk: no origin that a server could name.
    Disk,
}

impl Came {
    /// By this `location.protocol`.
    pub fn by(protocol: &str) -> Came {
        match protocol {
            "https:" => Came::Https,
            "file:" => Came::Disk,
            _ => Came::Http,
        }
    }
}

/// The server of an absolute address, as it is asked: without a user's name before it.
pub fn server(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().filter(|server| !server.is_empty())
}

/// Why no browser lets a page that came so fetch `url`: by http what is neither on this machine nor for a page by http.
pub fn refused(url: &str, came: Came) -> Option<String> {
    let server = server(url).filter(|_| came == Came::Https && url.starts_with("http://"))?;
    let host = server.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(server, |(host, _)| host);
    let is_local = host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]";
    (!is_local).then(|| {
        format!(
            "This page was loaded over https and cannot fetch over http. Use an https address on {server}, or download the file and drop it here."
        )
    })
}

/// The addresses after each `url=` in the page's query, percent-decoded. (Those in its fragment: [`super::link::Link`].)
pub fn of_query(query: &str) -> Vec<String> {
    let pairs = query.strip_prefix('?').unwrap_or(query).split('&').filter_map(|pair| pair.strip_prefix("url="));
    pairs.map(percent_decoded).filter(|url| !url.is_empty()).collect()
}

/// What stands in a link as it is; the rest is written as `%20` and its like.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':').remove(b',');

/// `text` as it stands in a link.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// `%20` and its like decoded; a `%` that starts none stays. Bytes that are no UTF-8 become U+FFFD.
pub fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The last part of an address's path, for messages: `https://a.b/c/d.pickle?x` is `d.pickle`.
pub fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    percent_decoded(if name.is_empty() { url } else { name })
}

/// Whether an origin may be written into a content security policy. The URL standard lets a host contain `;` and `,`,
/// which would end a directive there.
pub fn is_plain_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
    })
}

/// Why `url` could not be fetched, in words a person can act on. `status` is the HTTP status; `None` when there was no answer
/// the page may read.
pub fn fetch_failure(url: &str, status: Option<u16>, came: Came) -> String {
    let server = server(url).unwrap_or("The server");
    match status {
        Some(404 | 410) => {
            format!("{server} has no such file (status {}). Check the link.", status.unwrap_or(404))
        }
        Some(code @ (401 | 403)) => {
            format!("{server} denied access (status {code}). Log in there, download the file and drop it here.")
        }
        Some(code @ 500..) => format!("{server} failed (status {code}). Try again later."),
        Some(code) => format!("{server} answered with status {code} instead of the file. Check the link."),
        None if came == Came::Disk => format!(
            "{server} could not be reached, or does not allow local pages to read the file (Access-Control-Allow-Origin: * is needed). Download it and drop it here."
        ),
        None => format!(
            "{server} could not be reached, does not allow other sites to read the file (CORS), or redirects to another server. Download it and drop it here."
        ),
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/url.rs"]
mod tests;
