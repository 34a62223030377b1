//! What a recording consists of: events in the order of their time.

use model::trace::{Access, InterruptKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on CLOCK_MONOTONIC_RAW, in ns.
    pub at_ns: u64,
    pub cpu: u32,
    pub what: What,
}

/// A thread's name as the kernel has it, filled up with zeros.
pub type Name = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A thread was switched out and another in, traced or not
    /// (`sched_switch`).
    Switch {
        /// The one switched out,
        out: u32,
        /// its state as the kernel writes it,
        state: u32,
        /// and the one switched in.
        into: u32,
    },
    /// A thread was woken (`sched_waking`).
    Waking {
        /// The one woken.
        thread: u32,
        /// By which thread; `None` for an interrupt.
        by: Option<u32>,
    },
    /// A traced thread was switched in or out: the kernel's record of the
    /// thread itself, which is written apart from `sched_switch`.
    OwnSwitch {
        thread: u32,
        /// Out, else in.
        out: bool,
        /// It was ready to run when switched out.
        ready: bool,
    },
    /// A traced thread entered a system call.
    Enter {
        thread: u32,
        number: u32,
        /// Its first arguments.
        arguments: [u64; 3],
    },
    /// A system call of a traced thread returned.
    Return {
        thread: u32,
        /// What the call returned.
        returned: i64,
    },
    /// A page fault of a traced thread, in user mode or in a system call.
    Fault { thread: u32, address: u64, access: Access },
    /// The kernel has served one.
    Served {
        thread: u32,
        /// `None`: that of the fault that is being served; without one, the kernel itself wanted the memory.
        address: Option<u64>,
        /// After a wait for a device.
        major: bool,
    },
    /// The one that is being served waits for a device.
    Major { thread: u32 },
    /// A traced thread was found asleep after the recording had begun.
    Asleep {
        thread: u32,
        /// In this system call, if any.
        call: Option<u32>,
        /// Signals can't wake it.
        uninterruptible: bool,
    },
    /// A traced thread created another.
    Fork {
        /// The process of the new one; `None`: that of the one that created it,
        process: Option<u32>,
        /// the new one,
        thread: u32,
        /// and the one that created it.
        parent: u32,
    },
    /// A traced thread is ending.
    Exit { thread: u32 },
    /// A traced thread got a name.
    Name {
        /// Its process, where the record tells.
        process: Option<u32>,
        thread: u32,
        name: Name,
        /// By executing a program.
        exec: bool,
    },
    /// A traced thread executed a program, of which it got the name before.
    Exec { thread: u32 },
    /// A traced thread mapped memory.
    Map {
        thread: u32,
        address: u64,
        /// How much.
        bytes: u64,
    },
    /// A traced thread leaves its CPU with this stack. It is recorded right after
    /// `sched_switch`, and right before the kernel's record of the thread itself.
    Stack {
        thread: u32,
        /// A place in [`model::trace::Stacks::nodes`].
        stack: u32,
    },
    /// A traced thread passed a USDT probe.
    Probe {
        thread: u32,
        /// The place of its name in those of the signposts.
        name: u32,
    },
    /// An interrupt of the CPU, whichever thread it has.
    Interrupt(InterruptKind),
    /// So many records of this CPU found no room since its event before.
    Lost(u64),
}

pub fn text_of(name: &[u8]) -> String {
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}
