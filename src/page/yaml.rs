//! The page's handle to the YAML parser, a worker with its own wasm. Each text is parsed by a new worker.

use super::thread::WorkerThread;
use super::worker_code::WorkerCode;
use js_sys::{Array, Uint8Array};
use protocol::decode;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::shell::action::Action;
use ui::state::rules::RulesAction;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::Window;

/// Handle to the YAML parser.
pub(super) struct YamlParser {
    dispatch: Box<dyn Fn(Action)>,
    code: WorkerCode,
    /// Worker that parses the latest text. When it is replaced, the worker of the previous text is terminated.
    thread: RefCell<Option<WorkerThread>>,
    /// Number of texts parsed so far.
    parse_count: Cell<u32>,
}

impl YamlParser {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<YamlParser> {
        let (thread, parse_count) = Default::default();
        Rc::new(YamlParser { dispatch: Box::new(act), code: WorkerCode::new(window, "part-yaml"), thread, parse_count })
    }

    /// Parses a text and dispatches the result.
    pub(super) fn parse(self: &Rc<Self>, text: String) {
        let number = self.parse_count.get() + 1;
        self.parse_count.set(number);
        let yaml = self.clone();
        spawn_local(async move {
            let code = yaml.code.get_or_load().await;
            if yaml.parse_count.get() != number {
                return;
            }
            let (hearing, input) = (yaml.clone(), text.clone());
            let receive = move |message: Result<_, String>| {
                if hearing.parse_count.get() == number {
                    hearing.on_message(&input, message.map(JsCast::unchecked_into));
                }
            };
            match code.and_then(|(script, module)| WorkerThread::new(&script, &module, receive)) {
                Ok(thread) => drop(yaml.thread.replace(Some(thread))),
                Err(cause) => (yaml.dispatch)(Action::Rules(RulesAction::YamlRead(text, Err(cause)))),
            }
        });
    }

    fn on_message(self: &Rc<Self>, text: &str, message: Result<Array, String>) {
        let read = message.and_then(|message| match message.get(0).as_string().as_deref() {
            Some("ready") => Ok(None),
            Some("values") => Ok(message.get(1).dyn_ref::<Uint8Array>().and_then(|bytes| decode(&bytes.to_vec()))),
            _ => Err(message.get(1).as_string().unwrap_or_default()),
        });
        let Some(read) = read.transpose() else {
            let thread = self.thread.borrow();
            // Fails only for values that cannot be cloned.
            let _ = thread
                .iter()
                .try_for_each(|thread| thread.worker.post_message(&Array::of2(&"read".into(), &text.into())));
            return;
        };
        // The running listener belongs to the thread, so the thread is dropped later.
        let ended = self.thread.take();
        spawn_local(async move { drop(ended) });
        (self.dispatch)(Action::Rules(RulesAction::YamlRead(text.to_owned(), read)));
    }
}
