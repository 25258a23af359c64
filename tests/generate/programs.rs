//! Generated programs other than training: an evaluation whose results fragment memory, and a server with CUDA graphs.

use super::annotation::{Name, Stage};
use super::options::{Options, Program};
use super::pool::{Kind, Owner};
use super::stacks::{Frame, Site};
use super::tracer::{FinalState, Sink, Tracer};
use std::io;

const MIB: u64 = 1 << 20;

/// Runs one of the programs.
pub(crate) fn run<S: Sink>(options: &Options, device: usize, sink: &mut S) -> io::Result<FinalState> {
    let mut tracer = Tracer::new(options, Kind::Fixed, device, sink);
    tracer.start_recording();
    match options.program {
        Program::Graphs => serve(&mut tracer)?,
        Program::Fragmentation | Program::Training => evaluate(&mut tracer)?,
    }
    let Tracer { allocator, stacks, annotations, .. } = tracer;
    Ok(FinalState { allocator, stacks, annotations, steps: 0, leaked: Vec::new() })
}

/// Evaluates batches sorted by length. Each needs more memory than the ones before and keeps half. The free space
/// between the results is too small for the training step that follows.
fn evaluate<S: Sink>(tracer: &mut Tracer<'_, S>) -> io::Result<()> {
    model(tracer, 24, 56, 8)?;
    let evaluation = Name::Phase("evaluate");
    tracer.annotate(Stage::Start, evaluation);
    for batch in 0..28 {
        let size = (100 + 14 * batch) * MIB;
        let tokens = tracer.malloc(24 * 1024, Site::Story(BATCH))?;
        let hidden = tracer.malloc(size, Site::Story(HIDDEN))?;
        for layer in 0..6 {
            let scratch = tracer.malloc((6 + 5 * layer) * MIB, Site::Story(ATTENTION))?;
            let wide = tracer.malloc((8 + 6 * layer) * MIB, Site::Story(MLP))?;
            tracer.free(scratch, Site::Story(MODEL_FREE))?;
            tracer.free(wide, Site::Story(MODEL_FREE))?;
        }
        tracer.free(hidden, Site::Story(MODEL_FREE))?;
        tracer.malloc(size * 13 / 25, Site::Story(FEATURES))?;
        tracer.free(tokens, Site::Story(EVALUATE_FREE))?;
    }
    tracer.annotate(Stage::End, evaluation);
    tracer.annotate(Stage::Start, Name::Step(0));
    tracer.annotate(Stage::Start, Name::Phase("forward"));
    tracer.malloc(64 * 1024, Site::Story(BATCH))?;
    for layer in 0..8 {
        tracer.malloc((20 + layer % 3) * MIB, Site::Story(TRAIN_ATTENTION))?;
        tracer.malloc(32 * MIB, Site::Story(TRAIN_MLP))?;
    }
    // PyTorch empties the cache and retries before it fails.
    tracer.empty_cache(Site::Story(LOGITS))?;
    tracer.record_note("oom", 310 * MIB, 1920 * MIB, Site::Story(LOGITS))
}

/// Serves a language model: one graph with its own pool per batch size, then requests.
fn serve<S: Sink>(tracer: &mut Tracer<'_, S>) -> io::Result<()> {
    model(tracer, 16, 40, 10)?;
    for _ in 0..8 {
        tracer.malloc(64 * MIB, Site::Story(KV_CACHE))?;
    }
    for (graph, batch) in [32, 16, 8, 4, 2, 1].into_iter().enumerate() {
        let pool = Owner::Graph(graph as u8 + 1);
        let capture = Name::Phase(CAPTURES[graph]);
        tracer.annotate(Stage::Start, capture);
        tracer.malloc_from(pool, batch * 256 * 1024, Site::Story(GRAPH_INPUT))?;
        for layer in 0..16 {
            let hidden = tracer.malloc_from(pool, batch * MIB + 512 * layer, Site::Story(GRAPH_ATTENTION))?;
            let wide = tracer.malloc_from(pool, batch * 2 * MIB, Site::Story(GRAPH_MLP))?;
            if layer % 4 != 0 {
                tracer.free(hidden, Site::Story(GRAPH_FREE))?;
            }
            tracer.free(wide, Site::Story(GRAPH_FREE))?;
        }
        tracer.malloc_from(pool, batch * 600 * 1024, Site::Story(GRAPH_OUTPUT))?;
        tracer.annotate(Stage::End, capture);
    }
    for request in 0..40 {
        let serving = Name::Phase("generate");
        tracer.annotate(Stage::Start, serving);
        let rows = 1 + tracer.random.below(8);
        let prompt = tracer.malloc(rows * 192 * 1024, Site::Story(PROMPT))?;
        let logits = tracer.malloc(rows * (9 + request % 5) * MIB, Site::Story(PREFILL))?;
        for _ in 0..6 {
            let probabilities = tracer.malloc(rows * 512 * 1024, Site::Story(SAMPLING))?;
            tracer.free(probabilities, Site::Story(SERVE_FREE))?;
        }
        tracer.free(logits, Site::Story(SERVE_FREE))?;
        tracer.free(prompt, Site::Story(SERVE_FREE))?;
        tracer.annotate(Stage::End, serving);
    }
    Ok(())
}

