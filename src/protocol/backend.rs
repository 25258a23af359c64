//! Kind of the devices of a snapshot, and the words for them.

use serde::{Deserialize, Serialize};

base::listed! {
    /// Kind of the devices of a snapshot, as PyTorch calls it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Backend {
        /// NVIDIA GPUs. Also the default for files that do not show their kind.
        #[default]
        Cuda = "cuda",
        /// AMD GPUs (ROCm).
        Hip = "hip",
        /// Ascend NPUs (torch_npu).
        Npu = "npu",
        /// Intel GPUs.
        Xpu = "xpu",
        /// Apple GPUs (Metal).
        Mps = "mps",
    }
}

/// Words for a kind of device.
struct Words {
    device: &'static str,
    module: &'static str,
    settings: &'static str,
    outside: &'static str,
    process_list: &'static str,
}

impl Backend {
    const fn words(self) -> Words {
        let [device, module, settings, outside, process_list] = match self {
            Backend::Cuda => ["GPU", "torch.cuda", "PYTORCH_CUDA_ALLOC_CONF", "CUDA context, NCCL", "nvidia-smi"],
            Backend::Hip => ["GPU", "torch.cuda", "PYTORCH_HIP_ALLOC_CONF", "HIP context, RCCL", "amd-smi"],
            Backend::Npu => ["NPU", "torch.npu", "PYTORCH_NPU_ALLOC_CONF", "NPU context, HCCL", "npu-smi"],
            Backend::Xpu => ["XPU", "torch.xpu", "PYTORCH_ALLOC_CONF", "XPU context, oneCCL", "xpu-smi"],
            Backend::Mps => ["GPU", "torch.mps", "PYTORCH_ALLOC_CONF", "Metal", "Activity Monitor"],
        };
        Words { device, module, settings, outside, process_list }
    }

    /// Returns the name of a device, such as `NPU`.
    pub const fn device(self) -> &'static str {
        self.words().device
    }

    /// Returns PyTorch's module for the devices, such as `torch.npu`.
    pub const fn module(self) -> &'static str {
        self.words().module
    }

    /// Returns the environment variable of the allocator's settings.
    pub const fn settings(self) -> &'static str {
        self.words().settings
    }

    /// Returns what uses device memory without the allocator, besides other processes.
    pub const fn outside(self) -> &'static str {
        self.words().outside
    }

    /// Returns the program that lists the processes on a device.
    pub const fn process_list(self) -> &'static str {
        self.words().process_list
    }

    /// Returns the name of a device with its ordinal, such as `NPU 0`. −1 is host memory.
    pub fn name_of(self, device: i64) -> String {
        if device < 0 { "Host (pinned)".to_owned() } else { [self.device(), " ", &device.to_string()].concat() }
    }
}
