//! A link that broke off half-way: whether it can be gone on with from there, and what to say.
//!
//! What follows is asked for by a plain `Range: bytes=N-`, which browsers send to other origins without asking first; `If-Range` they
//! would ask about, so that what comes is held against what came instead (RFC 9110, 13 to 15). Other origins show `Content-Length` and
//! `Last-Modified` without being told to; `ETag`, `Content-Range` and `Content-Encoding` only where they name them in
//! `Access-Control-Expose-Headers`. So nothing is concluded from a header that is missing.

use base::units::Bytes;

/// How long to wait before each try, in milliseconds; what comes after the last is the end.
pub const PAUSES_MS: [u32; 5] = [500, 1000, 2000, 4000, 8000];

/// What the head of an answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Content-Encoding`.
    pub coding: Option<String>,
    /// `Content-Length`: bytes that travel.
    pub length: Option<u64>,
    /// `X-Uncompressed-Length`: bytes as they are read, which `memscape serve` says of what it compresses on the way.
    pub uncompressed: Option<u64>,
    /// `Accept-Ranges`.
    pub ranges: Option<String>,
    /// `ETag`.
    pub tag: Option<String>,
    /// `Last-Modified`.
    pub modified: Option<String>,
    /// `Content-Range`.
    pub part: Option<String>,
}

/// Why it can't be gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is compressed on the way: no place in what was read is one in what travels.
    Coded,
    /// Nothing says how long the file is, or tells it from another version of it.
    Unnamed,
    /// The server sends no parts of files.
    NoParts,
    /// It is another file by now.
    Changed,
    /// Another part than was asked for.
    OtherPart,
    /// No answer, again and again: the status of the last, if there was any.
    Gone(Option<u16>),
}

impl Answer {
    /// The header lines it reads.
    pub const HEADERS: [&str; 7] = [
        "content-encoding",
        "content-length",
        "x-uncompressed-length",
        "accept-ranges",
        "etag",
        "last-modified",
        "content-range",
    ];

    /// From a status and the values of [`Answer::HEADERS`].
    pub fn of(status: u16, headers: [Option<String>; 7]) -> Answer {
        let [coding, length, uncompressed, ranges, tag, modified, part] = headers;
        let number = |text: Option<String>| text.and_then(|text| text.trim().parse().ok());
        let coding = coding.filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"));
        let (length, uncompressed) = (number(length), number(uncompressed));
        Answer { status, coding, length, uncompressed, ranges, tag, modified, part }
    }

    /// The bytes there are to read, where it says so. The length of what travels, coded, is not that.
    pub fn total(&self) -> Option<u64> {
        self.uncompressed.or(self.length.filter(|_| self.coding.is_none()))
    }

    /// Whether what follows so many bytes may be asked for, by what the first answer said.
    ///
    /// # Errors
    /// Why not.
    pub fn can_go_on(&self, at: u64) -> Result<(), Why> {
        match self {
            _ if self.coding.is_some() || self.length.is_some_and(|length| at > length) => Err(Why::Coded),
            _ if self.ranges.as_deref().is_some_and(|ranges| ranges.trim().eq_ignore_ascii_case("none")) => {
                Err(Why::NoParts)
            }
            _ if self.length.is_none() || (self.strong_tag().is_none() && self.modified.is_none()) => Err(Why::Unnamed),
            _ => Ok(()),
        }
    }

    /// Whether `next`, the answer to the question for what follows so many bytes, is the rest of the same file.
    ///
    /// # Errors
    /// Why not; [`Why::Gone`] may pass.
    pub fn goes_on(&self, next: &Answer, at: u64) -> Result<(), Why> {
        match next.status {
            206 => {}
            // Nothing had come: this is all of it.
            200 if at == 0 => {}
            200 => return Err(Why::NoParts),
            // What was there is not: the file is shorter now.
            416 => return Err(Why::Changed),
            status => return Err(Why::Gone(Some(status))),
        }
        if next.coding.is_some() {
            return Err(Why::Coded);
        }
        let differ = |one: Option<&str>, other: Option<&str>| one.zip(other).map(|(one, other)| one != other);
        let tags = differ(self.strong_tag(), next.tag.as_deref());
        let times = differ(self.modified.as_deref(), next.modified.as_deref());
        if tags == Some(true) || times == Some(true) {
            return Err(Why::Changed);
        }
        if tags.or(times).is_none() {
            return Err(Why::Unnamed);
        }
        let whole = self.length.unwrap_or_default();
        let part = next.part.as_deref().map(part);
        if part
            .is_some_and(|part| part.is_none_or(|(first, last, _)| first != at || last.checked_add(1) != Some(whole)))
        {
            return Err(Why::OtherPart);
        }
        if part.flatten().is_some_and(|(.., of)| of.is_some_and(|of| of != whole)) {
            return Err(Why::Changed);
        }
        if next.length.is_some_and(|length| length != whole.saturating_sub(at)) {
            return Err(Why::OtherPart);
        }
        Ok(())
    }

    /// A weak one says only that two versions mean the same.
    fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}

