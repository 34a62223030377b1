//! A row that is really slower than it was: after each bracket's work a loop
//! turns for a tenth of the time that the work took.

use meter::probe::{Event, Probe, Site, Work, WorkError};
use std::time::Instant;

/// How much longer.
const SHARE: f64 = 0.1;

/// The catalogue with this one row slowed.
pub fn slowed(probes: Vec<Probe>, row: &str) -> Vec<Probe> {
    probes
        .into_iter()
        .map(|probe| match probe.row_ids().iter().any(|own| own == row) {
            true => slower(probe, row),
            false => probe,
        })
        .collect()
}

fn slower(probe: Probe, row: &str) -> Probe {
    let variant = probe.variant_of(row).to_owned();
    let make = probe.make;
    Probe {
        make: Box::new(move |bench, site: &Site| {
            let work = make(bench, site)?;
            Ok(match site.variant == variant {
                true => Box::new(Slower(work)),
                false => work,
            })
        }),
        ..probe
    }
}

struct Slower<'a>(Box<dyn Work + 'a>);

impl Work for Slower<'_> {
    fn run(&mut self, turns: u64, double: bool) {
        let began = Instant::now();
        self.0.run(turns, double);
        let worked = began.elapsed();
        let until = worked + worked.mul_f64(SHARE);
        while began.elapsed() < until {
            std::hint::spin_loop();
        }
    }

    fn ops_per_turn(&self) -> f64 {
        self.0.ops_per_turn()
    }
    fn paired(&self) -> bool {
        self.0.paired()
    }
    fn restore(&mut self) {
        self.0.restore();
    }
    fn lasts_ns(&self) -> u64 {
        self.0.lasts_ns()
    }
    fn ready(&mut self) {
        self.0.ready();
    }
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        self.0.stamped(operations)
    }
    fn modes(&self) -> Vec<String> {
        self.0.modes()
    }
    fn contradiction(&self) -> Option<String> {
        self.0.contradiction()
    }
    fn turn_step(&self) -> u64 {
        self.0.turn_step()
    }
    fn turn_limits(&self) -> (u64, u64) {
        self.0.turn_limits()
    }
    fn faults_belong(&self) -> bool {
        self.0.faults_belong()
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.0.verify()
    }
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::probe::MachineShape;
    use meter::worker_memory::WorkerMemory;
    use std::time::Duration;

    /// Takes a while, and remembers how often it was asked.
    struct Sleeps(u64);

    impl Work for Sleeps {
        fn ops_per_turn(&self) -> f64 {
            7.0
        }
        fn run(&mut self, turns: u64, _: bool) {
            self.0 += turns;
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn it_does_the_same_and_takes_a_tenth_longer_at_least() {
        let mut work = Slower(Box::new(Sleeps(0)));
        let began = Instant::now();
        work.run(3, false);
        assert!(began.elapsed() >= Duration::from_millis(22));
        assert_eq!((work.ops_per_turn(), work.turn_step()), (7.0, 1));
    }

    /// The shortest of some samples of this row's work.
    fn lasts(probes: &[Probe], row: &str) -> Duration {
        let probe = probes
            .iter()
            .find(|probe| probe.row_ids().iter().any(|own| own == row))
            .expect("a row");
        let site = Site { variant: probe.variant_of(row).to_owned(), at: Vec::new() };
        let mut bench = WorkerMemory::new(MachineShape::default(), 1 << 20, 1 << 20, 1);
        let mut work = (probe.make)(&mut bench, &site).expect("made");
        let samples = (0..30).map(|_| {
            let began = Instant::now();
            work.run(1, false);
            began.elapsed()
        });
        samples.min().expect("some")
    }

    #[test]
    fn only_the_row_is_slowed() {
        let asleep =
            |probe: Probe| Probe { make: Box::new(|_, _| Ok(Box::new(Sleeps(0)))), ..probe };
        let all: Vec<Probe> = probes::catalogue().into_iter().map(asleep).collect();
        let all = slowed(all, "memory.naive_xor/50kB");
        let least = Duration::from_millis(22);
        assert!(lasts(&all, "memory.naive_xor/50kB") >= least);
        // Neither another variant of the probe nor another probe.
        let other = all
            .iter()
            .flat_map(Probe::row_ids)
            .find(|row| row.starts_with("memory.naive_xor/") && row != "memory.naive_xor/50kB");
        assert!(lasts(&all, &other.expect("it has several")) < least);
        assert!(lasts(&all, "cpu.div_i64") < least);
    }
}
