//! Web worker of the page's SQL tab. It handles one message at a time. To cancel a query, the page terminates the
//! worker.
//!
//! ```text
//! from the page
//! ["open", files, name, history, rules, second]   one or two snapshots as columns, their name, previous
//!                                                 queries, category rules, and true if B is the page's second file
//! ["typed", text, cursor]          the query was edited
//! ["key", key]                     a key was pressed while completions are shown
//! ["run", text]                    run the query
//! ["act", what]                    an element was clicked
//! ["more"]                         show further rows
//!
//! to the page
//! ["show", id, node…]              replace the children; a node is a text or [tag, [name, value, …], node…]
//! ["add", id, node…]               add children
//! ["status", text, is error], ["typed", text, cursor], ["go", device, allocation, event]
//! ["copy", text], ["save", name, bytes]
//! ["history", text]                store the query history
//! ["done"]                         the "open", "run" or "act" message is handled
//! ```

use channel::{Page, serve};
use engine::open_columns;
use js_sys::{Array, Date, Uint8Array};
use protocol::{CategorySet, decode};
use sql::tab::{Node, PageCommand, SqlTab};
use sql::{FileLabel, Limits, Queries, Source};
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};

/// Time and memory limits of a query.
const LIMITS: Limits = Limits { seconds: 20, memory: 512 << 20 };
/// Names of the two sides of a comparison.
const SIDES: [&str; 2] = ["A", "B"];

/// Starts the worker, which runs until the page terminates it. Messages are attached to empty requests and replies.
pub(super) fn start() {
    serve(|page: Page<()>| {
        let desk = RefCell::new(None);
        let post = move |message: &Array| page.send_with(&(), &Array::of1(message));
        Ok(move |(), attachments: Array| {
            let received: Array = attachments.get(0).unchecked_into();
            // Unknown messages are ignored.
            let Some(commands) = receive(&desk, &received) else { return };
            commands.iter().for_each(|commands| post(&message(commands)));
            // Messages without a result are not acknowledged, or the page could mistake this for the end of a later
            // one.
            if matches!(received.get(0).as_string().as_deref(), Some("open" | "run" | "act")) {
                post(&Array::of1(&"done".into()));
            }
        })
    });
}

fn receive(slot: &RefCell<Option<SqlTab>>, message: &Array) -> Option<Vec<PageCommand>> {
    let what = message.get(0).as_string()?;
    let mut slot = slot.borrow_mut();
    if what == "open" {
        let files: Array = message.get(1).dyn_into().ok()?;
        let (name, history) = (message.get(2).as_string()?, message.get(3).as_string().unwrap_or_default());
        let rules: Uint8Array = message.get(4).dyn_into().ok()?;
        let second = match message.get(5).is_truthy() {
            _ if files.length() < 2 => None,
            true => Some(SIDES[1]),
            false => Some(SIDES[0]),
        };
        return Some(match open(&files, &name, &history, &rules, second) {
            Ok((desk, commands)) => {
                *slot = Some(desk);
                commands
            }
            Err(error) => vec![PageCommand::Status(error, true)],
        });
    }
    let desk = slot.as_mut()?;
    let text = message.get(1).as_string();
    Some(match what.as_str() {
        "typed" => desk.on_edit(&text?, message.get(2).as_f64()? as usize),
        "key" => desk.on_key(&text?),
        "run" => desk.run(&text?),
        "act" => desk.on_click(&text?),
        "more" => desk.more(),
        _ => return None,
    })
}

fn open(
    files: &Array,
    name: &str,
    history: &str,
    rules: &Uint8Array,
    second: Option<&'static str>,
) -> Result<(SqlTab, Vec<PageCommand>), String> {
    let categories: CategorySet = decode(&rules.to_vec()).ok_or("the rules of categories could not be read")?;
    let mut source = Source::default();
    for (file, side) in files.iter().zip(SIDES) {
        let bytes: Uint8Array = file.dyn_into().map_err(|_| "there are no columns".to_owned())?;
        let mut at = 0;
        let mut read = |buffer: &mut [u8]| {
            let end = bytes.length().min(at + buffer.len() as u32);
            let piece = bytes.subarray(at, end);
            let length = piece.length() as usize;
            buffer.get_mut(..length).into_iter().for_each(|part| piece.copy_to(part));
            at = end;
            Ok(length)
        };
        let mut opened = open_columns(name.to_owned(), &mut read)?;
        opened.prepare(&categories);
        let label = FileLabel { side: second.map(|_| side), rank: None };
        source.add(label, opened.summary(), Box::new(opened));
    }
    let queries = Queries::new(source, Date::now, LIMITS).map_err(|error| error.to_string())?;
    Ok(SqlTab::new(queries, Date::now, name, history, second))
}

fn message(commands: &PageCommand) -> Array {
    let shown = |what: &str, id: &str, nodes: &[Node]| {
        let message = Array::of2(&what.into(), &id.into());
        for node in nodes {
            message.push(&element(node));
        }
        message
    };
    let number = |value: Option<f64>| value.map_or(JsValue::NULL, JsValue::from);
    match commands {
        PageCommand::Replace(id, nodes) => shown("show", id, nodes),
        PageCommand::Append(id, nodes) => shown("add", id, nodes),
        PageCommand::Status(text, is_error) => Array::of3(&"status".into(), &text.into(), &(*is_error).into()),
        PageCommand::SetQuery(text, cursor) => Array::of3(&"typed".into(), &text.into(), &(*cursor as f64).into()),
        PageCommand::Go { device, allocation, event } => Array::of4(
            &"go".into(),
            &number(device.map(|device| device as f64)),
            &number(allocation.map(f64::from)),
            &number(event.map(f64::from)),
        ),
        PageCommand::Copy(text) => Array::of2(&"copy".into(), &text.into()),
        PageCommand::Save(name, bytes) => Array::of3(&"save".into(), &name.into(), &Uint8Array::from(&**bytes)),
        PageCommand::History(text) => Array::of2(&"history".into(), &text.into()),
    }
}

fn element(node: &Node) -> JsValue {
    match node {
        Node::Text(text) => text.into(),
        Node::Element { tag, attributes, children } => {
            let named = Array::new();
            for (name, value) in attributes {
                named.push(&(*name).into());
                named.push(&value.into());
            }
            let array = Array::of2(&(*tag).into(), &named);
            for child in children {
                array.push(&element(child));
            }
            array.into()
        }
    }
}