/// `bytes 200-999/1000`: the first, the last, and of how many, where that is known.
fn part(text: &str) -> Option<(u64, u64, Option<u64>)> {
    let (range, of) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let of = if of == "*" { None } else { Some(of.parse().ok()?) };
    Some((first.parse().ok()?, last.parse().ok()?, of))
}

/// That it broke, and goes on.
pub fn going_on(at: u64) -> String {
    format!("The connection broke at {}: going on from there.", Bytes(at))
}

/// That it broke, and why it can't be gone on with.
pub fn given_up(name: &str, at: u64, why: Why) -> String {
    let cause = match why {
        Why::Coded => "it is compressed on the way, so no place in it can be asked for".to_owned(),
        Why::Unnamed => {
            "the server says too little (length, and ETag or Last-Modified) to know the same file again".to_owned()
        }
        Why::NoParts => "the server sends no parts of files".to_owned(),
        Why::Changed => "the file on the server was changed meanwhile".to_owned(),
        Why::OtherPart => "the server sent another part than was asked for".to_owned(),
        Why::Gone(Some(status)) => format!("the server answered {status} to every further try"),
        Why::Gone(None) => "the server could not be reached again".to_owned(),
    };
    format!(
        "{name} stopped coming at {}, and {cause}: open the link again, or download the file and drop it here.",
        Bytes(at)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first() -> Answer {
        let text = |text: &str| Some(text.to_owned());
        Answer { status: 200, length: Some(1000), tag: text("\"a\""), modified: text("Mon"), ..Answer::default() }
    }

    fn rest() -> Answer {
        Answer { status: 206, length: Some(800), part: Some("bytes 200-999/1000".into()), ..first() }
    }

    #[test]
    fn the_rest_of_the_same_file_goes_on() {
        assert_eq!((first().can_go_on(200), first().goes_on(&rest(), 200)), (Ok(()), Ok(())));
        // What another origin shows without being told to.
        let plain = |answer: Answer| Answer { tag: None, part: None, ..answer };
        assert_eq!(plain(first()).goes_on(&plain(rest()), 200), Ok(()));
        let of_any = Answer { part: Some("bytes 200-999/*".into()), ..rest() };
        assert_eq!(first().goes_on(&of_any, 200), Ok(()));
    }

    #[test]
    fn what_broke_before_its_first_byte_begins_again() {
        assert_eq!(first().goes_on(&first(), 0), Ok(()));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(first().goes_on(&Answer { tag: text("\"b\""), ..first() }, 0), Err(Why::Changed));
        assert_eq!(first().goes_on(&Answer { length: Some(800), ..first() }, 0), Err(Why::OtherPart));
    }

    #[test]
    fn what_can_not_go_on_says_why() {
        let text = |text: &str| Some(text.to_owned());
        let may = |answer: Answer| answer.can_go_on(200);
        assert_eq!(may(Answer { coding: text("gzip"), ..first() }), Err(Why::Coded));
        assert_eq!(may(Answer { length: Some(100), ..first() }), Err(Why::Coded), "a coding that is not shown");
        assert_eq!(may(Answer { ranges: text("none"), ..first() }), Err(Why::NoParts));
        assert_eq!(may(Answer { length: None, ..first() }), Err(Why::Unnamed));
        assert_eq!(may(Answer { tag: text("W/\"a\""), modified: None, ..first() }), Err(Why::Unnamed));
        for (next, why) in [
            (Answer { status: 200, ..rest() }, Why::NoParts),
            (Answer { status: 416, ..rest() }, Why::Changed),
            (Answer { status: 503, ..rest() }, Why::Gone(Some(503))),
            (Answer { coding: text("gzip"), ..rest() }, Why::Coded),
            (Answer { tag: text("\"b\""), ..rest() }, Why::Changed),
            (Answer { modified: text("Tue"), ..rest() }, Why::Changed),
            (Answer { tag: None, modified: None, ..rest() }, Why::Unnamed),
            (Answer { part: text("bytes 0-999/1000"), ..rest() }, Why::OtherPart),
            (Answer { part: text("bytes 200-899/1000"), ..rest() }, Why::OtherPart),
            (Answer { part: text("bytes 200-999/2000"), ..rest() }, Why::Changed),
            (Answer { part: text("lines 1-2"), ..rest() }, Why::OtherPart),
            (Answer { part: text("bytes 200-18446744073709551615/*"), ..rest() }, Why::OtherPart),
            (Answer { length: Some(801), ..rest() }, Why::OtherPart),
        ] {
            assert_eq!(first().goes_on(&next, 200), Err(why), "{next:?}");
            assert!(given_up("a.pickle", 200, why).contains("drop it here"));
        }
    }

    #[test]
    fn the_total_is_of_what_is_read() {
        let head = |coding: &str, length: &str, uncompressed: Option<&str>| {
            let text = |text: &str| Some(text.to_owned());
            let headers = [text(coding), text(length), uncompressed.map(str::to_owned), None, None, None, None];
            Answer::of(200, headers).total()
        };
        assert_eq!(head("identity", "12", None), Some(12));
        assert_eq!(head("gzip", "12", None), None);
        assert_eq!(head("gzip", "12", Some("34")), Some(34));
        assert_eq!(head("identity", "12, 12", None), None, "not a number");
    }
}
