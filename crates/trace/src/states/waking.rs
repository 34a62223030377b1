//! Wake-ups.

use super::Builder;
use model::trace::{State, Wakeup};

impl Builder {
    pub(super) fn waking(&mut self, at_ns: u64, cpu: u32, id: u32, by: Option<u32>) {
        if !self.settings.all_threads && !self.by_id.contains_key(&id) {
            return;
        }
        self.wakeups.push(Wakeup { at_ns, thread: id, by, cpu });
        let place = self.place(at_ns, id);
        let lost = self.lost_since(place);
        let thread = &mut self.threads[place];
        match thread.state {
            State::Blocked { .. } | State::Stopped => {
                thread.change(at_ns, thread.state, State::Runnable, lost);
            }
            // Its own record says that it left its CPU blocked.
            State::BlockedOrRunnable => {
                let blocked = State::Blocked {
                    call: thread.call.map(|call| call.number),
                    uninterruptible: false,
                };
                thread.change(at_ns, blocked, State::Runnable, lost);
            }
            // It may be about to leave its CPU.
            State::Running(_) => thread.woken_ns = Some(at_ns),
            State::Unknown if thread.woken_ns.is_none() => {
                (thread.woken_ns, thread.is_told) = (Some(at_ns), true);
            }
            _ => thread.is_told = true,
        }
    }
}
