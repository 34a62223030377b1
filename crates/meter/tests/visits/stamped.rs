//! Operations that take their own stamps.

use super::*;

/// Work that stamps what a test wrote down.
struct Stamps {
    events: Vec<Event>,
    contradiction: Option<String>,
}

impl Work for Stamps {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        Ok(self.events.iter().copied().take(operations as usize).collect())
    }
    fn contradiction(&self) -> Option<String> {
        self.contradiction.clone()
    }
    /// Series 0 is stamped by the calling thread, 1 by one that was watched, 2
    /// by one that was not.
    fn run_delay_ns(&self, series: usize, own_ns: u64) -> Option<u64> {
        [Some(own_ns), Some(70), None][series]
    }
}

fn stamped(work: &mut dyn Work, operations: u32) -> Result<Vec<visit::Series>, WorkError> {
    let events = work.stamped(operations)?;
    visit::series(&events, work)
}

fn event(series: usize, from_ticks: u64, to_ticks: u64, mode: u8) -> Event {
    Event { series, from_ticks, to_ticks, ops: 2, mode, place: None }
}

#[test]
fn stamped_operations_go_to_their_variants_with_their_modes_and_sign() {
    let mut work = Stamps {
        events: vec![event(1, 0, 10, 0), event(0, 10, 4, 1), event(1, 0, 14, 1)],
        contradiction: None,
    };
    let series = stamped(&mut work, 3).expect("three events");
    let of = |variant: usize| -> Vec<(f64, u8)> {
        let found = series.iter().find(|s| s.variant == variant);
        let samples = &found.expect("a variant").samples;
        samples.iter().map(|s| (s.ns_per_op(1.0, 1.0), s.evidence.mode)).collect()
    };
    assert_eq!(of(0), [(-3.0, 1)]);
    assert_eq!(of(1), [(5.0, 0), (7.0, 1)]);
    assert!(series[0].samples.iter().all(|s| s.evidence.flags == 0));
}

#[test]
fn a_visit_that_the_kernel_contradicts_is_marked_and_an_empty_one_refused() {
    let mut work = Stamps {
        events: vec![event(0, 0, 10, 0)],
        contradiction: Some("switches per round trip: 0.1 instead of 2".into()),
    };
    let series = stamped(&mut work, 1).expect("an event");
    assert!(series[0].samples[0].has(flag::CONTRADICTED));
    assert!(stamped(&mut work, 0).is_err());
}

#[test]
fn run_delay_is_of_the_stamping_thread_and_recorded_once_in_a_series() {
    let mut work = Stamps {
        events: [0, 0, 1, 2].map(|series| event(series, 0, 10, 0)).into(),
        contradiction: None,
    };
    let mut series = stamped(&mut work, 4).expect("four events");
    visit::record_run_delay(&mut series, &work, 4_000);
    let lost: Vec<Vec<u64>> =
        series.iter().map(|s| s.samples.iter().map(|s| s.evidence.lost_ns).collect()).collect();
    assert_eq!(lost, [vec![4_000, 0], vec![70], vec![0]]);
}
