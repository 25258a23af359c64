//! Names of memory pools.

use serde::{Deserialize, Serialize};

/// A memory pool and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolName {
    pub pool: (u64, u64),
    /// Display name, such as `MemPool (0, 2)` or `kv cache (MemPool (0, 2))`.
    pub name: String,
}

/// Returns the default name of a pool. PyTorch sets the first number of the id for pools of CUDA graph captures, and
/// the second one for pools created by the program (`torch.cuda.MemPool`, `graph_pool_handle`).
pub fn default_pool_name(pool: (u64, u64)) -> String {
    match pool {
        (0, 0) => "default pool".to_owned(),
        (graph, 0) => format!("graph-private pool ({graph}, 0)"),
        (0, own) => format!("MemPool (0, {own})"),
        (first, second) => format!("private pool ({first}, {second})"),
    }
}

/// Returns the name of a pool in `names`. If it has none, returns the default name.
pub fn pool_name(names: &[PoolName], pool: (u64, u64)) -> String {
    names.iter().find(|it| it.pool == pool).map_or_else(|| default_pool_name(pool), |it| it.name.clone())
}
