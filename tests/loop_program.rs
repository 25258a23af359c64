//! Generated training loops: at module level, in functions, in notebooks, with and without annotations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened::{Opened, open};
use crate::reported::report;
use memscape::protocol::{Report, Topic};
use serde_json::{Value, json};

pub(crate) const MIB: u64 = 1 << 20;

/// A frame: file, line and function.
pub(crate) type Frame = (&'static str, u64, &'static str);

/// Events of a program, with the blocks that are live.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) events: Vec<Value>,
    pub(crate) live: Vec<(u64, u64, String)>,
    pub(crate) next: u64,
    pub(crate) marks: Vec<Value>,
}

impl Program {
    /// Allocates `bytes` at a stack, whose innermost frame comes first. Returns the address.
    pub(crate) fn alloc(&mut self, bytes: u64, stack: &[Frame]) -> u64 {
        self.next += 1;
        let frames: Vec<Value> =
            stack.iter().map(|(file, line, name)| json!({"filename": file, "line": line, "name": name})).collect();
        self.event("alloc", self.next << 32, bytes, &json!(frames));
        self.live.push((self.next << 32, bytes, stack.first().map_or("", |it| it.2).to_owned()));
        self.next << 32
    }

    pub(crate) fn event(&mut self, action: &str, address: u64, bytes: u64, frames: &Value) {
        let time = 1000 + 10 * self.events.len();
        self.events.push(
            json!({"action": action, "addr": address, "size": bytes, "stream": 0, "time_us": time, "frames": frames}),
        );
    }

    /// Requests the free of a block, and completes it.
    pub(crate) fn free(&mut self, address: u64) {
        self.request_free(address);
        let index = self.live.iter().position(|block| block.0 == address).unwrap();
        let (_, bytes, _) = self.live.remove(index);
        self.event("free_completed", address, bytes, &json!([]));
    }

    pub(crate) fn request_free(&mut self, address: u64) {
        let bytes = self.live.iter().find(|block| block.0 == address).unwrap().1;
        self.event("free_requested", address, bytes, &json!([]));
    }

    pub(crate) fn mark(&mut self, stage: &str, name: &str) {
        let time = 1000 + 10 * self.events.len() - 5;
        self.marks.push(json!({"stage": stage, "name": name, "device": 0, "time_us": time}));
    }

    pub(crate) fn open(&self) -> Opened {
        self.open_with(&[])
    }

    pub(crate) fn open_with(&self, segments: &[Value]) -> Opened {
        let value = json!({"segments": segments, "device_traces": [self.events], "external_annotations": self.marks});
        open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
    }

    /// Requests `bytes` in a forward pass, which fails because the device has `free` bytes. Each live block has a
    /// segment. Returns the report on the OOM.
    pub(crate) fn oom(&mut self, bytes: u64, free: u64) -> Report {
        let frames = json!([{"filename": "/w/model.py", "line": 24, "name": "forward"}]);
        self.event("oom", free, bytes, &frames);
        self.events.last_mut().unwrap()["device_free"] = json!(free);
        let segment = |&(address, bytes, _): &(u64, u64, String)| {
            let block = json!({"address": address, "size": bytes, "requested_size": bytes, "state": "active_allocated",
                               "frames": []});
            json!({"device": 0, "address": address, "total_size": bytes, "stream": 0, "segment_type": "large",
                   "segment_pool_id": [0, 0], "is_expandable": false, "blocks": [block]})
        };
        let segments: Vec<Value> = self.live.iter().map(segment).collect();
        report(&mut self.open_with(&segments), 0, Topic::OutOfMemory, &[])
    }
}

/// Place of a training loop: its outer frames, innermost first.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Directly in a module. The lines of the loop are in the outermost frame.
    Module(&'static str),
    /// In a function that the module calls.
    Function,
    /// In functions that the loop calls. The outermost frame of most stacks is such a function.
    CutOff,
}

impl Place {
    /// Returns the frames of a line of the loop.
    pub(crate) fn at(self, line: u64) -> Vec<Frame> {
        match self {
            Place::Module(file) => vec![(file, line, "<module>")],
            Place::Function => vec![("/w/run.py", line, "main"), ("/w/run.py", 90, "<module>")],
            Place::CutOff => vec![("/w/run.py", line, "train_step")],
        }
    }
}

/// Bytes that each leaking line keeps in each step.
pub(crate) type Leaks<'a> = &'a [u64];

/// A training loop: parameters, then in each step four activations, a backward pass, and optimizer state in the first.
/// With `is_annotated`, each step has an annotation.
pub(crate) fn training(place: Place, steps: usize, leaks: Leaks<'_>, is_annotated: bool) -> Program {
    let mut program = Program::default();
    let inside = |inner: &[Frame], line: u64| [inner, &place.at(line)].concat();
    for _ in 0..4 {
        program.alloc(4 * MIB, &inside(&[("/w/model.py", 3, "__init__")], 6));
    }
    for step in 0..steps {
        let name = format!("step_{step}");
        if is_annotated {
            program.mark("START", &name);
        }
        let mut activations: Vec<u64> =
            (0..4).map(|layer| program.alloc(MIB, &inside(&[("/w/model.py", 20 + layer, "forward")], 12))).collect();
        activations.push(program.alloc(512, &inside(&[], 13)));
        for (leak, &bytes) in leaks.iter().enumerate() {
            program.alloc(bytes, &inside(&[("/w/log.py", 5, "keep")], 30 + leak as u64));
        }
        let engine = ("/x/torch/autograd/graph.py", 829, "_engine_run_backward");
        let gradients: Vec<u64> = (0..4).map(|_| program.alloc(4 * MIB, &inside(&[engine], 14))).collect();
        activations.into_iter().for_each(|address| program.free(address));
        if step == 0 {
            for _ in 0..8 {
                program.alloc(4 * MIB, &inside(&[("/x/torch/optim/adam.py", 180, "_init_group")], 15));
            }
        }
        let scratch = program.alloc(4 * MIB, &inside(&[("/x/torch/optim/adam.py", 700, "_multi_tensor_adam")], 15));
        program.free(scratch);
        gradients.into_iter().for_each(|address| program.free(address));
        if is_annotated {
            program.mark("END", &name);
        }
    }
    program
}
