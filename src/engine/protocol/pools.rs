//! What memory pools are called.

use serde::{Deserialize, Serialize};

/// A memory pool and what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolName {
    /// Its id as the file has it.
    pub pool: (u64, u64),
    /// `MemPool (0, 2)`, `kv cache (MemPool (0, 2))`.
    pub name: String,
}

/// What a pool is called by its id alone. PyTorch numbers those that it makes for the capture of CUDA graphs in the first half, and those
/// that the program makes (`torch.cuda.MemPool`, `graph_pool_handle`) in the second.
pub fn pool_of_id(pool: (u64, u64)) -> String {
    match pool {
        (0, 0) => "default pool".to_owned(),
        (graph, 0) => format!("graph-private pool ({graph}, 0)"),
        (0, own) => format!("MemPool (0, {own})"),
        (first, second) => format!("private pool ({first}, {second})"),
    }
}

/// What a pool is called, where a file has names of its own.
pub fn pool_name(names: &[PoolName], pool: (u64, u64)) -> String {
    names.iter().find(|it| it.pool == pool).map_or_else(|| pool_of_id(pool), |it| it.name.clone())
}
