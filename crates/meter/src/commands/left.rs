//! What commands leave running when they end, and whose it is: it goes on
//! beside the runs that follow, of whichever command.

use std::collections::BTreeMap;

/// What one command left running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// CPU time that it used between the runs, ns.
    pub cpu_ns: u64,
    /// Its processes that were still there at the end.
    pub at_end: u32,
}

/// What all commands left running.
#[derive(Clone, Debug, Default)]
pub struct LeftOver {
    /// Which command a process is of: the one that had run before it was seen
    /// first.
    owners: BTreeMap<u32, usize>,
    /// CPU time between the runs, ns, by command.
    cpu_ns: BTreeMap<usize, u64>,
    /// The command that ran last.
    last: Option<usize>,
}

impl LeftOver {
    /// Whether it is worth a look which processes are there, after this much
    /// CPU time since the last run: then, and after the first run of each
    /// command. A look at every process of the system is not free.
    pub fn wants_a_look(&self, cpu_ns: u64) -> bool {
        let Some(last) = self.last else { return false };
        cpu_ns > 0 || !self.cpu_ns.contains_key(&last)
    }

    /// What was there before another run: CPU time since the run before, and
    /// the processes that were looked for.
    pub fn between(&mut self, cpu_ns: u64, members: &[u32]) {
        let Some(last) = self.last else { return };
        self.learn(members, last);
        // What was there before the last run too may be another's.
        let owner = self.only_owner().unwrap_or(last);
        self.cpu_ns.entry(last).or_default();
        *self.cpu_ns.entry(owner).or_default() += cpu_ns;
    }

    /// A command has run.
    pub fn ran(&mut self, command: usize) {
        self.last = Some(command);
    }

    /// What each of so many commands left, with these processes there at the
    /// end.
    pub fn at_end(mut self, commands: usize, members: &[u32]) -> Vec<Left> {
        if let Some(last) = self.last {
            // Those that never used the CPU were not looked for.
            let owner = self.only_owner().unwrap_or(last);
            self.learn(members, owner);
        }
        let of = |command| Left {
            cpu_ns: self.cpu_ns.get(&command).copied().unwrap_or(0),
            at_end: self.owners.values().filter(|&&c| c == command).count() as u32,
        };
        (0..commands).map(of).collect()
    }

    /// Forgets who is gone, and takes the new ones for this command's.
    fn learn(&mut self, members: &[u32], command: usize) {
        self.owners.retain(|process, _| members.contains(process));
        for &process in members {
            self.owners.entry(process).or_insert(command);
        }
    }

    /// The one that all the processes are of.
    fn only_owner(&self) -> Option<usize> {
        let mut owners = self.owners.values().copied();
        let first = owners.next()?;
        owners.all(|other| other == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_command_that_ran_before() {
        let mut left = LeftOver::default();
        assert!(!left.wants_a_look(5), "nothing has run");
        left.ran(1);
        assert!(left.wants_a_look(0), "its first run");
        left.between(0, &[]);
        assert!(!left.wants_a_look(0));
        left.ran(1);
        assert!(left.wants_a_look(7));
        left.between(7, &[]);
        left.ran(0);
        let of = left.at_end(2, &[]);
        assert_eq!((of[0].cpu_ns, of[1].cpu_ns), (0, 7));
    }

    #[test]
    fn what_outlives_the_next_run_is_not_the_next_ones() {
        let mut left = LeftOver::default();
        for (command, cpu_ns) in [(0, 50), (1, 60), (1, 70), (0, 80)] {
            left.ran(command);
            left.between(cpu_ns, &[4242]);
        }
        let of = left.at_end(2, &[4242]);
        assert_eq!((of[0].cpu_ns, of[0].at_end), (260, 1));
        assert_eq!(of[1], Left::default());
    }

    #[test]
    fn each_has_its_own_processes_and_they_may_sleep() {
        let mut left = LeftOver::default();
        left.ran(0);
        left.between(0, &[]);
        left.ran(1);
        left.between(0, &[10]);
        left.ran(0);
        // The last run's, and one that nobody had looked for.
        let of = left.at_end(2, &[10, 11]);
        assert_eq!((of[0].at_end, of[1].at_end), (0, 2));
        let mut last = LeftOver::default();
        last.ran(1);
        assert_eq!(last.at_end(2, &[12])[1].at_end, 1);
    }
}
