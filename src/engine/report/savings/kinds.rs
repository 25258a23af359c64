//! Changes that may lower the peak. Each has a set of allocations that it affects, advice, and caveats.

use crate::roles::Role;
use analysis::GroupEffect;
use history::replay::AllocationId;

/// A change to the program that may lower the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavingKind {
    Activations,
    /// Without a backward pass in the trace: activations that stay live until the last allocation of the forward pass.
    KeptActivations,
    Loss,
    Temporaries,
    /// Scores of attention and their softmax, which fused attention does not store.
    AttentionScores,
    /// Stores keys and values in 8 bits instead of 16.
    EightBitKvCache,
    /// Stores optimizer state in 8 bits instead of 32.
    EightBitOptimizer,
    ShardedOptimizer,
    OffloadedOptimizer,
    /// Frees the gradients of a step before the forward pass of the next step.
    PreviousGradients,
    /// Frees gradients that stay live over the whole trace. They are counted as free from the start of each step to its
    /// backward pass.
    UnfreedGradients,
    /// Frees other memory of a step before the next step starts. Parameters, optimizer state, inputs and gradients are
    /// not included.
    HeldOver,
    AwaitingFree,
    /// Keeps gradients in the buckets of DistributedDataParallel instead of beside them.
    BucketViews,
}

/// All kinds of savings. The pass numbers their groups in this order.
pub(super) const KINDS: [SavingKind; 14] = [
    SavingKind::Activations,
    SavingKind::KeptActivations,
    SavingKind::Loss,
    SavingKind::Temporaries,
    SavingKind::AttentionScores,
    SavingKind::EightBitKvCache,
    SavingKind::EightBitOptimizer,
    SavingKind::ShardedOptimizer,
    SavingKind::OffloadedOptimizer,
    SavingKind::PreviousGradients,
    SavingKind::UnfreedGradients,
    SavingKind::HeldOver,
    SavingKind::AwaitingFree,
    SavingKind::BucketViews,
];

/// Search query for stacks that compute a loss or its gradient.
pub(super) const LOSS_QUERY: &str =
    "/cross_entropy|log_softmax|nll_loss|lm_head|LogSoftmaxBackward|NllLoss|CrossEntropy/i";

/// Search queries for stacks in attention, and for stacks that compute its scores or a softmax.
pub(super) const ATTENTION_QUERY: &str = "/attention|attn/i";
pub(super) const SOFTMAX_QUERY: &str = "/softmax|attention_scores|attention_probs|attn_weights|attn_probs/i";

/// Search query for stacks in activation checkpointing: of PyTorch, DeepSpeed, Megatron, fairscale and others.
pub(super) const CHECKPOINT_QUERY: &str = r"/utils.checkpoint\.py|activation_checkpointing.checkpointing\.py|nn.checkpoint.checkpoint_activations|CheckpointFunction|recompute_fn|tensor_parallel.random\.py/i";

/// Search query for stacks that allocate the buckets of DistributedDataParallel.
pub(super) const BUCKET_QUERY: &str = "/c10d::Reducer|_ddp_init_helper/";

/// Advice on gradients that are live in the forward pass of the next step.
pub(in crate::report) const STALE_GRADIENTS_FIX: &str =
    "Call optimizer.zero_grad(set_to_none=True) before the forward pass, or right after optimizer.step().";

/// Number of GPUs that share the optimizer state in the example.
pub(super) const EXAMPLE_SHARDS: u64 = 8;

/// Effect of a change on the peak.
pub(super) struct Saving {
    pub(super) kind: SavingKind,
    pub(super) effect: GroupEffect,
    pub(super) saved_bytes: u64,
    /// Bytes at the peak that the change affects. `top_sites` has the call sites with most of these bytes: group,
    /// bytes, and largest allocation.
    pub(super) concerned_bytes: u64,
    pub(super) top_sites: Vec<(u32, u64, AllocationId)>,
    pub(super) confidence: &'static str,
}

/// Texts that describe a change in its statement and its table row.
pub(super) struct Texts {
    /// Subject of the statement: the memory that the change affects.
    pub(super) subject: &'static str,
    /// Condition that introduces the new peak, such as `Without them` in `Without them, the peak is 4.10 GiB`.
    pub(super) condition: &'static str,
    /// Label of the change in the table.
    pub(super) label: &'static str,
    pub(super) fix: &'static str,
    pub(super) caveat: &'static str,
}

