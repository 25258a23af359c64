//! The face without a browser: state, actions, view models, keys.
