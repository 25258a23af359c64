//! Export of an open file to another format.

use channel::BlobWriter;
use engine::OpenedFile;
use engine::crop::{Crop, SimulatedRun};
use js_sys::Uint8Array;
use protocol::{CategorySet, ExportJob};
use std::io::{self, BufReader, Read};
use web_sys::{Blob, FileReaderSync};

/// Number of bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// An export job for one device.
pub(super) struct ExportRun {
    pub(super) device: i64,
    pub(super) job: ExportJob,
    pub(super) categories: Box<CategorySet>,
    /// torch.profiler trace that the export is merged into, if any.
    pub(super) trace: Option<Blob>,
}

/// Synchronous reader of a blob. Browsers allow synchronous reads only in workers.
struct BlobReader {
    file: Blob,
    reader: FileReaderSync,
    at: f64,
}

impl BlobReader {
    fn open(file: &Blob) -> io::Result<Box<dyn Read>> {
        let reader = FileReaderSync::new().map_err(|_| io::Error::other("the browser cannot read the trace"))?;
        let reading = BlobReader { file: file.clone(), reader, at: 0.0 };
        Ok(Box::new(BufReader::with_capacity(PIECE, reading)))
    }
}

impl Read for BlobReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let failed = |_| io::Error::other("the trace could not be read: was it moved or changed?");
        let end = (self.at + bytes.len() as f64).min(self.file.size());
        let piece = self.file.slice_with_f64_and_f64(self.at, end).map_err(failed)?;
        let piece = Uint8Array::new(&self.reader.read_as_array_buffer(&piece).map_err(failed)?.into());
        let length = piece.length() as usize;
        piece.copy_to(bytes.get_mut(..length).ok_or(io::ErrorKind::UnexpectedEof)?);
        self.at = end;
        Ok(length)
    }
}

impl ExportRun {
    /// Writes the exported file. Returns an error message on failure.
    pub(super) fn write(&self, mut opened: OpenedFile) -> Result<Blob, String> {
        let mut out = BlobWriter::buffered();
        match &self.job {
            ExportJob::Format(question) => {
                opened.prepare(&self.categories);
                let side = opened.side(self.device).ok_or("the file has no such device")?;
                match &self.trace {
                    Some(trace) => exports::merge_into_trace(&mut || BlobReader::open(trace), side, question, &mut out)
                        .map_err(|error| error.to_string())?,
                    None => exports::write(side, question, &mut out).map(drop).map_err(|error| error.to_string())?,
                }
            }
            ExportJob::Crop { events, source } => {
                let devices = vec![(self.device, *events)];
                let crop = Crop { devices, prologue: true, stream: None, source: source.clone() };
                opened.crop(&crop, &mut out).map_err(|error| error.to_string())?;
            }
            ExportJob::Columns => {
                out = opened.write_columns(out).map_err(|error| error.to_string())?;
            }
            ExportJob::Simulated { settings, capacity, total, never_empties, source } => {
                let run = SimulatedRun {
                    device: self.device,
                    settings: Some(settings.clone()),
                    capacity: *capacity,
                    total: *total,
                    skip_empty_cache: *never_empties,
                    planned_sizes: None,
                    source: source.clone(),
                };
                opened.write_simulated(&run, &mut out).map_err(|error| error.to_string())?;
            }
        }
        BlobWriter::finish(out)
    }
}
