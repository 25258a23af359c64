//! Training of a transformer: parameters, then steps of forward, backward and optimizer, and the host's pinned batches.

use super::annotation::{Name, Stage};
use super::options::{Length, Options, Program};
use super::pool::{Kind, Owner};
use super::programs;
use super::stacks::{MODULES, Module, Site};
use super::tracer::{FinalState, Sink, Tracer};
use std::collections::VecDeque;
use std::io;

const MIB: u64 = 1 << 20;
const FLOAT_BYTES: u64 = 4;
/// Number of attention heads. Each has scores of its own.
const HEADS: u64 = 16;
/// Number of steps between emptying the cache.
const STEPS_TO_EMPTY_CACHE: u64 = 5;

/// Runs the training on one device and sends all events to `sink`.
pub(crate) fn run<S: Sink>(options: &Options, device: usize, sink: &mut S) -> io::Result<FinalState> {
    if options.program != Program::Training {
        return programs::run(options, device, sink);
    }
    let mut training = Training {
        tracer: Tracer::new(options, if options.expandable { Kind::Expandable } else { Kind::Fixed }, device, sink),
        options,
        parameters: Vec::new(),
        optimizer_state: Vec::new(),
        leaked: Vec::new(),
        steps: 0,
    };
    training.make_model()?;
    training.tracer.start_recording();
    if options.before_recording_mib.is_none() {
        training.make_recorded_model()?;
    }
    while !training.is_over() {
        training.step()?;
    }
    if options.oom {
        training.run_out_of_memory()?;
    }
    let Training { tracer, steps, leaked, .. } = training;
    let leaked = leaked.iter().map(|address| tracer.allocator.blocks[address].requested).collect();
    Ok(FinalState {
        allocator: tracer.allocator,
        stacks: tracer.stacks,
        annotations: tracer.annotations,
        steps,
        leaked,
    })
}

/// Copies batches to the device through pinned host memory, two ahead. `number` differs from those of all devices.
pub(crate) fn run_host<S: Sink>(
    options: &Options,
    number: usize,
    batches: u64,
    sink: &mut S,
) -> io::Result<FinalState> {
    let mut tracer = Tracer::new(options, Kind::Host, number, sink);
    tracer.start_recording();
    let mut pinned = VecDeque::new();
    for _ in 0..batches + 2 {
        if pinned.len() >= 4 {
            for buffer in pinned.drain(..2) {
                tracer.free(buffer, Site::Unpin)?;
            }
        }
        let tokens = 4 * tracer.random.one_of(&[256, 384, 512]);
        for bytes_a_token in [8, 72] {
            pinned.push_back(tracer.malloc(tokens * bytes_a_token, Site::Pin)?);
        }
    }
    let Tracer { allocator, stacks, annotations, .. } = tracer;
    Ok(FinalState { allocator, stacks, annotations, steps: 0, leaked: Vec::new() })
}

struct Training<'a, S> {
    tracer: Tracer<'a, S>,
    options: &'a Options,
    /// Sizes of the parameters in bytes, which are also those of their gradients.
    parameters: Vec<u64>,
    optimizer_state: Vec<u64>,
    leaked: Vec<u64>,
    steps: u64,
}

