//! Results of an update that are collected while it runs: effects for the shell, and intents of features.

use crate::state::compared_at::ComparedAt;
use crate::state::effect::Effect;
use crate::state::line::DrawnCurve;
use crate::text::tab::Tab;
use protocol::{Arrangement, Ask, NodeLabel, PlanQuestion, Question, Request, Topic, WhatIfCourse};
use std::rc::Rc;

/// Effects and intents of an update, and what they are stamped with: its time, and the serials of requests.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) effects: Vec<Effect>,
    pub(crate) intents: Vec<Intent>,
    /// Serial of the last request to the worker.
    pub(crate) serial: u32,
    /// Time of the update on the shell's monotonic clock, in ms.
    pub(crate) now_ms: f64,
}

/// Change of the shared state or of another feature that a feature wants. [`crate::features::State::carry_out`] makes
/// it right after the feature returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intent {
    /// Show a message in the status line, or none.
    Say(Option<String>),
    /// Show a message in the status line once a text is copied to the clipboard.
    SayWhenCopied(String),
    /// Select an allocation, or nothing.
    Select(Option<u32>),
    /// Select the allocation of an event, without moving the cursor to its lifetime.
    SelectOfEvent(u32),
    /// Set the selected segment: its address range, and the allocation that keeps it from being released.
    Segment(Option<([u64; 2], Option<u32>)>),
    /// Select a node of the call tree, or none.
    Node(Option<u32>),
    /// Name the selected node.
    NodeLabel(NodeLabel),
    /// Arrange call stacks in another way. This changes node ids.
    Arrange(Arrangement),
    Search(String),
    /// Move the cursor, and scroll to it.
    MoveCursor(u32),
    EndRange,
    /// End the control of the crosshair by keys.
    FollowPointer,
    /// Zoom to a part of the horizontal axis.
    ShowRange([f64; 2]),
    /// Focus the lane of the device at this index.
    Focus(usize),
    Show(Tab),
    /// Give the views half of the window's height, or their usual height, unless the user has set another one.
    GiveRoom(bool),
    /// Open an insight once a device is shown.
    OpenTopic(Topic),
    DrawCurve(DrawnCurve),
    DrawRun(Rc<WhatIfCourse>),
    /// Set the plan whose curve can be drawn.
    Plan(Option<PlanQuestion>),
    /// Set the serial of the pending request to the simulated allocator.
    Simulation(Option<u32>),
    /// End the simulation in the background, because the simulator has failed.
    EndBackgroundSimulation,
    /// Set the moments at which snapshots are compared.
    CompareAt(ComparedAt),
    /// Open the snapshot at an index of the list, and optionally compare it with another one.
    OpenFile(usize, Option<usize>),
    /// Append files of the server to the list of snapshots.
    ListFiles(Vec<String>),
    /// Set the number of files on the server.
    CountFiles(usize),
}

impl Outbox {
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn extend(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.effects.extend(effects);
    }

    pub(crate) fn intend(&mut self, intent: Intent) {
        self.intents.push(intent);
    }

    pub(crate) fn say(&mut self, remark: impl Into<String>) {
        self.intend(Intent::Say(Some(remark.into())));
    }

    /// Asks the worker a question about a device. Returns the serial of the request, which the answer repeats.
    pub(crate) fn ask(&mut self, device: i64, question: Question) -> u32 {
        let serial = self.next_serial();
        self.ask_with(serial, device, question);
        serial
    }

    /// Asks the worker a question with a serial from [`Outbox::next_serial`].
    pub(crate) fn ask_with(&mut self, serial: u32, device: i64, question: Question) {
        self.push(Effect::Ask(Request::Ask(Ask { serial, device, question })));
    }

    /// Returns a serial for a new request to the worker.
    pub(crate) fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}
