//! Which renderer draws: what the page's address asks for, and whether an adapter is a processor that plays GPU.

/// Adapters that run on the processor, as single words of what drivers and browsers call them.
const SOFTWARE: [&str; 6] = ["swiftshader", "llvmpipe", "lavapipe", "softpipe", "warp", "basic"];

/// Which renderer the page's address asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// None: the faster one.
    Faster,
    /// `?renderer=webgpu`: WebGPU wherever there is any, also in software.
    WebGpu,
    /// `?renderer=cpu`: the CPU twin.
    Cpu,
}

impl Wanted {
    /// What this query asks for.
    pub fn of_query(query: &str) -> Wanted {
        let mut pairs = query.strip_prefix('?').unwrap_or(query).split('&');
        match pairs.find_map(|pair| pair.strip_prefix("renderer=")) {
            Some("webgpu") => Wanted::WebGpu,
            Some("cpu") => Wanted::Cpu,
            _ => Wanted::Faster,
        }
    }
}

/// Whether an adapter of this name is software: the CPU twin draws the same picture sooner than a processor that plays GPU.
pub fn is_software(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|sign: char| !sign.is_ascii_alphanumeric()).any(|word| SOFTWARE.contains(&word))
}

#[cfg(test)]
#[path = "../../tests/units/ui/renderer.rs"]
mod tests;
