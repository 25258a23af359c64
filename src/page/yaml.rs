//! The page's handle on the reader of YAML: a worker with a wasm of its own, made for each text and ended with its answer.

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

/// The page's handle on the reader.
pub(super) struct Yaml {
    act: Box<dyn Fn(Action)>,
    code: Code,
    /// Reads the newest text; one that still reads an older is ended.
    thread: RefCell<Option<Thread>>,
    /// How many texts there were.
    texts: Cell<u32>,
}

impl Yaml {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<Yaml> {
        let (thread, texts) = Default::default();
        Rc::new(Yaml { act: Box::new(act), code: Code::new(window, "part-yaml"), thread, texts })
    }

    /// Has a text read, and says what it is.
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
            // It fails only for what can't be cloned.
            let _ = thread
                .iter()
                .try_for_each(|thread| thread.worker.post_message(&Array::of2(&"read".into(), &text.into())));
            return;
        };
        // A listener of its own is what runs.
        let ended = self.thread.take();
        spawn_local(async move { drop(ended) });
        (self.act)(Action::Rules(RulesAction::YamlRead(text.to_owned(), read)));
    }
}
