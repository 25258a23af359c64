//! Links to snapshots: the `url=` parameters of the page's address, and error messages for links that cannot be
//! fetched.
//!
//! Browsers do not send `#url=` to the page's server. They do send `?url=`, which is only read if the fragment names no
//! file.

pub mod resume;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Scheme of the page's own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PageScheme {
    #[default]
    Http,
    Https,
    /// The page was opened from disk. It then has no origin that a server could allow in its CORS headers.
    Disk,
}

impl PageScheme {
    /// Returns the scheme for a value of `location.protocol`, such as `https:`.
    pub fn from_protocol(protocol: &str) -> PageScheme {
        match protocol {
            "https:" => PageScheme::Https,
            "file:" => PageScheme::Disk,
            _ => PageScheme::Http,
        }
    }
}

/// Returns the host and port of an absolute URL, without the user name and password.
pub fn server(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().filter(|server| !server.is_empty())
}

/// Returns an error message if browsers do not allow the page to fetch `url`. A page with an https address can fetch
/// over http only from the same machine.
pub fn blocked_fetch(url: &str, page_scheme: PageScheme) -> Option<String> {
    let server = server(url).filter(|_| page_scheme == PageScheme::Https && url.starts_with("http://"))?;
    let host = server.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(server, |(host, _)| host);
    let is_local = host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]";
    (!is_local).then(|| {
        format!(
            "This page was loaded over https and cannot fetch over http. Use an https address on {server}, or download the file and drop it here."
        )
    })
}

/// Returns the percent-decoded values of all `url=` parameters in a query string. Those in the fragment are parsed by
/// [`crate::state::link::Link`].
pub fn urls_in_query(query: &str) -> Vec<String> {
    let pairs = query.strip_prefix('?').unwrap_or(query).split('&').filter_map(|pair| pair.strip_prefix("url="));
    pairs.map(percent_decoded).filter(|url| !url.is_empty()).collect()
}

/// Returns the percent-decoded value of the first parameter `name` in a query string. Empty for a parameter without a
/// value.
pub fn value_in_query(query: &str, name: &str) -> Option<String> {
    let pairs = query.strip_prefix('?').unwrap_or(query).split('&');
    let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| percent_decoded(value))
}

/// Characters that are percent-encoded in a link.
const ENCODE_SET: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':').remove(b',');

/// Percent-encodes `text` for a link.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODE_SET).to_string()
}

/// Decodes percent-encoding. Keeps a `%` that is not followed by two hex digits. Replaces invalid UTF-8 by U+FFFD.
pub fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns the last component of a URL's path, for messages: `d.pickle` for `https://a.b/c/d.pickle?x`.
pub fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    percent_decoded(if name.is_empty() { url } else { name })
}

/// Returns whether an origin is safe to insert into a content security policy. The URL standard allows `;` and `,` in a
/// host name, but in a policy they would end a directive.
pub fn is_plain_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
    })
}

/// Returns an error message with advice for the user if `url` could not be fetched. `status` is the HTTP status, or
/// `None` if the browser hides the response from the page or there was none.
pub fn fetch_failure(url: &str, status: Option<u16>, page_scheme: PageScheme) -> String {
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
        None if page_scheme == PageScheme::Disk => format!(
            "{server} could not be reached, or does not allow local pages to read the file (Access-Control-Allow-Origin: * is needed). Download it and drop it here."
        ),
        None => format!(
            "{server} could not be reached, does not allow other sites to read the file (CORS), or redirects to another server. Download it and drop it here."
        ),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/url.rs"]
mod tests;