/// Allocates weights: a large and a small tensor per layer.
fn model<S: Sink>(tracer: &mut Tracer<'_, S>, layers: u64, large_mib: u64, small_mib: u64) -> io::Result<()> {
    for layer in 0..layers {
        for (part, size) in [large_mib, small_mib].into_iter().enumerate() {
            tracer.malloc(size * MIB, Site::Parameter { layer, part: part + 1 })?;
        }
    }
    Ok(())
}

const CAPTURES: [&str; 6] = [
    "capture batch 32",
    "capture batch 16",
    "capture batch 8",
    "capture batch 4",
    "capture batch 2",
    "capture batch 1",
];

const BATCH: usize = 0;
const HIDDEN: usize = 1;
const ATTENTION: usize = 2;
const MLP: usize = 3;
const MODEL_FREE: usize = 4;
const FEATURES: usize = 5;
const EVALUATE_FREE: usize = 6;
const TRAIN_ATTENTION: usize = 7;
const TRAIN_MLP: usize = 8;
const LOGITS: usize = 9;
const KV_CACHE: usize = 10;
const GRAPH_INPUT: usize = 11;
const GRAPH_ATTENTION: usize = 12;
const GRAPH_MLP: usize = 13;
const GRAPH_FREE: usize = 14;
const GRAPH_OUTPUT: usize = 15;
const PROMPT: usize = 16;
const PREFILL: usize = 17;
const SAMPLING: usize = 18;
const SERVE_FREE: usize = 19;

const EVALUATE: &str = "/home/user/gpt/evaluate.py";
const TRAIN: &str = "/home/user/gpt/train.py";
const MODEL: &str = "/home/user/gpt/model.py";
const SERVE: &str = "/home/user/gpt/serve.py";
const TORCH_MODULE: &str = "/usr/lib/python3/site-packages/torch/nn/modules/module.py";
const TORCH_LINEAR: &str = "/usr/lib/python3/site-packages/torch/nn/modules/linear.py";
const TORCH_GRAPHS: &str = "/usr/lib/python3/site-packages/torch/cuda/graphs.py";
const TORCH_FUNCTIONAL: &str = "/usr/lib/python3/site-packages/torch/nn/functional.py";

/// Returns the index of an operator in [`super::stacks`], whether it frees, and the Python frames, innermost first.
pub(super) fn site_frames(number: usize) -> (usize, bool, Vec<Frame>) {
    let evaluate = [(EVALUATE, "evaluate", 38), (TRAIN, "main", 84), (TRAIN, "<module>", 99)];
    let train = [(TRAIN, "train_step", 60), (TRAIN, "main", 90), (TRAIN, "<module>", 99)];
    let capture =
        [(TORCH_GRAPHS, "__enter__", 174), (SERVE, "capture", 58), (SERVE, "start", 71), (SERVE, "<module>", 120)];
    let request = [(SERVE, "generate", 96), (SERVE, "handle", 110), (SERVE, "<module>", 122)];
    let linear = [(TORCH_LINEAR, "forward", 125), (TORCH_MODULE, "_call_impl", 1762)];
    let inside = |line| [(MODEL, "forward", line), (TORCH_MODULE, "_call_impl", 1762), (MODEL, "forward", 126)];
    let attention = [(MODEL, "scaled_dot_product_attention", 55)];
    let (operator, frees, frames) = match number {
        BATCH => (7, false, [&[(EVALUATE, "next_batch", 17)][..], &evaluate].concat()),
        HIDDEN => (0, false, [&linear[..], &inside(71), &evaluate].concat()),
        ATTENTION => (4, false, [&attention[..], &inside(71), &evaluate].concat()),
        MLP => (3, false, [&linear[..], &inside(88), &evaluate].concat()),
        MODEL_FREE => (0, true, [&inside(88)[..], &evaluate].concat()),
        FEATURES => (6, false, [&[(EVALUATE, "keep_features", 44)][..], &evaluate].concat()),
        EVALUATE_FREE => (0, true, evaluate.to_vec()),
        TRAIN_ATTENTION => (4, false, [&attention[..], &inside(71), &train].concat()),
        TRAIN_MLP => (3, false, [&linear[..], &inside(88), &train].concat()),
        LOGITS => (0, false, [&[(TORCH_FUNCTIONAL, "cross_entropy", 3494), (MODEL, "loss", 140)][..], &train].concat()),
        KV_CACHE => (8, false, vec![(SERVE, "make_cache", 33), (SERVE, "start", 66), (SERVE, "<module>", 120)]),
        GRAPH_INPUT => (8, false, [&[(SERVE, "static_input", 49)][..], &capture].concat()),
        GRAPH_ATTENTION => (4, false, [&attention[..], &inside(71), &capture].concat()),
        GRAPH_MLP => (3, false, [&linear[..], &inside(88), &capture].concat()),
        GRAPH_FREE => (0, true, [&inside(88)[..], &capture].concat()),
        GRAPH_OUTPUT => (0, false, [&[(MODEL, "lm_head", 133)][..], &capture].concat()),
        PROMPT => (7, false, [&[(SERVE, "tokenize", 88)][..], &request].concat()),
        PREFILL => (0, false, [&[(MODEL, "lm_head", 133)][..], &request].concat()),
        SAMPLING => (4, false, [&[(SERVE, "sample", 80)][..], &request].concat()),
        _ => (0, true, request.to_vec()),
    };
    let frame = |(filename, name, line)| Frame { name, filename, line };
    (operator, frees, frames.into_iter().map(frame).collect())
}
