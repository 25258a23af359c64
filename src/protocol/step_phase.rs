//! Phases of training steps.

use serde::{Deserialize, Serialize};

base::listed! {
    /// Phase of a training step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum StepPhase {
        /// Forward pass, including the loss.
        Forward = "forward",
        Backward = "backward",
        /// Optimizer step.
        Optimizer = "optimizer",
    }
}
