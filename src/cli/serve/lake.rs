//! `memscape serve --lake`: the tables of `memscape fleet survey` as lists of jobs, steps and ranks.
//!
//! ```text
//! /TOKEN/                          → list of the jobs, without scripts
//! /TOKEN/job=J/                    → its steps and ranks
//! /TOKEN/job=J/step=S/             → the snapshots of a step; job=J/rank=R/ those of a rank
//! /TOKEN/job=J/step=S/5            → page#url=5/a.pickle&url=6/b.pickle    opens one of them in the page
//! /TOKEN/job=J/step=S/listing      addresses of all snapshots of the step, for the comparison of ranks
//! /TOKEN/job=J/step=S/5/a.pickle   a snapshot, which is fetched from its store; ?survey: its survey, from the tables
//! ```
//! A process of the Python package answers, because it has the rules for the rows that count and the clients of object
//! stores (`src/python/memscape/fleet/serving.py`). It listens on no port: requests and answers are lines of JSON on
//! pipes. All checks of requests are in this program.

use super::listing::LISTING_TYPE;
use super::snapshot_response::{redirect, text_response};
use super::surveys::survey_response;
use crate::run::with_python;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use compare::ranks::FileSurveys;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// Content type of the lists.
const HTML_TYPE: &str = "text/html; charset=utf-8";

/// The process that reads the tables. It ends when its standard input is closed.
pub(super) struct Lake {
    /// Number of snapshots at the start.
    pub(super) snapshots: u64,
    requests: Mutex<Requests>,
    waiting: Arc<Mutex<Waiting>>,
}

struct Requests {
    pipe: ChildStdin,
    next: u64,
}

/// Requests without an answer, by their id. `None` after the process has ended.
type Waiting = Option<HashMap<u64, Sender<Answer>>>;

/// First line of the process.
#[derive(Deserialize)]
struct Ready {
    snapshots: u64,
}

/// Any other line of the process.
#[derive(Deserialize)]
struct Line {
    id: u64,
    answer: Answer,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Html(String),
    Listing(String),
    /// Address relative to that of the request.
    Redirect(String),
    /// Local file with the contents of the snapshot.
    File(PathBuf),
    Survey(Box<FileSurveys>),
    /// Nothing has this address. Holds the error message.
    Missing(String),
    /// The snapshot could not be read or fetched. Holds the error message.
    Failed(String),
}

impl Lake {
    /// Starts the process, and waits until it has read which snapshots there are.
    ///
    /// # Errors
    /// Returns an error message if there is no Python or the tables cannot be read. The process prints the reason.
    pub(super) fn start(lake: &OsString, storage: Option<&OsString>) -> Result<Lake, String> {
        let mut arguments: Vec<OsString> = vec!["tables".into(), lake.clone()];
        arguments.extend(storage.into_iter().flat_map(|storage| ["--storage".into(), storage.clone()]));
        let mut process = with_python("memscape._fleet", &arguments, |mut command| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        })?;
        let (Some(pipe), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("the process that reads the tables has no pipes".to_owned());
        };
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let ready = lines.next().and_then(|line| serde_json::from_str(&line).ok());
        let Some(Ready { snapshots }) = ready else {
            let _ = process.wait();
            return Err(format!("the tables of {} cannot be read", lake.display()));
        };
        let waiting: Arc<Mutex<Waiting>> = Arc::new(Mutex::new(Some(HashMap::new())));
        let answered = Arc::clone(&waiting);
        std::thread::spawn(move || {
            for line in lines.filter_map(|line| serde_json::from_str::<Line>(&line).ok()) {
                let sender = answered.lock().ok().and_then(|mut waiting| waiting.as_mut()?.remove(&line.id));
                // The client may have disconnected.
                let _ = sender.map(|sender| sender.send(line.answer));
            }
            // Dropping the senders ends the requests that wait.
            drop(answered.lock().ok().and_then(|mut waiting| waiting.take()));
            let _ = process.wait();
        });
        Ok(Lake { snapshots, requests: Mutex::new(Requests { pipe, next: 0 }), waiting })
    }

    /// Asks for the resource at a path below the token. `None` if the process has ended.
    fn ask(&self, path: &str, query: Option<&str>) -> Option<Answer> {
        let (sender, receiver) = channel();
        let mut requests = self.requests.lock().ok()?;
        let id = requests.next;
        requests.next += 1;
        self.waiting.lock().ok()?.as_mut()?.insert(id, sender);
        let line = json!({"id": id, "path": path, "query": query.unwrap_or_default()});
        writeln!(requests.pipe, "{line}").and_then(|()| requests.pipe.flush()).ok()?;
        drop(requests);
        receiver.recv().ok()
    }

    /// Responds to a request for a path below the token. `snapshot` responds with the contents of a file.
    pub(super) fn respond(
        &self,
        path: &str,
        query: Option<&str>,
        snapshot: impl FnOnce(&Path) -> Response,
    ) -> Response {
        match self.ask(path, query) {
            Some(Answer::Html(text)) => ([(CONTENT_TYPE, HTML_TYPE)], text).into_response(),
            Some(Answer::Listing(text)) => ([(CONTENT_TYPE, LISTING_TYPE)], text).into_response(),
            Some(Answer::Redirect(address)) => redirect(&address),
            Some(Answer::File(path)) => snapshot(&path),
            Some(Answer::Survey(surveys)) => survey_response(&surveys),
            Some(Answer::Missing(cause)) => text_response(StatusCode::NOT_FOUND, cause + "\n"),
            Some(Answer::Failed(cause)) => text_response(StatusCode::UNPROCESSABLE_ENTITY, cause),
            None => text_response(StatusCode::BAD_GATEWAY, "the process that reads the tables has ended\n".to_owned()),
        }
    }
}