impl SavingKind {
    pub(super) fn texts(self) -> Texts {
        let [subject, condition, label, fix, caveat] = match self {
            SavingKind::Activations => [
                "Activations",
                "Without them",
                "activation checkpointing, at most",
                "Checkpoint the blocks that allocate them (torch.utils.checkpoint).",
                "Checkpointing saves less than all of it: the input of each block stays, one block at a time is computed again, and a step \
                 takes about a third longer.",
            ],
            SavingKind::Loss => [
                "Logits, loss and their gradients",
                "Without them",
                "loss in chunks or fused, at most",
                "Compute the loss in chunks of the sequence, or use a fused linear cross-entropy, so that the logits never exist as a whole.",
                "Found by the names of functions. One chunk at a time stays live.",
            ],
            SavingKind::Temporaries => [
                "Temporaries",
                "Without them",
                "temporaries in chunks or fused, at most",
                "Split the largest operation into chunks, fuse it (torch.compile), or free its inputs before it runs.",
                "A part of each temporary stays live, and kernels may need their whole workspace.",
            ],
            SavingKind::KeptActivations => [
                "Activations kept without a backward pass in the trace",
                "Without them",
                "activations not kept for a backward pass, at most",
                "For inference, run the program under torch.inference_mode() or torch.no_grad(), so that each is freed after its last use.",
                "Outputs that the program uses stay.",
            ],
            SavingKind::AttentionScores => [
                "Attention scores",
                "Without them",
                "fused attention, at most",
                "Use fused attention, which does not store them: torch.nn.functional.scaled_dot_product_attention or FlashAttention.",
                "Found by the names of functions. Attention weights that the program returns stay.",
            ],
            SavingKind::EightBitKvCache => [
                "KV cache",
                "In 8 bits",
                "KV cache in 8 bits",
                "Store it in 8 bits (QuantizedCache in transformers, kv_cache_dtype=\"fp8\" in vLLM), or limit the number of tokens.",
                "Assumes 16-bit keys and values; scales take a few percent.",
            ],
            SavingKind::EightBitOptimizer => [
                "Optimizer state",
                "With 8-bit states",
                "8-bit optimizer state",
                "Use an 8-bit optimizer (bitsandbytes, torchao): the largest change for one line.",
                "Assumes 32-bit states; 8-bit optimizers keep small tensors at 32 bits and add scales of about 2 %.",
            ],
            SavingKind::ShardedOptimizer => [
                "Optimizer state",
                "Sharded over 8 devices",
                "optimizer state sharded over 8 devices",
                "Shard it over data-parallel ranks (ZeRO-1, FSDP).",
                "Needs data-parallel ranks, and may be sharded already.",
            ],
            SavingKind::OffloadedOptimizer => [
                "Optimizer state",
                "On the CPU",
                "optimizer state on the CPU",
                "Offload it to the CPU (torchao's CPUOffloadOptimizer, DeepSpeed ZeRO-Offload).",
                "The step then waits for copies over PCIe, and needs as much host memory.",
            ],
            SavingKind::PreviousGradients => [
                "Gradients of the last step",
                "Freed before the forward pass",
                "gradients of the last step freed before the forward pass",
                STALE_GRADIENTS_FIX,
                "They are freed before the next backward pass, so nothing accumulates in them.",
            ],
            SavingKind::UnfreedGradients => [
                "Gradients that are never freed",
                "Freed at the end of each step",
                "gradients set to None after each step",
                "Call optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0, right after optimizer.step().",
                "Not with gradient accumulation. The backward pass allocates them again, so a peak in the backward pass stays.",
            ],
            SavingKind::HeldOver => [
                "Held over from the step before",
                "Freed at the end of their step",
                "tensors of a step freed at its end",
                "Release them at the end of the step: del outputs and losses, and keep .item() or .detach() of what is logged.",
                "Not for what the next step uses: prefetched batches, recurrent state, outputs that overlap on purpose.",
            ],
            SavingKind::AwaitingFree => [
                "Awaiting free",
                "Freed when requested",
                "frees that do not wait for other streams",
                "Other streams still use these blocks (record_stream). Make the allocating stream wait for their event before the free, or let \
                 fewer copies run ahead.",
                "Waiting sooner can cost the overlap that the streams are for.",
            ],
            SavingKind::BucketViews => [
                "Gradients beside DDP's buckets",
                "As views of the buckets",
                "gradients as views of DDP's buckets",
                "Construct DistributedDataParallel with gradient_as_bucket_view=True.",
                "The first step still allocates them, and detach_() fails on such gradients.",
            ],
        };
        Texts { subject, condition, label, fix, caveat }
    }

    /// Returns a rank of what the change costs: nothing, another implementation, time, or precision and hardware.
    pub(super) fn cost(self) -> u64 {
        match self {
            SavingKind::KeptActivations
            | SavingKind::PreviousGradients
            | SavingKind::UnfreedGradients
            | SavingKind::HeldOver
            | SavingKind::BucketViews => 0,
            SavingKind::Loss | SavingKind::Temporaries | SavingKind::AttentionScores => 1,
            SavingKind::Activations | SavingKind::AwaitingFree => 2,
            SavingKind::EightBitKvCache
            | SavingKind::EightBitOptimizer
            | SavingKind::ShardedOptimizer
            | SavingKind::OffloadedOptimizer => 3,
        }
    }

    /// Returns how the effect is computed: recounted without the allocations, or planned with factors on their sizes.
    pub(super) fn source(self) -> &'static str {
        match self {
            SavingKind::EightBitKvCache | SavingKind::EightBitOptimizer | SavingKind::ShardedOptimizer => "planned",
            _ => "recounted",
        }
    }

    /// Returns the changes that save bytes of an allocation because of its role.
    pub(super) fn of_role(role: Role) -> &'static [SavingKind] {
        match role {
            Role::Activation => &[SavingKind::Activations],
            Role::Temporary => &[SavingKind::Temporaries],
            Role::KvCache => &[SavingKind::EightBitKvCache],
            Role::Optimizer => {
                &[SavingKind::EightBitOptimizer, SavingKind::ShardedOptimizer, SavingKind::OffloadedOptimizer]
            }
            _ => &[],
        }
    }

    /// Returns the bytes that the change saves for an allocation of `bytes` with this role. 0 if the change does not
    /// affect the allocation.
    pub(super) fn saved_bytes(self, role: Role, bytes: i64) -> i64 {
        let left = |by: u64| bytes - bytes.unsigned_abs().div_ceil(by).cast_signed();
        match self {
            _ if !SavingKind::of_role(role).contains(&self) => 0,
            SavingKind::EightBitKvCache => left(2),
            SavingKind::EightBitOptimizer => left(4),
            SavingKind::ShardedOptimizer => left(EXAMPLE_SHARDS),
            _ => bytes,
        }
    }
}
