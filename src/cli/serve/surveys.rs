//! What is kept of a snapshot to compare many ranks, for the page: a few kilobytes instead of the file.

use super::columns::Peer;
use super::sending::said;
use super::survey_file;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use engine::protocol::encoded;
use std::path::Path;

/// What the answer is, so that the page knows it from a file of the same address elsewhere.
const KIND: &str = "application/x-memscape-survey";

/// The survey of the file at `path`, or why there is none.
pub(super) fn survey(path: &Path, peer: &Peer) -> Response {
    // To open a pipe would wait for somebody who writes into it.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return said(StatusCode::NOT_FOUND, "not a regular file".to_owned());
    }
    let watching = peer.clone();
    match survey_file(path, Box::new(move || watching.waits())) {
        Ok(of) => ([(CONTENT_TYPE, KIND)], encoded(&of)).into_response(),
        Err(cause) => said(StatusCode::UNPROCESSABLE_ENTITY, cause),
    }
}
