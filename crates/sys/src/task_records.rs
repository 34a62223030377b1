//! The kernel's own record of threads that begin and end.

pub use crate::platform::task_records::TaskRecords;

/// Something the kernel recorded of a thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// The thread's number.
    pub thread: u32,
    /// What happened to it.
    pub what: TaskEvent,
    /// When, on CLOCK_MONOTONIC_RAW, in ns.
    pub at_ns: u64,
}

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// The thread of this number created it.
    CreatedBy(u32),
    /// It ended. The thread writes this itself, in the kernel, when its number
    /// is cleared (so that the joining thread is already being woken) and its
    /// memory and files are let go, shortly before it is gone.
    Ended,
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use crate::clock::monotonic_raw_ns;
    use crate::thread::{create_and_join, current_id};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A thread leaves its beginning and its end, in this order, between the
    /// stamps around it.
    fn records_one_thread(records: std::io::Result<TaskRecords>, how: &str) {
        let mut records = match records {
            Ok(records) => records,
            // Not everywhere may it be asked for.
            Err(e) => return eprintln!("{how}: {e}"),
        };
        let last_ns = AtomicU64::new(0);
        let before_ns = monotonic_raw_ns();
        create_and_join(
            &last_ns,
            |last_ns| last_ns.store(monotonic_raw_ns(), Ordering::Relaxed),
            || (),
        )
        .expect("a thread");
        let me = current_id().expect("Linux numbers its threads");
        let mut all = Vec::new();
        let begin = std::time::Instant::now();
        let (thread, created_ns, ended_ns) = loop {
            records.take_records(&mut all);
            let mine = all.iter().find(|r| r.what == TaskEvent::CreatedBy(me));
            let end = mine.and_then(|mine| {
                all.iter().find(|r| r.what == TaskEvent::Ended && r.thread == mine.thread)
            });
            if let (Some(mine), Some(end)) = (mine, end) {
                break (mine.thread, mine.at_ns, end.at_ns);
            }
            assert!(begin.elapsed().as_secs() < 10, "{how}: only {all:?}");
            std::thread::yield_now();
        };
        assert_ne!(thread, me);
        let last_ns = last_ns.load(Ordering::Relaxed);
        assert!(
            before_ns <= created_ns && created_ns <= last_ns && last_ns <= ended_ns,
            "{how}: {before_ns} {created_ns} {last_ns} {ended_ns}"
        );
        assert!(ended_ns <= monotonic_raw_ns(), "{how}");
    }

    #[test]
    fn a_thread_leaves_its_beginning_and_its_end() {
        let cpus = crate::allowed_cpus().expect("known on Linux");
        records_one_thread(TaskRecords::of_machine(&cpus), "of the machine");
        records_one_thread(TaskRecords::of_own_threads(&cpus), "of own threads");
    }

    #[test]
    fn more_records_than_there_is_room_for_do_not_confuse_it() {
        let cpus = crate::allowed_cpus().expect("known on Linux");
        let Ok(mut records) = TaskRecords::of_own_threads(&cpus) else {
            return;
        };
        let mut all = Vec::new();
        for round in 0..3 {
            for _ in 0..600 {
                create_and_join(&(), |()| (), || ()).expect("a thread");
            }
            all.clear();
            records.take_records(&mut all);
            assert!(!all.is_empty(), "round {round}");
            let me = current_id().expect("Linux numbers its threads");
            let ours = all.iter().filter(|r| r.what == TaskEvent::CreatedBy(me));
            assert!(ours.count() > 50, "round {round}");
        }
    }
}
