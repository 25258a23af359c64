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
    /// By https.
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
            "This page came by https, and browsers let such a page fetch nothing by http: ask {server} for the file by https, or \
             download it and drop it here."
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
            format!("{server} has no such file (it answered {}): check the link.", status.unwrap_or(404))
        }
        Some(code @ (401 | 403)) => format!(
            "{server} does not let this page read the file (it answered {code}): log in there, download it, and drop it here."
        ),
        Some(code @ 500..) => format!("{server} has a problem of its own (it answered {code}): try again later."),
        Some(code) => format!("{server} answered {code} instead of sending the file: check the link."),
        None if came == Came::Disk => format!(
            "{server} could not be reached, or does not allow pages from the disk to read the file (they need \
             Access-Control-Allow-Origin: *): download it and drop it here."
        ),
        None => format!(
            "{server} could not be reached, or does not allow other sites to read the file (CORS), or sends on to another \
             server: download it and drop it here."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_query_are_read_and_others_written() {
        assert_eq!(of_query("?x=1&url=b.pickle&url=c%20d"), ["b.pickle", "c d"]);
        assert!(of_query("?nourl=b&url=").is_empty());
        assert_eq!(percent_encoded("0/c d&ä.pickle"), "0/c%20d%26%C3%A4.pickle");
    }

    #[test]
    fn any_text_decodes_to_something() {
        for (text, decoded) in [("100%", "100%"), ("%4", "%4"), ("%zz", "%zz"), ("%ff", "\u{fffd}"), ("%C3%A4", "ä")] {
            assert_eq!(percent_decoded(text), decoded);
        }
    }

    #[test]
    fn names_come_from_the_path() {
        assert_eq!(file_name("https://a.b/c/d%20e.pickle?token=1#x"), "d e.pickle");
        assert_eq!(file_name("example.pickle.gz"), "example.pickle.gz");
        assert_eq!(file_name("https://a.b/"), "a.b");
    }

    #[test]
    fn only_plain_origins_reach_the_policy() {
        for origin in ["https://a-b.c:8080", "http://127.0.0.1:1", "http://[::1]:80"] {
            assert!(is_plain_origin(origin), "{origin}");
        }
        for origin in
            ["null", "file://", "https://", "https://a;b", "https://a,b", "https://a b", "https://*", "ftp://a"]
        {
            assert!(!is_plain_origin(origin), "{origin}");
        }
    }

    #[test]
    fn the_server_is_the_one_that_is_asked() {
        assert_eq!(server("https://a.b:8080/c?d"), Some("a.b:8080"));
        assert_eq!(server("https://good.example@evil.example/c"), Some("evil.example"));
        assert_eq!(server("https://evil.example\\@good.example/c"), Some("evil.example"), "as browsers read it");
        assert_eq!((server("run/x.pickle"), server("https://")), (None, None));
    }

    #[test]
    fn what_browsers_refuse_is_said_before() {
        for local in ["localhost", "localhost:80", "a.localhost", "127.0.0.1:9", "[::1]", "[::1]:9"] {
            assert_eq!(refused(&format!("http://{local}/a"), Came::Https), None, "{local}");
        }
        assert!(refused("http://a.b:80/c", Came::Https).is_some_and(|text| text.contains("ask a.b:80 for")));
        assert_eq!(refused("http://a.b/c", Came::Http), None);
        assert_eq!(refused("http://a.b/c", Came::Disk), None);
        assert_eq!((refused("https://a.b/c", Came::Https), refused("run/x.pickle", Came::Https)), (None, None));
        assert!(refused("http://localhost.evil.example/c", Came::Https).is_some());
    }

    #[test]
    fn failures_say_what_to_do() {
        let text = |status| fetch_failure("https://files.example/x/y.pickle", status, Came::Http);
        assert_eq!(text(Some(404)), "files.example has no such file (it answered 404): check the link.");
        assert!(text(None).contains("CORS") && text(None).contains("drop it here"));
        assert!(fetch_failure("https://a.b/c", None, Came::Disk).contains("Access-Control-Allow-Origin: *"));
        assert!(text(Some(503)).contains("503") && text(Some(403)).contains("403") && text(Some(302)).contains("302"));
    }
}
