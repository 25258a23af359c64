//! The page's shell: DOM ↔ ui, canvas ↔ render, worker ↔ engine.
