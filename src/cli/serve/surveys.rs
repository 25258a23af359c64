//! Responses with the scan result of a snapshot: a few kilobytes with which the page can compare ranks without
//! downloading the file.

use super::decoded_cache::Peer;
use super::snapshot_response::text_response;
use super::survey_file;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use compare::ranks::FileSurveys;
use protocol::encode;
use std::path::Path;

/// Content type of the response. The page checks it, because a different server may respond at the same address.
const SURVEY_TYPE: &str = "application/x-memscape-survey";

/// Scans the file at `path` and responds with the result, or with the reason why the scan failed.
pub(super) fn survey(path: &Path, peer: &Peer) -> Response {
    // Opening a named pipe would block until it has a writer.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return text_response(StatusCode::NOT_FOUND, "not a regular file".to_owned());
    }
    let connected_peer = peer.clone();
    match survey_file(path, Box::new(move || connected_peer.check_connected())) {
        Ok(surveys) => survey_response(&surveys),
        Err(cause) => text_response(StatusCode::UNPROCESSABLE_ENTITY, cause),
    }
}

/// Responds with the result of a scan.
pub(super) fn survey_response(surveys: &FileSurveys) -> Response {
    ([(CONTENT_TYPE, SURVEY_TYPE)], encode(surveys)).into_response()
}
