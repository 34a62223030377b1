//! Stacks of threads in user mode: each frame and each caller of it stands once.

use super::{StateKind, Thread, Trace};
use serde::{Deserialize, Serialize};

/// All stacks of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// Files that code was mapped from.
    pub modules: Vec<String>,
    /// The functions.
    pub frames: Vec<Frame>,
    /// A stack is a place here; callers stand before what they call.
    pub nodes: Vec<Node>,
}

/// A function, or an address of which the function is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The file: a place in [`Stacks::modules`]; `None` of memory without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<u32>,
    /// Where in the file, or else in memory, if the function is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// A frame with its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(u32, Option<u32>)", into = "(u32, Option<u32>)")]
pub struct Node {
    /// A place in [`Stacks::frames`].
    pub frame: u32,
    /// The caller: a place in [`Stacks::nodes`] before this one.
    pub caller: Option<u32>,
}

impl From<(u32, Option<u32>)> for Node {
    fn from((frame, caller): (u32, Option<u32>)) -> Node {
        Node { frame, caller }
    }
}

impl From<Node> for (u32, Option<u32>) {
    fn from(node: Node) -> (u32, Option<u32>) {
        (node.frame, node.caller)
    }
}

/// The stack with which a thread left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u32)", into = "(u64, u32)")]
pub struct Left {
    /// When it left.
    pub at_ns: u64,
    /// A place in [`Stacks::nodes`].
    pub stack: u32,
}

impl From<(u64, u32)> for Left {
    fn from((at_ns, stack): (u64, u32)) -> Left {
        Left { at_ns, stack }
    }
}

impl From<Left> for (u64, u32) {
    fn from(left: Left) -> (u64, u32) {
        (left.at_ns, left.stack)
    }
}

/// The kernel's default is 127.
const DEEPEST: usize = 1024;

impl Stacks {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The frames of a stack, the innermost first, as many as any recording has; of
    /// a damaged document, those before the damage.
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = &Frame> {
        let places = self.frame_places(stack);
        places.map_while(|place| self.frames.get(place as usize))
    }

    /// The places of the frames of a stack in [`Stacks::frames`].
    pub fn frame_places(&self, stack: u32) -> impl Iterator<Item = u32> {
        let mut next = Some(stack);
        std::iter::from_fn(move || {
            let place = next?;
            let node = self.nodes.get(place as usize)?;
            // Callers stand before: no circle is followed.
            next = node.caller.filter(|&caller| caller < place);
            Some(node.frame)
        })
        .take(DEEPEST)
    }

    /// The name of a frame: its function, else the file and where in it.
    pub fn frame_name(&self, frame: &Frame) -> String {
        let module = frame.module.and_then(|at| self.modules.get(at as usize));
        let file = module.map(|path| path.rsplit('/').next().unwrap_or(path));
        match (&frame.function, file, frame.offset) {
            (Some(function), _, _) => function.clone(),
            (None, Some(file), Some(offset)) => format!("{file}+{offset:#x}"),
            (None, None, Some(offset)) => format!("{offset:#x}"),
            (None, file, None) => file.unwrap_or("?").to_owned(),
        }
    }
}

impl Thread {
    /// Of each of its segments in which it is on no CPU, the stack with which it had left one.
    pub fn stacks(&self) -> impl Iterator<Item = Option<u32>> {
        let mut left = self.left.iter().peekable();
        let mut last = None;
        self.segments.iter().map(move |segment| {
            while let Some(left) = left.next_if(|left| left.at_ns <= segment.from_ns) {
                last = Some(left.stack);
            }
            if matches!(
                segment.state.kind(),
                StateKind::Running | StateKind::Lost | StateKind::Unknown
            ) {
                last = None;
            }
            last
        })
    }
}

impl Trace {
    /// The names of a stack's frames, the innermost first.
    pub fn stack_names(&self, stack: u32) -> Vec<String> {
        let frames = self.stacks.frames(stack);
        frames.map(|frame| self.stacks.frame_name(frame)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Segment, State};

    fn stacks() -> Stacks {
        let frame = |function: Option<&str>, module, offset| Frame {
            function: function.map(str::to_owned),
            module,
            offset,
        };
        Stacks {
            modules: vec!["/usr/bin/prog".into()],
            frames: vec![
                frame(Some("main"), Some(0), None),
                frame(None, Some(0), Some(0x1f0)),
                frame(None, None, Some(0x7000)),
            ],
            nodes: [(0, None), (1, Some(0)), (2, Some(1)), (2, Some(3)), (9, Some(0))]
                .map(Node::from)
                .into(),
        }
    }

    #[test]
    fn a_stack_has_its_callers() {
        let stacks = stacks();
        let names = |stack| -> Vec<String> {
            stacks.frames(stack).map(|frame| stacks.frame_name(frame)).collect()
        };
        assert_eq!(names(2), ["0x7000", "prog+0x1f0", "main"]);
        assert_eq!(names(0), ["main"]);
        // Damaged: a circle, a frame that is not there, a stack that is not there.
        assert_eq!(names(3), ["0x7000"]);
        assert!(names(4).is_empty() && names(99).is_empty());
    }

    #[test]
    fn a_stretch_off_the_cpu_has_the_stack_of_its_begin() {
        let segment = |from_ns, to_ns, state| Segment { from_ns, to_ns, state };
        let blocked = State::Blocked { call: None, uninterruptible: false };
        let segments = vec![
            segment(0, 10, State::Running(0)),
            segment(10, 20, blocked),
            segment(20, 25, State::Runnable),
            segment(25, 30, State::Running(0)),
            segment(30, 40, State::Preempted(7)),
            segment(40, 50, State::Lost),
            segment(50, 60, blocked),
        ];
        let left = |at_ns, stack| Left { at_ns, stack };
        let thread = Thread { segments, left: vec![left(10, 4), left(30, 5)], ..Thread::default() };
        let found: Vec<Option<u32>> = thread.stacks().collect();
        let wanted = [None, Some(4), Some(4), None, Some(5), None, None];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_thread_may_stay_off_its_cpu_for_ever() {
        const MANY: u64 = 1 << 20;
        let state = |at: u64| match at % 2 {
            0 => State::Stopped,
            _ => State::Runnable,
        };
        let thread = Thread {
            segments: (0..MANY).map(|at| Segment::new(at, at + 1, state(at))).collect(),
            left: vec![Left { at_ns: 0, stack: 3 }],
            ..Thread::default()
        };
        let found = thread.stacks().filter(|&stack| stack == Some(3));
        assert_eq!(found.count() as u64, MANY);
    }
}
