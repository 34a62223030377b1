//! Workers that were stopped, as by a debugger or a frozen control group: they
//! answer nothing, and they don't end either.

use super::*;

#[test]
fn a_signal_ends_a_run_whose_workers_are_all_stopped() {
    for name in ["INT", "TERM"] {
        let home = home();
        let (child, workers) = started(&home, &LONG);
        for &worker in &workers {
            signal(worker, "STOP");
        }
        // The parent now waits for an answer that does not come.
        std::thread::sleep(Duration::from_secs(1));
        signal(child.id(), name);
        let output = finish(child);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{err}");
        // A worker has a minute for an answer; a signal does not wait for that.
        assert!(!err.contains("timed out"), "{err}");
        let run = read(&home.path().join("run.json"));
        let partial = run.partial.as_deref().unwrap_or_default();
        assert!(partial.contains("interrupted"), "{partial}");
        assert!(!run.cells.is_empty(), "what was measured is kept");
        all_gone(&workers);
    }
}
