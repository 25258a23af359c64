//! Categories that the built-in rule sets assign to stacks of common training and serving frameworks. Each stack is
//! written by hand from the cited source.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use memscape::analysis::category::compiled::{CompiledSet, FrameResult, StackResult};
use memscape::protocol::CategorySet;

/// Returns the category that a rule set assigns to a stack, innermost frame first.
fn category_of(set: &str, frames: &[(&str, &str)]) -> String {
    let compiled = CompiledSet::new(&CategorySet::built_in_by_name(set).unwrap());
    let mut stack = StackResult::default();
    for (name, file) in frames.iter().rev() {
        let mut frame = FrameResult::default();
        (0..compiled.patterns()).for_each(|pattern| compiled.match_pattern(pattern, name, file, &mut frame));
        stack = compiled.stack(frame, stack, FrameResult::default());
    }
    compiled.categories()[usize::from(compiled.category(stack.rule))].clone()
}

/// Returns the default set's category of a stack whose frames are written `function@file`, with files relative to a
/// package.
fn default_category(package: &str, frames: &[&str]) -> String {
    let package = format!("/usr/lib/python3/dist-packages/{package}");
    let split: Vec<(String, String)> = frames
        .iter()
        .map(|frame| match frame.split_once('@') {
            Some((name, file)) if file.starts_with('/') => (name.to_owned(), file.to_owned()),
            Some((name, file)) => (name.to_owned(), format!("{package}/{file}")),
            None => ((*frame).to_owned(), "??".to_owned()),
        })
        .collect();
    let frames: Vec<(&str, &str)> = split.iter().map(|(name, file)| (name.as_str(), file.as_str())).collect();
    category_of("default", &frames)
}

const TRAIN: &str = "main@/home/me/train.py";

#[test]
fn fsdp_stacks_have_expected_categories() {
    // pytorch: torch/distributed/fsdp/_flat_param.py, FlatParamHandle._alloc_padded_unsharded_flat_param, from unshard.
    let places_collected =
        ["_alloc_storage@distributed/utils.py", "_alloc_padded_unsharded_flat_param@distributed/fsdp/_flat_param.py"];
    let unshard = ["unshard@distributed/fsdp/_flat_param.py", "_pre_forward@distributed/fsdp/_runtime_utils.py"];
    let forward = ["forward@distributed/fsdp/fully_sharded_data_parallel.py", TRAIN];
    assert_eq!(default_category("torch", &[&places_collected[..], &unshard, &forward].concat()), "parameter");
    // torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py: foreach_all_gather;
    // _fsdp_param.py: FSDPParam.alloc_all_gather_outputs.
    let unshard = [
        "unshard@distributed/fsdp/_fully_shard/_fsdp_param_group.py",
        "_pre_forward@distributed/fsdp/_fully_shard/_fsdp_state.py",
    ];
    let gather = ["foreach_all_gather@distributed/fsdp/_fully_shard/_fsdp_collectives.py"];
    assert_eq!(default_category("torch", &[&gather[..], &unshard, &[TRAIN]].concat()), "network");
    let outputs = [
        "alloc_storage@distributed/fsdp/_fully_shard/_fsdp_param.py",
        "alloc_all_gather_outputs@distributed/fsdp/_fully_shard/_fsdp_param.py",
    ];
    assert_eq!(default_category("torch", &[&outputs[..], &unshard, &[TRAIN]].concat()), "parameter");
    // _fsdp_collectives.py: foreach_reduce, in the backward pass.
    let reduce = [
        "foreach_reduce@distributed/fsdp/_fully_shard/_fsdp_collectives.py",
        "post_backward@distributed/fsdp/_fully_shard/_fsdp_param_group.py",
    ];
    let backward = ["backward@autograd/function.py", "torch::autograd::Engine::evaluate_function(…)"];
    assert_eq!(default_category("torch", &[&reduce[..], &backward].concat()), "network");
}

