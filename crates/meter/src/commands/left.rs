//! What commands leave running when they end, and whose it is: it goes on
//! during the runs that follow, of whichever command.

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
    /// Which command a process is of.
    owners: BTreeMap<u32, usize>,
    /// CPU time between the runs, ns, by command.
    cpu_ns: BTreeMap<usize, u64>,
    /// The last run before processes were looked for and those since, in
    /// order: what process each was, and of which command.
    runs: Vec<(u32, usize)>,
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

    /// A command has run, as this process.
    pub fn ran(&mut self, command: usize, process: u32) {
        self.runs.push((process, command));
        self.last = Some(command);
    }

    /// What each of so many commands left, with these processes there at the
    /// end.
    pub fn at_end(mut self, commands: usize, members: &[u32]) -> Vec<Left> {
        if let Some(last) = self.last {
            self.learn(members, last);
        }
        let of = |command| Left {
            cpu_ns: self.cpu_ns.get(&command).copied().unwrap_or(0),
            at_end: self.owners.values().filter(|&&c| c == command).count() as u32,
        };
        (0..commands).map(of).collect()
    }

    /// Forgets processes that are gone, and finds out whose the new ones are: this
    /// command's where their numbers don't tell.
    fn learn(&mut self, members: &[u32], last: usize) {
        self.owners.retain(|process, _| members.contains(process));
        for &process in members {
            let owner = whose(process, &self.runs).unwrap_or(last);
            self.owners.entry(process).or_insert(owner);
        }
        // What the last one left may begin others.
        self.runs.drain(..self.runs.len().saturating_sub(1));
    }

    /// The one that all the processes are of.
    fn only_owner(&self) -> Option<usize> {
        let mut owners = self.owners.values().copied();
        let first = owners.next()?;
        owners.all(|other| other == first).then_some(first)
    }
}

/// The command whose run began a process: processes are numbered in the order
/// in which they begin, so it is the last run with a lower number. `None` where
/// no run has one, since the numbers began anew.
fn whose(process: u32, runs: &[(u32, usize)]) -> Option<usize> {
    let before = runs.iter().rev().find(|(leader, _)| *leader <= process);
    before.map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_command_that_ran_before() {
        let mut left = LeftOver::default();
        assert!(!left.wants_a_look(5), "nothing has run");
        left.ran(1, 100);
        assert!(left.wants_a_look(0), "its first run");
        left.between(0, &[]);
        assert!(!left.wants_a_look(0));
        left.ran(1, 110);
        assert!(left.wants_a_look(7));
        left.between(7, &[]);
        left.ran(0, 120);
        let of = left.at_end(2, &[]);
        assert_eq!((of[0].cpu_ns, of[1].cpu_ns), (0, 7));
    }

    #[test]
    fn what_outlives_the_next_run_is_not_the_next_ones() {
        let mut left = LeftOver::default();
        for (process, command, cpu_ns) in [(100, 0, 50), (110, 1, 60), (120, 1, 70), (130, 0, 80)] {
            left.ran(command, process);
            left.between(cpu_ns, &[101]);
        }
        let of = left.at_end(2, &[101]);
        assert_eq!((of[0].cpu_ns, of[0].at_end), (260, 1));
        assert_eq!(of[1], Left::default());
    }

    #[test]
    fn each_has_its_own_processes_and_they_may_sleep() {
        let mut left = LeftOver::default();
        left.ran(0, 100);
        left.between(0, &[]);
        left.ran(1, 110);
        left.between(0, &[111]);
        left.ran(0, 120);
        // One that was begun since the look, and one of the last run.
        let of = left.at_end(2, &[111, 112, 121]);
        assert_eq!((of[0].at_end, of[1].at_end), (1, 2));
    }

    #[test]
    fn those_first_seen_after_another_command_are_not_its_own() {
        let mut left = LeftOver::default();
        for process in [100, 120, 140] {
            left.ran(0, process);
            left.ran(1, process + 10);
        }
        // They used no CPU until the other command had run.
        left.between(90, &[101, 121, 141]);
        let of = left.at_end(2, &[101, 121, 141]);
        assert_eq!((of[0].at_end, of[0].cpu_ns), (3, 90));
        assert_eq!(of[1], Left::default());
    }

    #[test]
    fn numbers_that_began_anew() {
        // What lies below all of them began after the highest number, of
        // whichever run.
        let runs = [(32_700, 0), (300, 1)];
        assert_eq!(whose(301, &runs), Some(1));
        assert_eq!(whose(200, &runs), None);
        assert_eq!(whose(200, &[]), None);
    }
}
