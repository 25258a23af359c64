//! Collapsed stacks: `outermost;…;innermost BYTES`, as read by flamegraph.pl, inferno, speedscope and Perfetto.

use crate::profile::{Profile, Total};
use std::io::{self, Write};

/// Writes one line for each distinct stack.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> io::Result<Total> {
    for sample in &profile.samples {
        for (at, frame) in sample.frames.iter().enumerate() {
            let texts = frame.texts(profile.side);
            let label = match &*texts.file {
                "" => texts.name.into_owned(),
                file => format!("{} ({file}:{})", texts.name, texts.line),
            };
            // These characters end a frame or a stack.
            let label = label.replace(';', ",").replace(char::is_control, " ");
            write!(out, "{}{label}", if at == 0 { "" } else { ";" })?;
        }
        writeln!(out, " {}", sample.total.bytes)?;
    }
    Ok(profile.total)
}
