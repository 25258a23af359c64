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
fn binary_without_debug_information_is_native() {
    let native = [
        "libc.so.6",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
        "/usr/lib/libpython3.11.so.1.0",
        "/usr/lib/libpython3.11.so.1.0 (deleted)",
        "/opt/conda/lib/libpython3.13t.so.1.0",
        "/usr/local/cuda/lib64/libcudart.so.12",
        "ld-linux-x86-64.so.2",
        "linux-vdso.so.1",
        "[vdso]",
        "/venv/lib/python3.11/site-packages/torch/lib/libc10_cuda.so",
        "/venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2",
        "/work/kernels/build/fused.cpython-311-x86_64-linux-gnu.so",
        "/usr/bin/python3.11",
        "/opt/conda/bin/python",
        "/opt/conda/envs/a/bin/python3",
        "/usr/bin/python3.13t",
        "/usr/bin/python3.12d",
        "python3.11",
        r"C:\Python311\python.exe",
        r"D:\venv\torch\lib\torch_cuda.dll",
        r"D:\work\fused.cp311-win_amd64.pyd",
        "/usr/lib/libSystem.B.dylib",
        "/work/csrc/kernel.cu",
        "/work/csrc/kernel.cxx",
        "/usr/include/c++/11/bits/std_function.hh",
    ];
    for file in native {
        assert_eq!(origin(file), Origin::Native, "{file}");
    }
    let own = [
        "/work/python3.11/train.py",
        "/work/bin/python_tools.py",
        "/work/lib.so.d/train.py",
        "/work/libs.so.py",
        "/home/a/python",
        "<eval_with_key>.12",
        "<stdin>",
        "Cell In[3]",
    ];
    for file in own {
        assert_eq!(origin(file), Origin::User, "{file}");
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
