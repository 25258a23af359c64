//! speedscope's JSON format (file-format-schema.json of speedscope 1.25).

use crate::frames::FrameNumbers;
use crate::json;
use crate::profile::{Profile, Total};
use base::units::Moment;
use engine::Side;
use protocol::{ExportQuestion, Scope};
use std::io::{self, Write};

/// Writes five profiles: live bytes at the cursor, at the peak and at the end, allocations in the range, and
/// allocations in the range that are live at its end. speedscope displays the first one initially.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<Total> {
    let history = side.history;
    let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
    let scopes = [
        ("Live at the cursor", Scope::At(question.cursor)),
        ("Live at the peak", Scope::At(peak)),
        ("Live at the end", Scope::At(history.event_count())),
        ("Allocated in range", Scope::Allocated(question.range)),
        ("Allocated in range, not freed in it", Scope::StillLive(question.range)),
    ];
    let profiles = scopes.map(|(name, scope)| (name, Profile::new(side, scope)));
    let mut frames = FrameNumbers::default();
    for sample in profiles.iter().flat_map(|(_, profile)| &profile.samples) {
        sample.frames.iter().for_each(|&frame| _ = frames.number(frame));
    }
    write!(
        out,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"memscape {}\",",
        env!("CARGO_PKG_VERSION")
    )?;
    out.write_all(b"\"name\":")?;
    json::text(out, &side.name())?;
    out.write_all(b",\"activeProfileIndex\":0,\"shared\":{\"frames\":")?;
    json::list(out, &frames.frames, |out, frame| {
        let texts = frame.texts(side);
        out.write_all(b"\n{\"name\":")?;
        json::text(out, &texts.name)?;
        if !texts.file.is_empty() {
            out.write_all(b",\"file\":")?;
            json::text(out, &texts.file)?;
        }
        match texts.line {
            0 => out.write_all(b"}"),
            line => write!(out, ",\"line\":{line}}}"),
        }
    })?;
    out.write_all(b"},\"profiles\":")?;
    json::list(out, &profiles, |out, (name, profile)| {
        out.write_all(b"\n{\"type\":\"sampled\",\"name\":")?;
        json::text(out, name)?;
        write!(out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":{},\"samples\":", profile.total.bytes)?;
        json::list(out, &profile.samples, |out, sample| {
            json::numbers(out, sample.frames.iter().map(|&frame| frames.number(frame)))
        })?;
        out.write_all(b",\"weights\":")?;
        json::numbers(out, profile.samples.iter().map(|sample| sample.total.bytes))?;
        out.write_all(b"}")
    })?;
    out.write_all(b"}\n")?;
    let [(_, live), ..] = profiles;
    Ok(live.total)
}
