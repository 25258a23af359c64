//! Choice of the renderer: parses the request in the page's address, and detects software rendering.

/// Words in the name of a GPU adapter that identify software rendering.
const SOFTWARE: [&str; 6] = ["swiftshader", "llvmpipe", "lavapipe", "softpipe", "warp", "basic"];

/// Renderer requested by the page's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedRenderer {
    /// No renderer is requested. The fastest one is used.
    Fastest,
    /// `?renderer=webgpu`: WebGPU if available, even if it is rendered in software.
    WebGpu,
    /// `?renderer=cpu`: the CPU renderer.
    Cpu,
}

impl RequestedRenderer {
    /// Parses the renderer from a query string.
    pub fn from_query(query: &str) -> RequestedRenderer {
        let mut pairs = query.strip_prefix('?').unwrap_or(query).split('&');
        match pairs.find_map(|pair| pair.strip_prefix("renderer=")) {
            Some("webgpu") => RequestedRenderer::WebGpu,
            Some("cpu") => RequestedRenderer::Cpu,
            _ => RequestedRenderer::Fastest,
        }
    }
}

/// Returns whether a GPU adapter is emulated in software, judging by its name. The CPU renderer is then preferred,
/// because it draws the same picture faster.
pub fn is_software(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SOFTWARE.contains(&word))
}

#[cfg(test)]
#[path = "../../../tests/units/ui/renderer.rs"]
mod tests;
