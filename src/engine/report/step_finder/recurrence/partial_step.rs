//! Test for a step that the end of the trace cuts off.

/// Returns true if the last step has fewer than seven eighths of the allocations of every other step, or more than
/// twice as many. Then it is probably cut off by the end of the trace or includes code after the loop. Three quarters
/// are enough if it `ends_with_optimizer`: what the loop allocates before the stack that starts the steps belongs to
/// the step before, so the last step lacks it. The first step may have many one-time allocations, so the second of two
/// steps needs only half as many. `step_lengths` are the numbers of allocations of the steps.
pub(super) fn is_last_partial(step_lengths: &[u32], ends_with_optimizer: bool) -> bool {
    if let Some((&last, others)) = step_lengths.split_last()
        && let (Some(&min), Some(&max)) = (others.iter().min(), others.iter().max())
    {
        let eighths = match others.len() {
            1 => 4,
            _ if ends_with_optimizer => 6,
            _ => 7,
        };
        return u64::from(last) * 8 < u64::from(min) * eighths || last > max.saturating_mul(2);
    }
    false
}
