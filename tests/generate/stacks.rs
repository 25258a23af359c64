//! Stacks as captured by PyTorch: C++ frames of allocator and operator, then Python frames, innermost first.

use super::programs;
use std::collections::HashMap;
use std::rc::Rc;

/// A frame. C++ frames have the file `??` and line 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) name: &'static str,
    pub(crate) filename: &'static str,
    pub(crate) line: u64,
}

/// A place in the generated program that allocates, frees, or takes a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Site {
    /// Parameter `part` of a layer is created.
    Parameter { layer: u64, part: usize },
    /// An operator runs in the forward pass.
    Forward { layer: u64, module: Module, operator: usize },
    /// Attention saves its scores.
    Scores { layer: u64 },
    /// Scratch memory of a forward operator is freed.
    ForwardFree { layer: u64, module: Module },
    /// The next batch is copied to the device.
    Batch,
    /// The loss over the vocabulary.
    Loss,
    /// An operator runs in the backward pass.
    Backward { operator: usize },
    /// The backward pass frees what the forward pass saved.
    BackwardFree,
    /// Optimizer state is created in the first step.
    OptimizerState { part: usize },
    /// Scratch memory of the optimizer.
    Optimizer { part: usize },
    /// Gradients are freed.
    ZeroGrad,
    /// A tensor is added to a list that is never cleared.
    Leak,
    /// The program empties the cache.
    EmptyCache,
    /// The program takes a snapshot.
    Snapshot,
    /// A place in a program of [`stories`].
    Story(usize),
    /// A batch is copied to pinned host memory.
    Pin,
    /// The pinned batch is freed.
    Unpin,
}

/// A submodule of a transformer layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Module {
    Attention,
    Projection,
    Norm,
    Mlp,
    Dropout,
}

impl Module {
    /// Returns its name within the layer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Module::Attention => "attention",
            Module::Projection => "projection",
            Module::Norm => "norm",
            Module::Mlp => "mlp",
            Module::Dropout => "dropout",
        }
    }

    /// Returns the class of its `forward`.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Module::Attention => "CausalSelfAttention",
            Module::Projection | Module::Mlp => "Linear",
            Module::Norm => "LayerNorm",
            Module::Dropout => "Dropout",
        }
    }

    /// Returns the frame of its `forward` at the operator call.
    pub(crate) fn forward(self) -> Frame {
        match self {
            Module::Attention => python("forward", MODEL, 66),
            Module::Projection | Module::Mlp => python("forward", TORCH_LINEAR, 125),
            Module::Norm => python("forward", TORCH_NORM, 217),
            Module::Dropout => python("forward", TORCH_DROPOUT, 70),
        }
    }

    /// Returns the frame of its call in the layer's `forward`.
    pub(crate) fn call(self) -> Frame {
        let line = match self {
            Module::Norm => 71,
            Module::Attention => 72,
            Module::Projection => 73,
            Module::Mlp => 75,
            Module::Dropout => 76,
        };
        python("forward", MODEL, line)
    }
}

/// Returns the frame of a layer's call in the model's `forward`. The calls have a line each: `x = self.h3(x)`.
pub(crate) fn call_of_layer(layer: u64) -> Frame {
    python("forward", MODEL, 150 + layer)
}

/// Returns the frame of the model's call.
pub(crate) fn call_of_model() -> Frame {
    python("train_step", TRAIN, 59)
}

/// Returns the frame of the loss's call.
pub(crate) fn call_of_loss() -> Frame {
    python("train_step", TRAIN, 60)
}

/// All submodules in execution order.
pub(crate) const MODULES: [Module; 5] =
    [Module::Norm, Module::Attention, Module::Projection, Module::Mlp, Module::Dropout];

/// Frames and stacks of all sites so far.
pub(crate) struct Stacks {
    pub(crate) frames: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
    sites: HashMap<Site, Rc<[u32]>>,
    depth: usize,
}

impl Stacks {
    /// Creates stacks of at least `depth` frames.
    pub(crate) fn new(depth: usize) -> Stacks {
        Stacks { frames: Vec::new(), numbers: HashMap::new(), sites: HashMap::new(), depth }
    }

