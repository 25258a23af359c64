//! Expected values of each `nn.Module` of the model: the events in its `forward`.
//!
//! A stack shows a module as its `forward`, called by torch's `_call_impl`. Modules differ in the chain of calls that
//! lead to them, outermost first. Names and classes do not appear in frames and are only for readers of the report.

use super::stacks::{Frame, Module, Site, call_of_layer, call_of_loss, call_of_model};
use super::tracer::Event;
use serde::Serialize;
use std::collections::BTreeMap;

/// Expected values of one module. Bytes unless noted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ExpectedModule {
    /// Name as in `named_modules`, such as `h.3.mlp`. The model itself is `model`.
    pub(crate) layer: String,
    pub(crate) class: &'static str,
    /// File of its `forward`.
    pub(crate) file: &'static str,
    /// `file:line` of each call that leads to it, outermost first.
    pub(crate) called_at: Vec<String>,
    /// Number of events with its `forward` in the stack.
    pub(crate) events: u64,
    /// Number of `alloc` events among them.
    pub(crate) allocations: u64,
    pub(crate) allocated_bytes: u64,
    /// Number of `free_completed` events among them.
    pub(crate) frees: u64,
    pub(crate) freed_bytes: u64,
    /// Maximum live and reserved bytes of the whole device after any of them.
    pub(crate) peak_requested: u64,
    pub(crate) peak_reserved: u64,
    /// Mean share of reserved bytes that are not live after them, 0 to 1.
    pub(crate) mean_fragmentation: f64,
    pub(crate) first_us: u64,
    pub(crate) last_us: u64,
}

/// Modules with events, the model first.
#[derive(Default)]
pub(crate) struct Modules(BTreeMap<Key, ExpectedModule>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Model,
    Layer(u64),
    Part(u64, Module),
    Loss,
}

impl Modules {
    /// Counts an event in all modules of its stack.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        let keys: &[Key] = match event.context.site {
            Site::Forward { layer, module, .. } | Site::ForwardFree { layer, module } => {
                &[Key::Model, Key::Layer(layer), Key::Part(layer, module)]
            }
            Site::Scores { layer } => &[Key::Model, Key::Layer(layer), Key::Part(layer, Module::Attention)],
            Site::Loss => &[Key::Loss],
            _ => &[],
        };
        for &key in keys {
            self.0.entry(key).or_insert_with(|| key.module()).event(event);
        }
    }

    /// Returns the modules with means in place of sums.
    pub(crate) fn table(self) -> Vec<ExpectedModule> {
        let mean = |sum: &ExpectedModule| sum.mean_fragmentation / sum.events as f64;
        self.0.into_values().map(|sum| ExpectedModule { mean_fragmentation: mean(&sum), ..sum }).collect()
    }
}

impl Key {
    fn module(self) -> ExpectedModule {
        let called_at = |calls: &[Frame]| calls.iter().map(|call| format!("{}:{}", call.filename, call.line)).collect();
        let model = [call_of_model()];
        let (layer, class, file, called_at) = match self {
            Key::Model => ("model".to_owned(), "GPT", call_of_layer(0).filename, called_at(&model)),
            Key::Layer(layer) => {
                let calls = [model[0], call_of_layer(layer)];
                (format!("h.{layer}"), "Block", calls[1].filename, called_at(&calls))
            }
            Key::Part(layer, module) => {
                let calls = [model[0], call_of_layer(layer), module.call()];
                let name = format!("h.{layer}.{}", module.name());
                (name, module.class(), module.forward().filename, called_at(&calls))
            }
            Key::Loss => {
                ("loss".to_owned(), "LanguageModelLoss", call_of_layer(0).filename, called_at(&[call_of_loss()]))
            }
        };
        ExpectedModule { layer, class, file, called_at, ..ExpectedModule::default() }
    }
}

impl ExpectedModule {
    fn event(&mut self, event: &Event<'_>) {
        if self.events == 0 {
            self.first_us = event.time_us;
        }
        self.last_us = event.time_us;
        self.events += 1;
        match event.action {
            "alloc" => {
                self.allocations += 1;
                self.allocated_bytes += event.size;
            }
            "free_completed" => {
                self.frees += 1;
                self.freed_bytes += event.size;
            }
            _ => {}
        }
        let after = event.after;
        self.peak_requested = self.peak_requested.max(after.requested);
        self.peak_reserved = self.peak_reserved.max(after.reserved);
        // A sum until `table` is called.
        self.mean_fragmentation += 1.0 - after.requested as f64 / after.reserved.max(1) as f64;
    }
}
