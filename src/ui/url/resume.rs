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
    Changed,
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

    /// What tells this state of the file from another one; `None` where the server says nothing of it.
    pub fn version(&self) -> Option<String> {
        let tag = self.tag.as_deref().map(|tag| tag.strip_prefix("W/").unwrap_or(tag));
        tag.or(self.modified.as_deref()).map(str::to_owned)
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
    format!("Connection lost at {}. Resuming.", Bytes(at))
}

/// That it broke, and why it can't be gone on with.
pub fn given_up(name: &str, at: u64, why: Why) -> String {
    let cause = match why {
        Why::Coded => "the server compresses it, so the download cannot be resumed".to_owned(),
        Why::Unnamed => "the server sends no length, ETag or Last-Modified to resume with".to_owned(),
        Why::NoParts => "the server does not support range requests".to_owned(),
        Why::Changed => "the file on the server has changed".to_owned(),
        Why::OtherPart => "the server sent a different range".to_owned(),
        Why::Gone(Some(status)) => format!("the server answered every retry with status {status}"),
        Why::Gone(None) => "the server could not be reached again".to_owned(),
    };
    format!("{name} stopped at {}: {cause}. Open the link again, or download the file and drop it here.", Bytes(at))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/url/resume.rs"]
mod tests;