#[test]
fn deepspeed_stacks_have_expected_categories() {
    // deepspeedai/DeepSpeed: deepspeed/runtime/zero/stage_1_and_2.py,
    // DeepSpeedZeroOptimizer.initialize_optimizer_states.
    let states =
        ["initialize_optimizer_states@runtime/zero/stage_1_and_2.py", "__init__@runtime/zero/stage_1_and_2.py"];
    assert_eq!(default_category("deepspeed", &[&states[..], &[TRAIN]].concat()), "optimizer state");
    // The same class's `__init__` creates the fp32 partitions.
    let master = ["__init__@runtime/zero/stage_1_and_2.py", "_configure_zero_optimizer@runtime/engine.py", TRAIN];
    assert_eq!(default_category("deepspeed", &master), "optimizer state");
    // `reduce_independent_p_g_buckets_and_remove_grads` allocates buckets for gradients.
    let bucket = [
        "reduce_independent_p_g_buckets_and_remove_grads@runtime/zero/stage_1_and_2.py",
        "torch::autograd::Engine::evaluate_function(…)",
    ];
    assert_eq!(default_category("deepspeed", &bucket), "gradient");
    // deepspeed/runtime/zero/partition_parameters.py: Init, _partition_param.
    let partition = [
        "_partition_param@runtime/zero/partition_parameters.py",
        "wrapper@runtime/zero/partition_parameters.py",
        TRAIN,
    ];
    assert_eq!(default_category("deepspeed", &partition), "parameter");
    // deepspeed/ops/adam/fused_adam.py: FusedAdam.step.
    assert_eq!(
        default_category("deepspeed", &["step@ops/adam/fused_adam.py", "step@runtime/engine.py", TRAIN]),
        "optimizer state"
    );
    // deepspeed/comm/comm.py: all_reduce.
    assert_eq!(
        default_category("deepspeed", &["all_reduce@comm/comm.py", "allreduce_bucket@runtime/engine.py", TRAIN]),
        "network"
    );
}

#[test]
fn megatron_stacks_have_expected_categories() {
    // NVIDIA/Megatron-LM: megatron/core/tensor_parallel/layers.py, _initialize_affine_weight_gpu from
    // ColumnParallelLinear.__init__.
    let weight = [
        "_initialize_affine_weight_gpu@core/tensor_parallel/layers.py",
        "__init__@core/tensor_parallel/layers.py",
        TRAIN,
    ];
    assert_eq!(default_category("megatron", &weight), "parameter");
    // megatron/core/distributed/param_and_grad_buffer.py: _ParamAndGradBuffer.__init__.
    let buffer = [
        "__init__@core/distributed/param_and_grad_buffer.py",
        "__init__@core/distributed/distributed_data_parallel.py",
        TRAIN,
    ];
    assert_eq!(default_category("megatron", &buffer), "gradient");
    // megatron/core/tensor_parallel/mappings.py: _gather_along_first_dim within an autograd function's forward.
    let gather = [
        "_gather_along_first_dim@core/tensor_parallel/mappings.py",
        "forward@core/tensor_parallel/mappings.py",
        "forward@core/transformer/mlp.py",
        TRAIN,
    ];
    assert_eq!(default_category("megatron", &gather), "network");
    // megatron/core/optimizer/distrib_optimizer.py: DistributedOptimizer.__init__.
    assert_eq!(
        default_category("megatron", &["__init__@core/optimizer/distrib_optimizer.py", TRAIN]),
        "optimizer state"
    );
    // megatron/core/optimizer/clip_grads.py: get_grad_norm_fp32.
    assert_eq!(
        default_category(
            "megatron",
            &["get_grad_norm_fp32@core/optimizer/clip_grads.py", "step@core/optimizer/optimizer.py", TRAIN]
        ),
        "temporary"
    );
    // megatron/core/pipeline_parallel/schedules.py: forward_step, backward_step.
    assert_eq!(
        default_category(
            "megatron",
            &["forward@core/transformer/mlp.py", "forward_step@core/pipeline_parallel/schedules.py", TRAIN]
        ),
        "activation"
    );
    assert_eq!(
        default_category("megatron", &["backward_step@core/pipeline_parallel/schedules.py", TRAIN]),
        "temporary"
    );
}

