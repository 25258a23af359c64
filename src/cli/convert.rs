//! `memscape convert`: writes a snapshot in another file format.

use super::common_args::SnapshotArgs;
use super::compressed::{CompressedWriter, CompressionKind};
use super::open_snapshot::OpenSnapshot;
use super::output::print_stderr;
use super::output_file::OutputFile;
use base::units::pluralize;
use clap::{Args, ValueEnum};
use engine::Engine;
use engine::crop::CropError;
use history::compact::WriteError;
use history::writing::{JsonWriter, PickleWriter};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// File format to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Pickle, as written by torch.cuda.memory._dump_snapshot
    Pickle,
    /// The same structure as JSON
    Json,
    /// SnapViewer's archive of one device: allocations.json and elements.json
    Snapviewer,
    /// memscape's own columnar format: smallest and fastest to open
    Columns,
}

/// Arguments of `memscape convert`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// File to write, "-" for standard output; compressed if its name ends in .gz or .zst
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: OutputFile,
    /// Format to write; if omitted, chosen by the extension: .pickle, .json, .zip (SnapViewer) or .columns
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: Option<Format>,
    /// Pickle protocol, from 2 to 5; PyTorch's viewer reads up to 4 in versions before 2026
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=5))]
    pub(crate) protocol: u8,
}

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

impl Arguments {
    /// Writes the file. Returns a summary sentence about the written file, or an error message.
    pub(crate) fn write(&self) -> Result<String, String> {
        let format = self
            .to
            .or_else(|| format_of_name(self.out.path()))
            .ok_or("--to is missing, and the name of the file has no known extension")?;
        let snapshot = OpenSnapshot::open(&self.source)?;
        let device = snapshot.device.device;
        for warning in &snapshot.summary.warnings {
            print_stderr(&format!("{}: {}", self.source.file.display(), warning.message));
        }
        let engine = snapshot.into_engine();
        let failed = |error: io::Error| format!("{}: {error}", self.out.path().display());
        // A zip archive compresses its members itself.
        let compression = if format == Format::Snapviewer {
            CompressionKind::Plain
        } else {
            CompressionKind::from_path(self.out.path())
        };
        let writer = CompressedWriter::create(&self.out, compression).map_err(failed)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, writer);
        let written = match format {
            Format::Pickle => PickleWriter::new(&mut out, self.protocol)
                .map_err(CropError::Io)
                .and_then(|mut pickle| engine.convert(&mut pickle))
                .map(|done| counts_text(done.events, done.segments)),
            Format::Json => {
                engine.convert(&mut JsonWriter::new(&mut out)).map(|done| counts_text(done.events, done.segments))
            }
            Format::Snapviewer => write_snapviewer(&engine, device, &mut out),
            Format::Columns => match engine.write_columns(&mut out) {
                Ok(_) => Ok("columns".to_owned()),
                Err(WriteError::Io(error)) => Err(CropError::Io(error)),
                Err(error) => Err(CropError::Invalid(error.to_string())),
            },
        };
        let written = written.map_err(|error| match error {
            CropError::Invalid(why) => why,
            CropError::Io(error) => failed(error),
        })?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.finish().map_err(failed)?;
        Ok(written)
    }
}

/// Returns the format for a file extension. The extension of a compression format, such as `.gz`, is ignored.
fn format_of_name(path: &Path) -> Option<Format> {
    let inner = match CompressionKind::from_path(path) {
        CompressionKind::Plain => path.to_owned(),
        _ => path.with_extension(""),
    };
    match inner.extension()?.to_ascii_lowercase().to_str()? {
        "pickle" | "pkl" | "pt" => Some(Format::Pickle),
        "json" => Some(Format::Json),
        "zip" => Some(Format::Snapviewer),
        "columns" => Some(Format::Columns),
        _ => None,
    }
}

fn counts_text(events: u64, segments: u32) -> String {
    format!("{}, {}", pluralize(events, "event"), pluralize(segments.into(), "segment"))
}

fn write_snapviewer(engine: &Engine, device: i64, out: &mut impl Write) -> Result<String, CropError> {
    let wrong = |error: zip::result::ZipError| CropError::Io(error.into());
    let mut archive = ZipWriter::new_stream(out);
    let options = SimpleFileOptions::default().large_file(true);
    archive.start_file("allocations.json", options).map_err(wrong)?;
    let drawn = engine.write_drawing(device, &mut BufWriter::with_capacity(BUFFER_BYTES, &mut archive))?;
    archive.start_file("elements.json", options).map_err(wrong)?;
    engine.write_elements(device, &mut JsonWriter::new(BufWriter::with_capacity(BUFFER_BYTES, &mut archive)))?;
    archive.finish().map_err(wrong)?.flush()?;
    Ok(format!("{}, {}", pluralize(drawn.allocations, "allocation"), pluralize(drawn.points, "corner")))
}
