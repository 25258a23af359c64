//! What is true of each `nn.Module` of the model: the events that happen in its `forward`.
//!
//! A module stands in a stack as its `forward`, called by torch's `_call_impl`; it is told from its like by the places in the
//! program that lead to it, outermost first. Its name and its class are in no frame: they are here so that a reader knows it.

use super::stacks::{Frame, Module, Site, call_of_layer, call_of_loss, call_of_model};
use super::tracer::Event;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is true of one module. Bytes, unless it counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct LayerTruth {
    /// As `named_modules` has it: `h.3.mlp`; the model itself is `model`.
    pub(crate) layer: String,
    pub(crate) class: &'static str,
    /// Of its `forward`.
    pub(crate) file: &'static str,
    /// `file:line` of each call on the way to it.
    pub(crate) called_at: Vec<String>,
    /// Events with its `forward` in the stack.
    pub(crate) events: u64,
    /// Of those: `alloc`.
    pub(crate) allocations: u64,
    pub(crate) allocated_bytes: u64,
    /// Of those: `free_completed`.
    pub(crate) frees: u64,
    pub(crate) freed_bytes: u64,
    /// The most that the whole device had live, and reserved, after one of them.
    pub(crate) peak_requested: u64,
    pub(crate) peak_reserved: u64,
    /// Mean over them of what of the reserved bytes was not live: 0 to 1.
    pub(crate) mean_fragmentation: f64,
    pub(crate) first_us: u64,
    pub(crate) last_us: u64,
}

/// The modules that events were seen in, the model first.
#[derive(Default)]
pub(crate) struct Layers(BTreeMap<Key, LayerTruth>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Model,
    Layer(u64),
    Part(u64, Module),
    Loss,
}

impl Layers {
    /// Counts an event in every module it happens in.
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

    /// The table, means instead of sums.
    pub(crate) fn table(self) -> Vec<LayerTruth> {
        let mean = |sum: &LayerTruth| sum.mean_fragmentation / sum.events as f64;
        self.0.into_values().map(|sum| LayerTruth { mean_fragmentation: mean(&sum), ..sum }).collect()
    }
}

impl Key {
    fn module(self) -> LayerTruth {
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
        LayerTruth { layer, class, file, called_at, ..LayerTruth::default() }
    }
}

impl LayerTruth {
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
        // A sum until the table is made.
        self.mean_fragmentation += 1.0 - after.requested as f64 / after.reserved.max(1) as f64;
    }
}