impl<S: Sink> Training<'_, S> {
    fn is_over(&self) -> bool {
        match self.options.length {
            Length::Events(events) => self.tracer.events >= events,
            Length::Steps(steps) => self.steps >= steps,
        }
    }

    /// Returns true if the current step should stop early.
    fn stops_here(&self) -> bool {
        matches!(self.options.length, Length::Events(events) if self.tracer.events >= events)
    }

    /// Allocates the parameters that exist before recording.
    fn make_model(&mut self) -> io::Result<()> {
        let mut left = self.options.before_recording_mib.unwrap_or(0) * MIB;
        let mut layer = 0;
        while left > 0 {
            for part in 0..4 {
                let size = self.parameter_bytes(part).min(left.max(512));
                self.parameter(size, layer, part)?;
                left = left.saturating_sub(size);
            }
            layer += 1;
        }
        Ok(())
    }

    /// Allocates parameters while recording.
    fn make_recorded_model(&mut self) -> io::Result<()> {
        let embedding = self.options.model.vocabulary * self.options.model.hidden * FLOAT_BYTES;
        self.parameter(embedding, 0, 4)?;
        for layer in 0..self.options.model.layers {
            for part in 0..4 {
                self.parameter(self.parameter_bytes(part), layer, part)?;
            }
        }
        Ok(())
    }

    fn parameter(&mut self, size: u64, layer: u64, part: usize) -> io::Result<()> {
        self.parameters.push(size);
        self.tracer.malloc(size, Site::Parameter { layer, part }).map(drop)
    }

    fn parameter_bytes(&self, part: usize) -> u64 {
        let hidden = self.options.model.hidden;
        FLOAT_BYTES * [2 * hidden, 4 * hidden * hidden, 4 * hidden * hidden, hidden * 4 * hidden][part % 4]
    }

    fn step(&mut self) -> io::Result<()> {
        let name = Name::Step(self.steps);
        self.tracer.step = Some(self.steps);
        self.tracer.annotate(Stage::Start, name);
        let sequence = self.tracer.random.one_of(&[256, 384, 512]);
        let tokens = self.options.work.batch.unwrap_or(4) * self.options.work.sequence.unwrap_or(sequence);
        let batch = self.tracer.malloc(tokens * 8, Site::Batch)?;
        let mut saved = vec![batch];
        self.in_phase("forward", |training| {
            training.forward(tokens, training.options.model.layers, &mut saved)?;
            training.loss(tokens, &mut saved)
        })?;
        if self.options.leak {
            let size = self.tracer.random.one_of(&[24, 40, 56]) * MIB + 4 * self.steps;
            let kept = self.tracer.malloc(size, Site::Leak)?;
            self.leaked.push(kept);
        }
        if self.options.work.extra_leak_mib > 0 {
            let kept = self.tracer.malloc(self.options.work.extra_leak_mib * MIB, Site::Leak)?;
            self.leaked.push(kept);
        }
        let mut gradients = Vec::new();
        self.in_phase("backward", |training| training.backward(&mut saved, &mut gradients))?;
        self.in_phase("Optimizer.step#AdamW.step", |training| training.optimize(&gradients))?;
        self.in_phase("zero_grad", |training| training.free_all(&mut gradients, Site::ZeroGrad))?;
        self.free_all(&mut saved, Site::BackwardFree)?;
        if (self.steps + 1).is_multiple_of(STEPS_TO_EMPTY_CACHE) {
            // The program synchronizes within the step.
            self.tracer.complete_all_frees()?;
        }
        self.tracer.annotate(Stage::End, name);
        self.tracer.step = None;
        self.steps += 1;
        if self.options.snapshots {
            self.tracer.record_note("snapshot", 0, 0, Site::Snapshot)?;
        }
        if self.steps.is_multiple_of(STEPS_TO_EMPTY_CACHE) {
            self.tracer.empty_cache(Site::EmptyCache)?;
        }
        Ok(())
    }

    fn in_phase(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if self.stops_here() {
            return Ok(());
        }
        self.tracer.annotate(Stage::Start, Name::Phase(name));
        if self.options.metadata {
            self.tracer.user_metadata = format!("{{\"phase\": \"{name}\", \"step\": {}}}", self.steps);
        }
        work(self)?;
        self.tracer.user_metadata.clear();
        self.tracer.annotate(Stage::End, Name::Phase(name));
        Ok(())
    }

    /// Each layer saves tensors for its backward pass and frees its scratch memory.
    fn forward(&mut self, tokens: u64, layers: u64, saved: &mut Vec<u64>) -> io::Result<()> {
        let number = if self.options.work.is_half { FLOAT_BYTES / 2 } else { FLOAT_BYTES };
        let row = tokens * self.options.model.hidden * number;
        // With a fixed sequence length only the scores grow quadratically.
        let square = if self.options.work.sequence.is_some() { row } else { tokens * tokens };
        for layer in 0..layers {
            if self.options.layer_annotations && !self.stops_here() {
                self.tracer.annotate(Stage::Start, Name::Layer(layer));
            }
            if self.options.compile_contexts {
                self.tracer.compile_context = format!("[{}/{}]", layer % 3, self.steps % 2);
            }
            for (operator, module) in MODULES.into_iter().enumerate() {
                if self.stops_here() {
                    return Ok(());
                }
                let width = match module {
                    Module::Attention => 3,
                    Module::Mlp => 4,
                    Module::Projection | Module::Norm | Module::Dropout => 1,
                };
                let site = Site::Forward { layer, module, operator };
                saved.push(self.tracer.malloc(width * row, site)?);
                if let Some(sequence) = self.options.work.sequence.filter(|_| module == Module::Attention) {
                    let scores = tokens * sequence * HEADS * number;
                    saved.push(self.tracer.malloc(scores, Site::Scores { layer })?);
                }
                for _ in 0..1 + self.tracer.random.below(3) {
                    let size = self.tracer.random.one_of(&[512, 2048, tokens * 4, row / 4, row / 2, square]);
                    let operator = operator + 3 + self.tracer.random.below(3) as usize;
                    let site = Site::Forward { layer, module, operator };
                    let scratch = self.tracer.malloc_from(self.scratch_pool(module), size, site)?;
                    self.tracer.free(scratch, Site::ForwardFree { layer, module })?;
                }
            }
            if self.options.layer_annotations {
                self.tracer.annotate(Stage::End, Name::Layer(layer));
            }
        }
        self.tracer.compile_context = "N/A".to_owned();
        Ok(())
    }

    /// Returns the pool of a module's scratch memory. Attention uses a private one if the option is set.
    fn scratch_pool(&self, module: Module) -> Owner {
        match module {
            Module::Attention if self.options.private_pools => Owner::MemPool,
            _ => Owner::Default,
        }
    }

    /// Allocates the logits, the largest tensor: one number per token and word.
    fn loss(&mut self, tokens: u64, saved: &mut Vec<u64>) -> io::Result<()> {
        if !self.stops_here() {
            let logits = tokens * self.options.model.vocabulary * FLOAT_BYTES / 2;
            saved.push(self.tracer.malloc(logits, Site::Loss)?);
            saved.push(self.tracer.malloc(FLOAT_BYTES, Site::Loss)?);
        }
        Ok(())
    }

    /// Uses and frees saved tensors last in, first out, and allocates gradients.
    fn backward(&mut self, saved: &mut Vec<u64>, gradients: &mut Vec<u64>) -> io::Result<()> {
        let mut waiting_for_gradient = self.parameters.clone();
        let parameters_each = self.parameters.len().div_ceil(saved.len().max(1));
        let mut operator = 0;
        while let Some(activation) = saved.pop() {
            if self.stops_here() {
                saved.push(activation);
                return Ok(());
            }
            operator += 1;
            let size = self.tracer.allocator.blocks[&activation].requested;
            let scratch = self.tracer.malloc(size, Site::Backward { operator: operator % 7 })?;
            for size in waiting_for_gradient.drain(waiting_for_gradient.len().saturating_sub(parameters_each)..) {
                gradients.push(self.tracer.malloc(size, Site::Backward { operator: operator % 3 })?);
            }
            self.tracer.free(activation, Site::BackwardFree)?;
            if self.options.pending && operator % 37 == 5 {
                self.tracer.free_later(scratch, Site::BackwardFree)?;
            } else {
                self.tracer.free(scratch, Site::BackwardFree)?;
            }
            if self.tracer.random.below(30) == 0 {
                self.tracer.complete_oldest_free()?;
            }
        }
        Ok(())
    }

    fn optimize(&mut self, gradients: &[u64]) -> io::Result<()> {
        for (number, gradient) in gradients.iter().enumerate() {
            if self.stops_here() {
                return Ok(());
            }
            let size = self.tracer.allocator.blocks[gradient].requested;
            if self.optimizer_state.len() < 2 * gradients.len() {
                for part in 0..2 {
                    let state = self.tracer.malloc(size, Site::OptimizerState { part })?;
                    self.optimizer_state.push(state);
                }
            }
            if number % 8 == 0 {
                let part = number / 8 % 3;
                let scratch = self.tracer.malloc(size, Site::Optimizer { part })?;
                self.tracer.free(scratch, Site::Optimizer { part })?;
            }
        }
        Ok(())
    }

    fn free_all(&mut self, blocks: &mut Vec<u64>, site: Site) -> io::Result<()> {
        while !self.stops_here()
            && let Some(block) = blocks.pop()
        {
            self.tracer.free(block, site)?;
        }
        Ok(())
    }

    /// Runs half a forward pass over a batch four times as long, then a failing request of attention.
    fn run_out_of_memory(&mut self) -> io::Result<()> {
        let layer = self.options.model.layers / 2;
        let tokens = 8192;
        if !self.stops_here() {
            self.tracer.annotate(Stage::Start, Name::Step(self.steps));
            self.tracer.annotate(Stage::Start, Name::Phase("forward"));
            self.forward(tokens, layer, &mut Vec::new())?;
        }
        let site = Site::Forward { layer, module: Module::Attention, operator: 7 };
        // PyTorch empties the cache and retries before it fails, so the driver has that memory as well.
        let before = self.tracer.allocator.totals.reserved;
        self.tracer.empty_cache(site)?;
        let free = 123 * MIB + before - self.tracer.allocator.totals.reserved;
        self.tracer.record_note("oom", free, tokens * tokens * 64 * FLOAT_BYTES, site)
    }
}
