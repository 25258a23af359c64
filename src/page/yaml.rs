//! The page's handle to the YAML parser, a worker with its own wasm. Each text is parsed by a new worker.

use super::part::Code;
use super::thread::Thread;
use engine::protocol::decoded;
use js_sys::{Array, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::Action;
use ui::rules::RulesAction;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::Window;

/// Handle to the YAML parser.
pub(super) struct Yaml {
    act: Box<dyn Fn(Action)>,
    code: Code,
    /// Worker that parses the latest text. A worker with an older text is terminated.
    thread: RefCell<Option<Thread>>,
    /// Number of texts parsed so far.
    texts: Cell<u32>,
}

impl Yaml {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Yaml> {
        let (thread, texts) = Default::default();
        Rc::new(Yaml { act: Box::new(act), code: Code::new(window, "part-yaml"), thread, texts })
    }

    /// Parses a text and dispatches the result.
    pub(super) fn read(self: &Rc<Self>, text: String) {
        let number = self.texts.get() + 1;
        self.texts.set(number);
        let yaml = self.clone();
        spawn_local(async move {
            let code = yaml.code.get().await;
            if yaml.texts.get() != number {
                return;
            }
            let (hearing, heard) = (yaml.clone(), text.clone());
            let hear = move |message: Result<_, String>| {
                if hearing.texts.get() == number {
                    hearing.hear(&heard, message.map(JsCast::unchecked_into));
                }
            };
            match code.and_then(|(script, module)| Thread::new(&script, &module, hear)) {
                Ok(thread) => drop(yaml.thread.replace(Some(thread))),
                Err(cause) => (yaml.act)(Action::Rules(RulesAction::YamlRead(text, Err(cause)))),
            }
        });
    }

    fn hear(self: &Rc<Self>, text: &str, message: Result<Array, String>) {
        let read = message.and_then(|message| match message.get(0).as_string().as_deref() {
            Some("ready") => Ok(None),
            Some("values") => Ok(message.get(1).dyn_ref::<Uint8Array>().and_then(|bytes| decoded(&bytes.to_vec()))),
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
        (self.act)(Action::Rules(RulesAction::YamlRead(text.to_owned(), read)));
    }
}
