//! The page's handle to the YAML parser, a worker with its own wasm. Each text is parsed by a new worker.

use super::remote::Remote;
use super::worker_code::WorkerCode;
use protocol::category::ParsedDocument;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use ui::shell::action::Action;
use ui::state::rules::RulesAction;
use web_sys::Window;

/// Handle to the YAML parser.
pub(super) struct YamlParser {
    dispatch: Box<dyn Fn(Action)>,
    remote: Remote<String, ParsedDocument>,
    /// Text that is parsed.
    text: RefCell<String>,
}

impl YamlParser {
    pub(super) fn new(window: Window, act: impl Fn(Action) + 'static) -> Rc<YamlParser> {
        Rc::new_cyclic(|yaml: &Weak<YamlParser>| {
            let yaml = yaml.clone();
            let receive = move |read: Result<_, _>| {
                let Some(yaml) = yaml.upgrade() else { return };
                yaml.remote.stop();
                let (text, read) = (yaml.text.take(), read.map(|(read, _)| read));
                (yaml.dispatch)(Action::Rules(RulesAction::YamlRead(text, read)));
            };
            let remote = Remote::new(WorkerCode::of_part(window, "part-yaml"), receive);
            YamlParser { dispatch: Box::new(act), remote, text: RefCell::default() }
        })
    }

    /// Parses a text and dispatches the result. The worker of the previous text is terminated.
    pub(super) fn parse(&self, text: String) {
        self.remote.stop();
        self.remote.send(&text);
        self.text.replace(text);
    }
}
