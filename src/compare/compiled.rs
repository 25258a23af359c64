//! Detection of compiled code. `torch.compile` generates new source files with every compilation, so the stacks and
//! lines of compiled and of other code do not match.

use engine::Side;
use history::replay::AllocationId;

/// Maximum number of allocations whose stack is examined.
const MAX_SAMPLES: usize = 512;
/// Part of the paths of files that `torch.compile` generates.
const GENERATED: &[u8] = b"torchinductor";
/// Divisor of the number of examined allocations. If compiled code made more of them than the quotient, the program is
/// compiled.
const MIN_PART: usize = 10;

/// Returns the name of the only side that runs compiled code, `A` or `B`. `None` if both do, or neither.
pub(crate) fn only_compiled(sides: [&Side; 2]) -> Option<&'static str> {
    match sides.map(is_compiled) {
        [true, false] => Some("A"),
        [false, true] => Some("B"),
        _ => None,
    }
}

fn is_compiled(side: &Side) -> bool {
    let (allocations, snapshot) = (&side.history.allocations, side.snapshot());
    let is_generated = |id: AllocationId| {
        snapshot.stacks.frames(side.stack(id)).any(|frame| {
            let path = snapshot.strings.bytes(snapshot.frames.frame(frame).filename);
            path.windows(GENERATED.len()).any(|part| part == GENERATED)
        })
    };
    let sampled = (0..allocations.len()).step_by(allocations.len() / MAX_SAMPLES + 1);
    let found = sampled.clone().filter(|&id| is_generated(AllocationId(id as u32))).count();
    found > 0 && found >= sampled.count() / MIN_PART
}
