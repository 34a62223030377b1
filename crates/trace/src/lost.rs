//! Stretches in which a ring lost records, and what they leave of a state.

use model::trace::{Segment, State};

/// Lost stretches of one ring or of several, in the order of their ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost(Vec<(u64, u64)>);

impl Lost {
    /// Adds a stretch that ends no sooner than those before.
    pub(crate) fn add_loss(&mut self, from_ns: u64, to_ns: u64) {
        self.0.push((from_ns, to_ns.max(from_ns)));
    }

    /// When the first stretch begins that reaches beyond `since_ns`.
    pub(crate) fn first_after(&self, since_ns: u64) -> Option<u64> {
        let at = self.0.partition_point(|&(_, to)| to <= since_ns);
        self.0.get(at).map(|&(from, _)| from)
    }

    pub(crate) fn stretches(&self) -> &[(u64, u64)] {
        &self.0
    }
}

/// Adds a stretch in a state to the others. One of the same state grows.
pub(crate) fn push(segments: &mut Vec<Segment>, from_ns: u64, to_ns: u64, state: State) {
    if from_ns >= to_ns {
        return;
    }
    match segments.last_mut() {
        Some(last) if last.state == state && last.to_ns == from_ns => last.to_ns = to_ns,
        _ => segments.push(Segment::new(from_ns, to_ns, state)),
    }
}