#[test]
fn lightning_stacks_have_expected_categories() {
    // Lightning-AI/pytorch-lightning: src/lightning/fabric/utilities/apply_func.py, batch_to in move_data_to_device.
    let moved = [
        "batch_to@fabric/utilities/apply_func.py",
        "move_data_to_device@fabric/utilities/apply_func.py",
        "_apply_batch_transfer_handler@pytorch/core/module.py",
    ];
    assert_eq!(default_category("lightning", &[&moved[..], &[TRAIN]].concat()), "input");
    // Lightning passes optimizers a closure that runs the training step. Its allocations are not optimizer state.
    let step = [
        "wrapper@/venv/site-packages/torch/optim/optimizer.py",
        "optimizer_step@pytorch/core/module.py",
        "_optimizer_step@pytorch/loops/optimization/automatic.py",
    ];
    let closure = [
        "forward@/venv/site-packages/torch/nn/modules/linear.py",
        "training_step@/home/me/model.py",
        "closure@pytorch/loops/optimization/automatic.py",
    ];
    assert_eq!(default_category("lightning", &[&closure[..], &step, &[TRAIN]].concat()), "activation");
    let adam =
        ["_init_group@/venv/site-packages/torch/optim/adamw.py", "step@/venv/site-packages/torch/optim/adamw.py"];
    assert_eq!(default_category("lightning", &[&adam[..], &step, &[TRAIN]].concat()), "optimizer state");
}

#[test]
fn hugging_face_stacks_have_expected_categories() {
    // huggingface/transformers: src/transformers/trainer.py, Trainer._prepare_input, training_step, compute_loss.
    let step = ["training_step@trainer.py", "_inner_training_loop@trainer.py", "train@trainer.py", TRAIN];
    let inputs = ["_prepare_input@trainer.py", "<dictcomp>@trainer.py", "_prepare_inputs@trainer.py"];
    assert_eq!(default_category("transformers", &[&inputs[..], &step].concat()), "input");
    let forward = ["forward@models/llama/modeling_llama.py", "compute_loss@trainer.py"];
    assert_eq!(default_category("transformers", &[&forward[..], &step].concat()), "activation");
    // Recomputed in the backward pass, it is still an activation (torch/utils/checkpoint.py, recompute_fn).
    let backward = [
        "recompute_fn@/venv/torch/utils/checkpoint.py",
        "backward@/venv/torch/_tensor.py",
        "backward@/venv/accelerate/accelerator.py",
    ];
    assert_eq!(default_category("transformers", &[&forward[..1], &backward, &step].concat()), "activation");
    // accelerate: src/accelerate/utils/operations.py, send_to_device; utils/modeling.py, set_module_tensor_to_device.
    assert_eq!(
        default_category("accelerate", &["send_to_device@utils/operations.py", "__iter__@data_loader.py", TRAIN]),
        "input"
    );
    assert_eq!(default_category("accelerate", &["set_module_tensor_to_device@utils/modeling.py", TRAIN]), "parameter");
    // src/transformers/modeling_utils.py: from_pretrained, _load_state_dict_into_meta_model.
    let load = ["_load_state_dict_into_meta_model@modeling_utils.py", "from_pretrained@modeling_utils.py", TRAIN];
    assert_eq!(default_category("transformers", &load), "parameter");
    // src/transformers/cache_utils.py: DynamicCache.update, from an attention's forward.
    let cache =
        ["update@cache_utils.py", "forward@models/llama/modeling_llama.py", "generate@generation/utils.py", TRAIN];
    assert_eq!(default_category("transformers", &cache), "KV cache");
}

