//! Links: which snapshot the page's address names, and what to say when it can't be fetched.
//!
//! `#url=` is never sent to the server that hosts the page; `?url=` is, and is read for convenience. The fragment wins.

/// The address after `url=` in the page's fragment (`#a=b&c=d`) or, failing that, its query, percent-decoded.
pub fn link(fragment: &str, query: &str) -> Option<String> {
    [fragment.strip_prefix('#').unwrap_or(fragment), query.strip_prefix('?').unwrap_or(query)]
        .into_iter()
        .flat_map(|part| part.split('&'))
        .filter_map(|pair| pair.strip_prefix("url="))
        .map(percent_decoded)
        .find(|url| !url.is_empty())
}

/// `%20` and its like decoded; a `%` that starts none stays. Bytes that are no UTF-8 become U+FFFD.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (*first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = tail.get(2..).unwrap_or_default();
            }
            (byte, ..) => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
pub fn fetch_failure(url: &str, status: Option<u16>) -> String {
    let server = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("The server");
    match status {
        Some(404 | 410) => {
            format!("{server} has no such file (it answered {}): check the link.", status.unwrap_or(404))
        }
        Some(code @ (401 | 403)) => format!(
            "{server} does not let this page read the file (it answered {code}): log in there, download it, and drop it here."
        ),
        Some(code @ 500..) => format!("{server} has a problem of its own (it answered {code}): try again later."),
        Some(code) => format!("{server} answered {code} instead of sending the file: check the link."),
        None => format!(
            "{server} could not be reached, or does not allow other sites to read the file (CORS): download it and drop it here."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fragment_wins_over_the_query() {
        assert_eq!(link("#url=a.pickle", "?url=b.pickle").as_deref(), Some("a.pickle"));
        assert_eq!(link("", "?x=1&url=b.pickle").as_deref(), Some("b.pickle"));
        assert_eq!(link("#url=", "?nourl=b"), None);
        assert_eq!(link("#url=https%3A%2F%2Fa.b%2Fc%20d.pickle", "").as_deref(), Some("https://a.b/c d.pickle"));
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
    fn failures_say_what_to_do() {
        let text = |status| fetch_failure("https://files.example/x/y.pickle", status);
        assert_eq!(text(Some(404)), "files.example has no such file (it answered 404): check the link.");
        assert!(text(None).contains("CORS") && text(None).contains("drop it here"));
        assert!(text(Some(503)).contains("503") && text(Some(403)).contains("403") && text(Some(302)).contains("302"));
    }
}
