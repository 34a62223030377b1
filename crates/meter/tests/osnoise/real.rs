//! On this machine: what the kernel counts against what was observed. Counts and
//! sums are compared, no time is asserted.

use meter::osnoise::{OsnoiseRequest, measure_osnoise, measure_together};
use model::noise::osnoise::{Cause, Osnoise};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::clock::{Counter, calibrate};

fn spin(cpu: Option<u32>, ms: u64) -> Osnoise {
    let counter = Counter::best();
    let calibration = calibrate(&counter, Duration::from_millis(20));
    let request = OsnoiseRequest { cpu, span: Duration::from_millis(ms), stretches: 20 };
    let stop = AtomicBool::new(false);
    let (osnoise, ended_early) =
        measure_osnoise(&request, counter, &calibration, &stop).expect("a thread");
    assert!(!ended_early);
    osnoise
}

fn a_cpu() -> Option<u32> {
    let cpu = sys::allowed_cpus().ok()?.last().copied();
    if cpu.is_none() {
        println!("SKIPPED: the allowed CPUs are unknown");
    }
    cpu
}

#[test]
fn a_competitor_on_the_same_cpu_is_the_schedulers() {
    let Some(cpu) = a_cpu() else { return };
    let (running, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let (osnoise, competitor_ns) = std::thread::scope(|scope| {
        let competitor = scope.spawn(|| {
            sys::pin_to(&[cpu]).expect("an allowed CPU");
            running.store(true, Ordering::Relaxed);
            let mut sum = 0_u64;
            while !done.load(Ordering::Relaxed) {
                sum = std::hint::black_box(sum.wrapping_add(1));
            }
            sys::evidence::thread_cpu_ns()
        });
        while !running.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let osnoise = spin(Some(cpu), 600);
        done.store(true, Ordering::Relaxed);
        (osnoise, competitor.join().expect("the competitor"))
    });
    let Some(run_delay_ns) = osnoise.run_delay_ns else {
        return println!("SKIPPED: {:?}", osnoise.remarks);
    };
    let scheduler_ns = osnoise.cause_total(Cause::Scheduler).map_or(0, |c| c.lost_ns);
    // Our sum over detours and readings is the kernel's over the thread.
    assert_eq!(scheduler_ns, run_delay_ns, "{osnoise:?}");
    let ours = osnoise.share_of(Cause::Scheduler).expect("watched");
    let kernels = run_delay_ns as f64 / osnoise.span_ns as f64;
    // Under emulation a tenth of the time and more is blind.
    let blind = osnoise.blind_ns as f64 / osnoise.span_ns as f64;
    assert!((ours / kernels - 1.0).abs() < 0.1 + blind, "{ours} {kernels}: {osnoise:?}");
    // The thread waited while the competitor (and others) had the CPU; the
    // competitor ran before and after, so its time bounds nothing from below
    // but that it had some.
    assert!(competitor_ns.expect("known") > 0);
    assert!(osnoise.involuntary_switches.is_none_or(|n| n > 0), "{osnoise:?}");
    let share = osnoise.share_of(Cause::Scheduler).expect("watched");
    assert!(share > 0.1, "a competitor takes its part: {share}");
    assert_eq!(osnoise.cpu, Some(cpu));
    assert!(!osnoise.migrated);
    let ended_ns = osnoise.began_ns + osnoise.span_ns;
    let now_ns = sys::monotonic_raw_ns();
    // The thread's own time is on the clock that a trace may have.
    assert!(ended_ns <= now_ns && now_ns - ended_ns < 60_000_000_000, "{ended_ns} {now_ns}");
}

#[test]
fn the_interrupts_of_the_cpu_are_counted() {
    let Some(cpu) = a_cpu() else { return };
    let began = Instant::now();
    // Whatever the tick's rate: it is seen, and not as something else. On a busy machine it mostly
    // comes together with others.
    let osnoise = loop {
        let osnoise = spin(Some(cpu), 400);
        if osnoise.readings == 0 {
            return println!("SKIPPED: {:?}", osnoise.remarks);
        }
        let timers = osnoise.interrupts.iter().filter(|i| i.timer);
        if timers.map(|i| i.count).sum::<u64>() == 0 {
            return println!("SKIPPED: no tick on this CPU: {:?}", osnoise.interrupts);
        }
        let ticks = [Cause::Tick, Cause::TickAndInterrupts].into_iter();
        let ticks: u64 = ticks.filter_map(|cause| Some(osnoise.cause_total(cause)?.detours)).sum();
        assert!(ticks <= osnoise.detours, "{osnoise:?}");
        if ticks > 0 {
            break osnoise;
        }
        assert!(began.elapsed() < Duration::from_secs(180), "{osnoise:?}");
    };
    assert!(osnoise.detours > 0 && osnoise.frequency.is_some());
    assert!(osnoise.detector.threshold_ns > 0.0);
}

#[test]
fn a_thread_on_no_cpu_of_its_own_says_what_is_missing() {
    let osnoise = spin(None, 60);
    assert_eq!(osnoise.cpu, None);
    assert!(osnoise.remarks.iter().any(|r| r.contains("not pinned")), "{:?}", osnoise.remarks);
    assert_eq!(osnoise.readings, 0);
}

#[test]
fn it_ends_when_asked_to_and_refuses_a_cpu_that_is_not_there() {
    let counter = Counter::best();
    let calibration = calibrate(&counter, Duration::from_millis(5));
    let request = |cpu| OsnoiseRequest { cpu, span: Duration::from_secs(3600), stretches: 20 };
    let stop = AtomicBool::new(true);
    let (osnoise, ended_early) =
        measure_osnoise(&request(None), counter, &calibration, &stop).expect("a thread");
    assert!(ended_early && osnoise.span_ns > 0);
    let refused = measure_together(&[request(Some(8000))], counter, &calibration, &stop);
    let why = refused[0].as_ref().expect_err("no such CPU").to_string();
    assert!(why.starts_with("can't pin a thread to CPU 8000: "), "{why}");
}
