//! `memscape crop`: a range of a trace as a smaller snapshot.

use super::asking::Asking;
use super::events::{beyond, first};
use super::terms::{SnapshotArgs, When, when};
use super::written::Written;
use base::units::{Bytes, grouped};
use clap::Args;
use engine::crop::{Crop, CropError, Cropped};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `memscape crop`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Snapshot to write, gzipped if its name ends in .gz; "-" for standard output
    #[arg(short, long = "output", value_name = "OUT.pickle")]
    pub(crate) out: PathBuf,
    /// First event, or time
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) from: Option<When>,
    /// Last event, or time
    #[arg(long, value_name = "WHEN", value_parser = when, allow_negative_numbers = true)]
    pub(crate) to: Option<When>,
    /// Keep the events around this one: peak, oom, an event or a time; instead of --from and --to
    #[arg(long, value_name = "WHEN", value_parser = when, conflicts_with_all = ["from", "to"])]
    pub(crate) around: Option<When>,
    /// With --around, how many events to keep before it, and after it
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "around")]
    pub(crate) events: u32,
    /// Write nothing but what was recorded: blocks from before the range that are freed in it lose their stacks
    #[arg(long)]
    pub(crate) no_prologue: bool,
}

impl Arguments {
    /// Writes the crop; what went into it, or the error, as one sentence.
    pub(crate) fn write(&self) -> Result<String, String> {
        let mut asking = Asking::open(&self.source)?;
        let events = self.range(&mut asking)?;
        if events[0] > events[1] {
            return Err("--from is after --to".to_owned());
        }
        let (device, source) = (asking.device.device, asking.summary.file.clone());
        let crop = Crop { device, events, prologue: !self.no_prologue, source };
        let mut engine = asking.into_engine();
        let wrong = |error: CropError| match error {
            CropError::Impossible(why) => why,
            CropError::Io(error) => format!("{}: {error}", self.out.display()),
        };
        let failed = |error: std::io::Error| format!("{}: {error}", self.out.display());
        let mut out = Written::create(&self.out, &self.source.file).map_err(failed)?;
        let cropped = if self.out.extension().is_some_and(|ending| ending == "gz") {
            let mut packed = GzEncoder::new(&mut out, Compression::default());
            let cropped = engine.crop(&crop, &mut packed).map_err(wrong)?;
            packed.finish().and_then(|out| out.flush()).map_err(failed)?;
            cropped
        } else {
            engine.crop(&crop, &mut out).map_err(wrong)?
        };
        out.finish().map_err(failed)?;
        Ok(said(cropped))
    }

    /// The first event, and the first beyond the last.
    fn range(&self, asking: &mut Asking) -> Result<[u32; 2], String> {
        if let Some(around) = self.around {
            let at = asking.at(around)?.moment;
            let first = at.saturating_sub(1).saturating_sub(self.events);
            return Ok([first, at.saturating_add(self.events)]);
        }
        let from = self.from.map_or(Ok(0), |when| first(asking, when))?;
        Ok([from, self.to.map_or(Ok(u32::MAX), |when| beyond(asking, when))?])
    }
}

fn said(cropped: Cropped) -> String {
    let Cropped { events, prologue, live_before, segments } = cropped;
    let before = match (live_before, prologue) {
        (0, _) => "nothing live before them".to_owned(),
        (bytes, 0) => format!("{} live before them", Bytes(bytes)),
        (bytes, events) => {
            format!("{} live before them, {} events added for their stacks", Bytes(bytes), grouped(events.into()))
        }
    };
    format!("{} events, {before}, {} segments after them", grouped(events.into()), grouped(segments.into()))
}
