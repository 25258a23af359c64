//! Imitates SnapViewer's export: a polygon for each allocation, and a list of the events they were drawn from.

use serde_json::{Value, json};

/// The two files that SnapViewer writes for a trace.
pub(crate) struct Export {
    pub(crate) allocations: Vec<u8>,
    pub(crate) elements: Vec<u8>,
    /// Highest edge of all polygons, in bytes.
    pub(crate) peak: u64,
}

struct Polygon {
    elem: usize,
    timesteps: Vec<u64>,
    offsets: Vec<u64>,
    size: u64,
}

/// Exports a trace of alloc and free_completed events.
pub(crate) fn export(events: &[Value]) -> Export {
    let field = |event: &Value, key: &str| event[key].as_u64().unwrap();
    // One element for each alloc, and for each free of memory from before recording.
    let mut elements: Vec<Value> = Vec::new();
    let mut steps: Vec<(usize, bool)> = Vec::new();
    let mut live = std::collections::HashMap::new();
    let mut before = Vec::new();
    for event in events {
        let address = field(event, "addr");
        if event["action"] == "alloc" {
            live.insert(address, elements.len());
            steps.push((elements.len(), true));
            elements.push(event.clone());
        } else if let Some(elem) = live.remove(&address) {
            steps.push((elem, false));
        } else {
            before.push(elements.len());
            steps.push((elements.len(), false));
            elements.push(event.clone());
        }
    }
    let mut picture = Picture::default();
    let size = |elem: usize| field(&elements[elem], "size");
    before.iter().rev().for_each(|&elem| picture.push(elem, size(elem)));
    for (elem, is_alloc) in steps {
        if is_alloc {
            picture.push(elem, size(elem));
            picture.now += 1;
        } else {
            picture.free(elem);
        }
    }
    picture.finish(&elements)
}

/// Polygons under construction, in drawing order.
#[derive(Default)]
struct Picture {
    all: Vec<Polygon>,
    /// Indices in `all` of live allocations, from the bottom up.
    stack: Vec<usize>,
    now: u64,
}

impl Picture {
    fn push(&mut self, elem: usize, size: u64) {
        let top = self.stack.last().map(|&top| &self.all[top]);
        let offset = top.map_or(0, |top| top.offsets.last().unwrap() + top.size);
        self.stack.push(self.all.len());
        self.all.push(Polygon { elem, timesteps: vec![self.now], offsets: vec![offset], size });
    }

    fn free(&mut self, elem: usize) {
        let at = self.stack.iter().position(|&place| self.all[place].elem == elem).unwrap();
        let freed = self.stack.remove(at);
        self.all[freed].point(self.now, 0);
        let size = self.all[freed].size;
        for &above in &self.stack[at..] {
            self.all[above].point(self.now, 0);
            self.all[above].point(self.now + 3, size);
        }
        self.now += if self.stack.len() > at { 4 } else { 1 };
    }

    fn finish(mut self, elements: &[Value]) -> Export {
        for &live in &self.stack {
            self.all[live].point(self.now, 0);
        }
        let peak = self.all.iter().flat_map(|it| it.offsets.iter().map(|offset| offset + it.size)).max().unwrap_or(0);
        let allocations: Vec<Value> = self
            .all
            .iter()
            .map(|it| json!({"elem": it.elem, "timesteps": it.timesteps, "offsets": it.offsets, "size": it.size, "color": 3}))
            .collect();
        Export {
            allocations: serde_json::to_vec(&allocations).unwrap(),
            elements: serde_json::to_vec(elements).unwrap(),
            peak,
        }
    }
}

impl Polygon {
    /// Extends the polygon to a timestep, `lower` bytes below its last offset.
    fn point(&mut self, now: u64, lower: u64) {
        self.timesteps.push(now);
        self.offsets.push(self.offsets.last().unwrap() - lower);
    }
}
