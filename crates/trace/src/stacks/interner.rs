//! Stacks, each of which stands once.

use model::trace::stacks::Node;
use std::collections::HashMap;
use std::hash::Hash;

/// A place in the memory of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Code {
    /// The file that is mapped there; `None` if there is none.
    pub(super) module: Option<u32>,
    /// Where in the file, else the address.
    pub(super) offset: u64,
}

impl Code {
    pub(super) fn without_file(address: u64) -> Code {
        Code { module: None, offset: address }
    }
}

/// Frames and stacks so far. Each has a number, in the order in which they come.
#[derive(Debug)]
pub(super) struct Interner<F> {
    pub(super) frames: Vec<F>,
    pub(super) nodes: Vec<Node>,
    by_frame: HashMap<F, u32>,
    by_node: HashMap<Node, u32>,
}

impl<F> Default for Interner<F> {
    fn default() -> Interner<F> {
        Interner {
            frames: Vec::new(),
            nodes: Vec::new(),
            by_frame: HashMap::new(),
            by_node: HashMap::new(),
        }
    }
}

/// The most frames, and nodes: a program has no more, and a document no more than
/// this takes.
pub(super) const MOST: usize = 1 << 20;

impl<F: Clone + Eq + Hash> Interner<F> {
    /// The number of a frame with this caller; `None` if there are too many.
    pub(super) fn node(&mut self, frame: F, caller: Option<u32>) -> Option<u32> {
        let frame = match self.by_frame.get(&frame) {
            Some(&number) => number,
            None => {
                let number = next(self.frames.len())?;
                self.by_frame.insert(frame.clone(), number);
                self.frames.push(frame);
                number
            }
        };
        let node = Node { frame, caller };
        if let Some(&number) = self.by_node.get(&node) {
            return Some(number);
        }
        let number = next(self.nodes.len())?;
        self.by_node.insert(node, number);
        self.nodes.push(node);
        Some(number)
    }

    /// The number of a stack, the innermost frame first; `None` of an empty one,
    /// or if there are too many.
    pub(super) fn stack(&mut self, frames: &[F]) -> Option<u32> {
        let mut frames = frames.iter().rev();
        let outermost = self.node(frames.next()?.clone(), None)?;
        frames.try_fold(outermost, |caller, frame| self.node(frame.clone(), Some(caller)))
    }
}

fn next(length: usize) -> Option<u32> {
    u32::try_from(length).ok().filter(|_| length < MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_stands_once() {
        let mut table = Interner::default();
        let one = table.stack(&["wait", "inner", "main"]);
        let other = table.stack(&["read", "inner", "main"]);
        assert_ne!(one, other);
        assert_eq!(table.stack(&["wait", "inner", "main"]), one);
        assert_eq!(table.stack(&[]), None);
        assert_eq!((table.frames.len(), table.nodes.len()), (4, 4));
        let before = (0..).zip(&table.nodes);
        for (place, node) in before {
            assert!(node.caller.is_none_or(|caller| caller < place));
        }
    }
}