    /// Returns the stack of a site as frame numbers.
    pub(crate) fn stack_of(&mut self, site: Site) -> Rc<[u32]> {
        if let Some(stack) = self.sites.get(&site) {
            return Rc::clone(stack);
        }
        let (native, python) = frames(site);
        let padding = self.depth.saturating_sub(native.len() + python.len());
        let padding = INTERPRETER.iter().cycle().take(padding).map(|name| cpp(name));
        let stack: Vec<Frame> = native.into_iter().map(cpp).chain(padding).chain(python).collect();
        let stack: Rc<[u32]> = stack.into_iter().map(|frame| self.frame_number(frame)).collect();
        self.sites.insert(site, Rc::clone(&stack));
        stack
    }

    fn frame_number(&mut self, frame: Frame) -> u32 {
        let frames = &mut self.frames;
        *self.numbers.entry(frame).or_insert_with(|| {
            frames.push(frame);
            frames.len() as u32 - 1
        })
    }
}

const ALLOCATE: [&str; 4] = [
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, signed char, unsigned long, CUstream_st*)",
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)",
    "at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet, c10::ScalarType)",
    "at::native::empty_cuda(c10::ArrayRef<long>, std::optional<c10::ScalarType>, std::optional<c10::Device>)",
];
const RELEASE: [&str; 4] = [
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::free(void*)",
    "c10::StorageImpl::~StorageImpl()",
    "c10::TensorImpl::~TensorImpl()",
    "THPVariable_dealloc(_object*)",
];
const PIN: [&str; 3] = [
    "at::CachingHostAllocatorImpl<at::cuda::CUDAStream, c10::cuda::EventPool::Event>::allocate(unsigned long)",
    "at::native::_pin_memory_cuda(at::Tensor const&, std::optional<c10::Device>)",
    "at::_ops::_pin_memory::call(at::Tensor const&, std::optional<c10::Device>)",
];
const OPERATORS: [&str; 9] = [
    "at::_ops::addmm::call(at::Tensor const&, at::Tensor const&, at::Tensor const&, c10::Scalar const&)",
    "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)",
    "at::_ops::native_layer_norm::call(at::Tensor const&, c10::ArrayRef<c10::SymInt>)",
    "at::_ops::gelu::call(at::Tensor const&, std::string_view)",
    "at::_ops::_softmax::call(at::Tensor const&, long, bool)",
    "at::_ops::native_dropout::call(at::Tensor const&, double, std::optional<bool>)",
    "at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)",
    "at::_ops::bmm::call(at::Tensor const&, at::Tensor const&)",
    "at::_ops::zeros_like::call(at::Tensor const&, std::optional<c10::ScalarType>)",
];
const BACKWARD: [&str; 4] = [
    "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)",
    "torch::autograd::Node::operator()(std::vector<at::Tensor>&&)",
    "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, torch::autograd::Node*)",
    "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
];
const INTERPRETER: [&str; 4] =
    ["_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall", "PyObject_Call", "method_vectorcall"];

const TRAIN: &str = "/home/user/gpt/train.py";
const MODEL: &str = "/home/user/gpt/model.py";
const TORCH_MODULE: &str = "/usr/lib/python3/site-packages/torch/nn/modules/module.py";
const TORCH_LINEAR: &str = "/usr/lib/python3/site-packages/torch/nn/modules/linear.py";
const TORCH_NORM: &str = "/usr/lib/python3/site-packages/torch/nn/modules/normalization.py";
const TORCH_DROPOUT: &str = "/usr/lib/python3/site-packages/torch/nn/modules/dropout.py";
const TORCH_ADAM: &str = "/usr/lib/python3/site-packages/torch/optim/adamw.py";
const TORCH_OPTIMIZER: &str = "/usr/lib/python3/site-packages/torch/optim/optimizer.py";
const TORCH_TENSOR: &str = "/usr/lib/python3/site-packages/torch/_tensor.py";
const TORCH_GRAPH: &str = "/usr/lib/python3/site-packages/torch/autograd/graph.py";
const TORCH_PIN: &str = "/usr/lib/python3/site-packages/torch/utils/data/_utils/pin_memory.py";
const TORCH_MEMORY: &str = "/usr/lib/python3/site-packages/torch/cuda/memory.py";

fn cpp(name: &'static str) -> Frame {
    python(name, "??", 0)
}

