//! Unit tests of `src/analysis/site.rs`.

use super::*;

#[test]
fn origin_is_derived_from_file_name() {
    let cases = [
        ("/workspace/train/train.py", Origin::User),
        ("train.py", Origin::User),
        ("/tmp/ipykernel_23/1.py", Origin::User),
        ("/opt/conda/lib/python3.11/site-packages/torch/nn/modules/linear.py", Origin::Library),
        ("/usr/lib/python3.12/threading.py", Origin::Library),
        ("<frozen importlib._bootstrap>", Origin::Library),
        ("/home/a/.venv/lib/python3.10/site-packages/transformers/trainer.py", Origin::Library),
        (r"D:\work\.venv\Lib\site-packages\torch\functional.py", Origin::Library),
        (r"C:\Python311\Lib\threading.py", Origin::Library),
        (r"D:\work\venv\site-packages\einops\_backends.py", Origin::Library),
        (r"D:\work\model.py", Origin::User),
        ("??", Origin::Native),
        ("", Origin::Native),
        ("/pytorch/aten/src/ATen/EmptyTensor.cpp", Origin::Native),
        ("thread48.o", Origin::Native),
        ("./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S", Origin::Native),
    ];
    for (file, expected) in cases {
        assert_eq!(origin(file), expected, "{file}");
    }
}

#[test]
fn native_names_of_operators_and_backward_nodes_are_recognized() {
    let backward = "torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)";
    assert_eq!(identify_native(backward), Some((Origin::Backward, "MulBackward0")));
    let node = "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)";
    assert_eq!(identify_native(node), Some((Origin::Backward, "AccumulateGrad")));
    assert_eq!(
        identify_native("at::_ops::mul_Tensor::call(at::Tensor const&)"),
        Some((Origin::Operator, "mul_Tensor"))
    );
    for other in
        ["torch::autograd::Engine::thread_main(int)", "torch::unwind::unwind()", "at::detail::empty_cuda()", ""]
    {
        assert_eq!(identify_native(other), None, "{other}");
    }
}
