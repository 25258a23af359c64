//! The YAML worker. It parses each text that it receives.

use analysis::category::ParsedDocument;
use channel::{Page, serve};

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    serve(|page: Page<ParsedDocument>| Ok(move |text: String, _| page.send(&yaml::read(&text))));
}