#[test]
fn vllm_stacks_have_expected_categories() {
    // vllm-project/vllm: vllm/v1/worker/gpu_model_runner.py, GPUModelRunner._allocate_kv_cache_tensors.
    let cache = [
        "_allocate_kv_cache_tensors@v1/worker/gpu_model_runner.py",
        "initialize_kv_cache@v1/worker/gpu_model_runner.py",
        "initialize_from_config@v1/worker/gpu_worker.py",
    ];
    assert_eq!(default_category("vllm", &cache), "KV cache");
    // vllm/model_executor/layers/linear.py: UnquantizedLinearMethod.create_weights.
    let weights = [
        "create_weights@model_executor/layers/linear.py",
        "__init__@model_executor/layers/linear.py",
        "load_model@v1/worker/gpu_model_runner.py",
    ];
    assert_eq!(default_category("vllm", &weights), "parameter");
    // `execute_model` runs the model's forward.
    let forward = ["forward@model_executor/models/llama.py", "execute_model@v1/worker/gpu_model_runner.py"];
    assert_eq!(default_category("vllm", &forward), "activation");
    let reduce =
        ["all_reduce@distributed/device_communicators/cuda_communicator.py", "forward@model_executor/layers/linear.py"];
    assert_eq!(default_category("vllm", &[&reduce[..], &forward].concat()), "network");
}

#[test]
fn plain_torch_stacks_have_expected_categories() {
    let engine = ["torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"];
    assert_eq!(
        default_category(
            "torch",
            &[&["torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"], &engine[..]].concat()
        ),
        "gradient"
    );
    assert_eq!(
        default_category("torch", &[&["torch::autograd::generated::MulBackward0::apply(…)"], &engine[..]].concat()),
        "temporary"
    );
    assert_eq!(
        default_category("torch", &["convert@nn/modules/module.py", "_apply@nn/modules/module.py", TRAIN]),
        "parameter"
    );
    assert_eq!(
        default_category("torch", &["_multi_tensor_adam@optim/adam.py", "step@optim/adam.py", TRAIN]),
        "temporary"
    );
    for function in ["_multi_tensor_sgd", "_single_tensor_sgd", "_fused_sgd"] {
        let stack = [&[function, "@optim/sgd.py"].concat(), "step@optim/sgd.py", TRAIN];
        assert_eq!(default_category("torch", &stack), "optimizer state");
    }
    assert_eq!(default_category("torch", &["zeros_like@/home/me/tools.py", TRAIN]), "unknown");
}

#[test]
fn mosaic_rules_match_innermost_frame_but_fsdp_takes_precedence() {
    let mosaic = |frames: &[(&str, &str)]| category_of("mosaic", frames);
    assert_eq!(mosaic(&[("backward", "a.py"), ("forward", "b.py")]), "BACKWARD", "the inner frame counts");
    assert_eq!(
        mosaic(&[("f", "a.py"), ("forward_backward", "b.py")]),
        "ACTIVATION",
        "the first of the rules counts in a frame"
    );
    let fsdp = "/torch/distributed/fsdp/fully_sharded_data_parallel.py";
    assert_eq!(
        mosaic(&[("forward", "a.py"), ("forward", fsdp), ("main", "b.py")]),
        "FSDP",
        "FSDP comes before all other rules"
    );
    assert_eq!(mosaic(&[("x::_flash_attention_forward::call", "??")]), "ACTIVATION");
    assert_eq!(mosaic(&[("get_params", "a.py")]), "PARAMETER");
    assert_eq!(mosaic(&[("f", "/flatten_params_wrapper/a.py")]), "PARAMETER");
    assert_eq!(mosaic(&[("build_norm_fn_2", "a.py")]), "PARAMETER");
    assert_eq!(mosaic(&[("__init__", "/megatron/parallel/layers.py")]), "PARAMETER");
    assert_eq!(
        mosaic(&[("__init__", "layers.py"), ("f", "parallel/layers.py")]),
        "UNKNOWN",
        "function and file must match in the same frame"
    );
    assert_eq!(mosaic(&[("clip_grad_norm_", "a.py")]), "BACKWARD");
    assert_eq!(mosaic(&[("my_clip_grad_norm_", "a.py")]), "UNKNOWN", "the whole name");
    assert_eq!(mosaic(&[("_init_group", "a.py")]), "OPTIMIZER");
    assert_eq!(mosaic(&[("dist_sum", "a.py")]), "NET");
    assert_eq!(mosaic(&[("_validate_process_group", "a.py")]), "NET_SETUP");
    assert_eq!(mosaic(&[("compute_grad_stats", "a.py")]), "STATS");
    assert_eq!(mosaic(&[]), "UNKNOWN");
}
