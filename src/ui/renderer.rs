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
mod tests {
    use super::*;

    #[test]
    fn the_address_asks_for_a_renderer() {
        assert_eq!(Wanted::of_query("?renderer=webgpu"), Wanted::WebGpu);
        assert_eq!(Wanted::of_query("?url=a&renderer=cpu"), Wanted::Cpu);
        assert_eq!(Wanted::of_query("?renderer=abacus"), Wanted::Faster);
        assert_eq!(Wanted::of_query(""), Wanted::Faster);
    }

    #[test]
    fn software_adapters_are_known_by_name() {
        let software = [
            "google swiftshader",
            "llvmpipe (LLVM 19.1.7, 256 bits)",
            "microsoft warp",
            "Microsoft Basic Render Driver",
        ];
        assert!(software.into_iter().all(is_software));
        let hardware = ["nvidia ampere", "intel gen-12lp", "apple metal-3", "AMD Radeon RX 7900 XTX (RADV NAVI31)", ""];
        assert!(!hardware.into_iter().any(is_software));
    }
}
