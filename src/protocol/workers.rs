//! Messages between the page and the workers that have their own wasm.

use super::{CategorySet, ExportJob, LeaveOut, LoadRange, Reply, WhatIf, WhatIfQuestion};
use serde::{Deserialize, Serialize};

/// Request to the simulator's worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SimulatorRequest {
    /// Replaces the recording that later questions are about. The attached buffer holds
    /// [`Answer::Recording`](super::Answer::Recording).
    Recording { device: i64 },
    /// Sets the allocation sizes for questions about a plan. Ignored if the recording is of another device. The
    /// attached buffer holds [`Answer::PlannedSizes`](super::Answer::PlannedSizes).
    PlannedSizes { device: i64 },
    /// Replaces the current question.
    Ask { serial: u32, question: Box<WhatIfQuestion> },
    /// Drops the current question.
    Cancel,
}

/// Answer of the simulator's worker, which may be partial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatorReply {
    pub serial: u32,
    pub answer: Box<WhatIf>,
}

/// Request to a worker of the surveyor's wasm. It reads files for a survey of many ranks, gathers their results, or
/// writes an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SurveyorRequest {
    /// Starts to gather the results of the files with these names.
    Gather(Vec<String>),
    /// Adds the result of the file with this index. A successful result is in the attached buffer.
    Add { file: u32, result: Result<(), String> },
    /// Requests the report on the results so far. `order` is the index of the sort order of the map.
    Report { serial: u32, rows: u32, order: u32 },
    /// Sets the pattern that extracts ranks from file names.
    SetNamePattern(String),
    /// Sets the sentence about files that are not surveyed.
    NoteOmitted(String),
    /// Surveys a file.
    Survey(FileToRead),
    /// Writes an export of a device. The attached blob, if any, is the torch.profiler trace that it is merged into.
    Export {
        file: FileToRead,
        device: i64,
        job: ExportJob,
        categories: Box<CategorySet>,
        range: LoadRange,
        leave_out: LeaveOut,
    },
    /// The requested bytes of the file are in the attached buffer. It is empty at the end of the file.
    Bytes,
}

/// File that the page reads for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileToRead {
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Index of the snapshot, if the file has several. `None` for the first.
    pub member: Option<u32>,
    /// Limit, in bytes, for the tables of the file.
    pub max_table_bytes: u64,
}

/// Reply of a worker of the surveyor's wasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SurveyorReply {
    /// Requests the bytes of the file from this offset on.
    Need(u64),
    /// The file is surveyed. A successful result is in the attached buffer.
    Surveyed {
        result: Result<(), String>,
        /// Size of the worker's memory in bytes.
        memory_bytes: u64,
    },
    /// Answer to [`SurveyorRequest::Report`].
    Report(Reply),
    /// The export is written. The file is the attached blob.
    Exported(Result<(), String>),
}
