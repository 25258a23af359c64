//! Unit tests of `src/ui/text/url.rs`.

use super::*;

#[test]
fn urls_are_decoded_from_query_and_encoded() {
    assert_eq!(urls_in_query("?x=1&url=b.pickle&url=c%20d"), ["b.pickle", "c d"]);
    assert!(urls_in_query("?nourl=b&url=").is_empty());
    assert_eq!(percent_encoded("0/c d&ä.pickle"), "0/c%20d%26%C3%A4.pickle");
}

#[test]
fn invalid_percent_escapes_are_kept() {
    for (text, decoded) in [("100%", "100%"), ("%4", "%4"), ("%zz", "%zz"), ("%ff", "\u{fffd}"), ("%C3%A4", "ä")] {
        assert_eq!(percent_decoded(text), decoded);
    }
}

#[test]
fn file_name_is_last_path_component() {
    assert_eq!(file_name("https://a.b/c/d%20e.pickle?token=1#x"), "d e.pickle");
    assert_eq!(file_name("example.pickle.gz"), "example.pickle.gz");
    assert_eq!(file_name("https://a.b/"), "a.b");
}

#[test]
fn origins_with_invalid_characters_are_rejected() {
    for origin in ["https://a-b.c:8080", "http://127.0.0.1:1", "http://[::1]:80"] {
        assert!(is_plain_origin(origin), "{origin}");
    }
    for origin in ["null", "file://", "https://", "https://a;b", "https://a,b", "https://a b", "https://*", "ftp://a"] {
        assert!(!is_plain_origin(origin), "{origin}");
    }
}

#[test]
fn url_host_is_parsed_as_in_browsers() {
    assert_eq!(server("https://a.b:8080/c?d"), Some("a.b:8080"));
    assert_eq!(server("https://good.example@evil.example/c"), Some("evil.example"));
    assert_eq!(server("https://evil.example\\@good.example/c"), Some("evil.example"), "as browsers read it");
    assert_eq!((server("run/x.pickle"), server("https://")), (None, None));
}

#[test]
fn mixed_content_is_rejected_before_fetching() {
    for local in ["localhost", "localhost:80", "a.localhost", "127.0.0.1:9", "[::1]", "[::1]:9"] {
        assert_eq!(blocked_fetch(&format!("http://{local}/a"), PageScheme::Https), None, "{local}");
    }
    assert!(
        blocked_fetch("http://a.b:80/c", PageScheme::Https)
            .is_some_and(|text| text.contains("https address on a.b:80"))
    );
    assert_eq!(blocked_fetch("http://a.b/c", PageScheme::Http), None);
    assert_eq!(blocked_fetch("http://a.b/c", PageScheme::Disk), None);
    assert_eq!(
        (blocked_fetch("https://a.b/c", PageScheme::Https), blocked_fetch("run/x.pickle", PageScheme::Https)),
        (None, None)
    );
    assert!(blocked_fetch("http://localhost.evil.example/c", PageScheme::Https).is_some());
}

#[test]
fn fetch_failures_suggest_an_action() {
    let text = |status| fetch_failure("https://files.example/x/y.pickle", status, PageScheme::Http);
    assert_eq!(text(Some(404)), "files.example has no such file (status 404). Check the link.");
    assert!(text(None).contains("CORS") && text(None).contains("drop it here"));
    assert!(fetch_failure("https://a.b/c", None, PageScheme::Disk).contains("Access-Control-Allow-Origin: *"));
    assert!(text(Some(503)).contains("503") && text(Some(403)).contains("403") && text(Some(302)).contains("302"));
}

#[test]
fn values_of_query_are_found_by_their_whole_name() {
    assert_eq!(value_in_query("?embed&tab=flame", "embed"), Some(String::new()));
    assert_eq!(value_in_query("?embed&tab=a%20b&tab=c", "tab"), Some("a b".to_owned()));
    assert_eq!(value_in_query("?embedded&xtab=1", "embed"), None);
    assert_eq!(value_in_query("", "tab"), None);
}
