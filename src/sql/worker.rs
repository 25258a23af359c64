//! Web worker of the page's SQL tab. It handles one request at a time. To cancel a query, the page terminates the
//! worker.

use channel::{Page, buffer, serve};
use engine::open_columns;
use js_sys::{Array, ArrayBuffer, Date, Uint8Array};
use protocol::CategorySet;
use protocol::sql::{SqlReply, SqlRequest};
use sql::{FileLabel, Limits, Queries, Session, Source};
use std::cell::RefCell;
use wasm_bindgen::JsCast;

/// Time and memory limits of a query.
const LIMITS: Limits = Limits { seconds: 20, memory: 512 << 20 };
/// Names of the two sides of a comparison.
const SIDES: [&str; 2] = ["A", "B"];

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    serve(|page: Page<SqlReply>| {
        let session = RefCell::new(None);
        Ok(move |request, attachments: Array| {
            if let SqlRequest::Open { name, categories, is_b_second } = request {
                let opened = open(name, &categories, is_b_second, &attachments);
                let schema = opened.map(|opened| session.borrow_mut().insert(opened).schema());
                return page.send(&SqlReply::Opened(schema));
            }
            let answer = session.borrow_mut().as_mut().and_then(|session: &mut Session| session.answer(request));
            if let Some((reply, file)) = answer {
                page.send_with(&reply, &file.iter().map(|file| buffer(file)).collect());
            }
        })
    });
}

fn open(name: String, categories: &CategorySet, is_b_second: bool, files: &Array) -> Result<Session, String> {
    let second = (files.length() > 1).then_some(SIDES[usize::from(is_b_second)]);
    let mut source = Source::default();
    for (file, side) in files.iter().zip(SIDES) {
        let bytes = Uint8Array::new(file.dyn_ref::<ArrayBuffer>().ok_or("there are no columns")?);
        let mut at = 0;
        let mut read = |buffer: &mut [u8]| {
            let end = bytes.length().min(at + buffer.len() as u32);
            let piece = bytes.subarray(at, end);
            let length = piece.length() as usize;
            buffer.get_mut(..length).into_iter().for_each(|part| piece.copy_to(part));
            at = end;
            Ok(length)
        };
        let mut opened = open_columns(name.clone(), &mut read)?;
        opened.prepare(categories);
        let label = FileLabel { side: second.map(|_| side), rank: None };
        source.add(label, opened.summary(), Box::new(opened));
    }
    let queries = Queries::new(source, Date::now, LIMITS).map_err(|error| error.to_string())?;
    Ok(Session::new(queries, Date::now, name, second))
}
