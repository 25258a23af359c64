//! Kind of the devices of a snapshot, from its settings, frames and addresses.

use history::snapshot::{FrameId, Snapshot};
use protocol::Backend;

/// Maximum number of frames that are looked at. Frames of the framework occur in the first stacks.
const MAX_FRAMES: usize = 10_000;
/// Maximum number of bytes of a name that are looked at.
const MAX_LENGTH: usize = 1000;

/// Parts of the file names and C++ names of frames, and the kind of device that they show. CUDA's are in files of ROCm
/// as well, and in those of torch_npu, which replaces functions of `torch.cuda`.
const FRAMES: [(&[u8], Backend); 9] = [
    (b"torch_npu/", Backend::Npu),
    (b"c10_npu::", Backend::Npu),
    (b"c10::xpu::", Backend::Xpu),
    (b"at::xpu::", Backend::Xpu),
    (b"torch/xpu/", Backend::Xpu),
    (b"c10::hip::", Backend::Hip),
    (b"at::mps::", Backend::Mps),
    (b"torch/mps/", Backend::Mps),
    (b"mlx::core::", Backend::Mps),
];

/// Returns the kind of the devices of a snapshot: by the data of a recorder, by frames of the framework, by the name of
/// the setting, or by addresses that only XPUs have. Without any of these, the devices are assumed to be NVIDIA GPUs.
pub(crate) fn backend(snapshot: &Snapshot) -> Backend {
    if snapshot.recorder.fact("hip").is_some() {
        return Backend::Hip;
    }
    let has_setting = |name: &str| snapshot.settings.iter().any(|(key, _)| key == name);
    let of_setting = [Backend::Npu, Backend::Hip].into_iter().find(|backend| has_setting(backend.settings()));
    if let Some(backend) = of_setting.or_else(|| of_frames(snapshot)) {
        return backend;
    }
    let has_high_address = || snapshot.segments.iter().any(|it| it.address.is_some_and(|address| address >= 1 << 63));
    let is_xpu = has_setting(Backend::Xpu.settings()) || has_high_address();
    if is_xpu && !has_setting(Backend::Cuda.settings()) { Backend::Xpu } else { Backend::Cuda }
}

/// Returns the kind of device of the first frame that shows one.
fn of_frames(snapshot: &Snapshot) -> Option<Backend> {
    let count = snapshot.frames.len().min(MAX_FRAMES) as u32;
    (0..count).find_map(|index| {
        let frame = snapshot.frames.frame(FrameId(index));
        [frame.filename, frame.name].into_iter().find_map(|text| {
            let text = snapshot.strings.bytes(text);
            let text = text.get(..MAX_LENGTH).unwrap_or(text);
            let shown = FRAMES.iter().find(|(part, _)| text.windows(part.len()).any(|window| window == *part));
            shown.map(|&(_, backend)| backend)
        })
    })
}
