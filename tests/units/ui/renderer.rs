//! Unit tests of `src/ui/text/renderer.rs`.

use super::*;

#[test]
fn renderer_is_chosen_by_url_parameter() {
    assert_eq!(RequestedRenderer::from_query("?renderer=webgpu"), RequestedRenderer::WebGpu);
    assert_eq!(RequestedRenderer::from_query("?url=a&renderer=cpu"), RequestedRenderer::Cpu);
    assert_eq!(RequestedRenderer::from_query("?renderer=abacus"), RequestedRenderer::Fastest);
    assert_eq!(RequestedRenderer::from_query(""), RequestedRenderer::Fastest);
}

#[test]
fn software_adapters_are_recognized_by_name() {
    let software =
        ["google swiftshader", "llvmpipe (LLVM 19.1.7, 256 bits)", "microsoft warp", "Microsoft Basic Render Driver"];
    assert!(software.into_iter().all(is_software));
    let hardware = ["nvidia ampere", "intel gen-12lp", "apple metal-3", "AMD Radeon RX 7900 XTX (RADV NAVI31)", ""];
    assert!(!hardware.into_iter().any(is_software));
}