fn python(name: &'static str, filename: &'static str, line: u64) -> Frame {
    Frame { name, filename, line }
}

/// Returns C++ frame names and Python frames of a site.
fn frames(site: Site) -> (Vec<&'static str>, Vec<Frame>) {
    let operator = |number: usize| [&ALLOCATE[..], &[OPERATORS[number % OPERATORS.len()]]].concat();
    match site {
        Site::Parameter { layer, part } => (
            ALLOCATE.to_vec(),
            vec![
                python("__init__", TORCH_LINEAR, 106),
                python("__init__", MODEL, [22, 23, 41, 42, 88][part % 5]),
                python("__init__", MODEL, if layer == 0 { 112 } else { 114 }),
                python("build", TRAIN, 31),
                python("<module>", TRAIN, 96),
            ],
        ),
        Site::Forward { layer, module, operator: number } => (operator(number), forward(layer, module)),
        Site::Scores { layer } => {
            let scores = vec![python("attention_scores", MODEL, 48)];
            (operator(5), [scores, forward(layer, Module::Attention)].concat())
        }
        Site::ForwardFree { layer, module } => (RELEASE.to_vec(), forward(layer, module)),
        Site::Batch => (ALLOCATE.to_vec(), step(vec![python("next_batch", TRAIN, 44)], 58)),
        Site::Loss => {
            let inner = [&[python("cross_entropy", MODEL, 140)][..], &call(python("forward", MODEL, 133))];
            (operator(4), step(inner.concat(), call_of_loss().line))
        }
        Site::Backward { operator: number } => ([&operator(number)[..], &BACKWARD].concat(), backward()),
        Site::BackwardFree => ([&RELEASE[..3], &BACKWARD].concat(), backward()),
        Site::OptimizerState { part } => {
            let line = [175, 179][part % 2];
            (operator(8), step(optimizer(vec![python("_init_group", TORCH_ADAM, line)]), 64))
        }
        Site::Optimizer { part } => {
            let line = [655, 671, 690][part % 3];
            (operator(6), step(optimizer(vec![python("_multi_tensor_adamw", TORCH_ADAM, line)]), 64))
        }
        Site::ZeroGrad => (RELEASE.to_vec(), step(vec![python("zero_grad", TORCH_OPTIMIZER, 1036)], 66)),
        Site::Leak => (operator(6), step(vec![python("log_metrics", TRAIN, 71)], 67)),
        Site::EmptyCache => (RELEASE[..1].to_vec(), step(vec![python("empty_cache", TORCH_MEMORY, 224)], 68)),
        Site::Snapshot => (Vec::new(), step(vec![python("_snapshot", TORCH_MEMORY, 971)], 69)),
        Site::Story(number) => match programs::site_frames(number) {
            (_, true, python) => (RELEASE.to_vec(), python),
            (number, false, python) => (operator(number), python),
        },
        Site::Pin => (PIN.to_vec(), step(vec![python("pin_memory", TORCH_PIN, 98)], 57)),
        Site::Unpin => (PIN[..1].to_vec(), step(Vec::new(), 70)),
    }
}

fn step(mut inner: Vec<Frame>, line: u64) -> Vec<Frame> {
    inner.extend([python("train_step", TRAIN, line), python("main", TRAIN, 90), python("<module>", TRAIN, 99)]);
    inner
}

fn call(forward: Frame) -> [Frame; 3] {
    [forward, python("_call_impl", TORCH_MODULE, 1762), python("_wrapped_call_impl", TORCH_MODULE, 1751)]
}

fn forward(layer: u64, module: Module) -> Vec<Frame> {
    let operator = match module {
        Module::Attention => vec![python("scaled_dot_product_attention", MODEL, 55)],
        _ => Vec::new(),
    };
    let modules = [module.forward(), module.call(), call_of_layer(layer)].map(call);
    step([operator, modules.concat()].concat(), call_of_model().line)
}

fn backward() -> Vec<Frame> {
    step(vec![python("_engine_run_backward", TORCH_GRAPH, 824), python("backward", TORCH_TENSOR, 648)], 62)
}

fn optimizer(mut inner: Vec<Frame>) -> Vec<Frame> {
    inner.extend([python("step", TORCH_ADAM, 243), python("wrapper", TORCH_OPTIMIZER, 493)]);
    inner
}
