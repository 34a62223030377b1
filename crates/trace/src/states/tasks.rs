//! Beginnings and ends of threads.

use super::Builder;
use super::thread::Building;
use model::trace::State;

impl Builder {
    /// A traced thread has this number, and has not begun to end.
    pub(super) fn is_traced(&self, id: u32) -> bool {
        let thread = self.by_id.get(&id).map(|&at| &self.threads[at]);
        thread.is_some_and(|thread| thread.exit_ns.is_none())
    }

    pub(super) fn ended(&mut self, at_ns: u64, at: usize) {
        let thread = &mut self.threads[at];
        thread.end_thread(at_ns, None);
        thread.thread.ended = true;
        self.by_id.remove(&thread.thread.id);
    }

    pub(super) fn fork(&mut self, at_ns: u64, process: Option<u32>, id: u32, parent: u32) {
        let of_parent = || self.by_id.get(&parent).map(|&at| self.threads[at].thread.process);
        let process = process.or_else(of_parent).unwrap_or(0);
        if let Some(&at) = self.by_id.get(&id) {
            let known = &self.threads[at].thread;
            if known.segments.is_empty() && known.created_by.is_none() {
                // Its first event was recorded on another CPU.
                self.threads[at].thread.process = process;
                self.threads[at].thread.created_by = Some(parent);
                return;
            }
            // The number is used again.
            self.ended(at_ns, at);
        }
        // What is new is ready to run.
        let mut thread = Building::new(process, id, at_ns, State::Runnable);
        thread.thread.created_by = Some(parent);
        let name = self.by_id.get(&parent).map(|&at| &self.threads[at].thread.name);
        thread.thread.name = name.cloned().unwrap_or_default();
        self.begin_thread(thread);
    }

    pub(super) fn exit(&mut self, at_ns: u64, id: u32) {
        let Some(&at) = self.by_id.get(&id) else {
            return;
        };
        match self.settings.scheduler {
            // The last switch is still to come.
            true => self.threads[at].exit_ns = Some(at_ns),
            false => self.ended(at_ns, at),
        }
    }
}
