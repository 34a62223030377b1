//! Tasks for the shared queues of classes of quality of service.

use super::{Posting, found, library_place, missing};
use crate::engine::reason::{Doing, Reason};
use crate::engine::tasks::{Executor, STAMPED, TaskCpu, Waiting, blank, executor_work};
use crate::engine::threads::alone;
use meter::probe::{Make, Probe};
use model::qos::{Level, Setting};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use sys::dispatch::QueueTask;
use sys::settings::{HERE, System};

/// How long the first task of a queue may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn classes_probes() -> impl Iterator<Item = Probe> {
    let of: [(Level, Make); 5] = [
        of_class::<{ Level::BACKGROUND.number() }>(Level::BACKGROUND),
        of_class::<{ Level::UTILITY.number() }>(Level::UTILITY),
        of_class::<{ Level::DEFAULT.number() }>(Level::DEFAULT),
        of_class::<{ Level::USER_INITIATED.number() }>(Level::USER_INITIATED),
        of_class::<{ Level::USER_INTERACTIVE.number() }>(Level::USER_INTERACTIVE),
    ];
    of.into_iter().map(|(level, make)| {
        let (name, number) = (level.label(), level.number());
        Probe {
            variants: vec![name.replace('-', "_").into()],
            title: format!("dispatch_async at {name}, waited for spinning").into(),
            operation: format!("One dispatch_async_f() of an empty task to the global queue of the class {name} ({number}), until it has run: libdispatch wakes or starts a thread for it, while the caller spins on a flag.").into(),
            method: format!("What the system made of the class is in the notes: the first task reads it in its thread. {STAMPED} {}", Waiting::Spins.how_it_waits()).into(),
            source: "Ours: dispatch.async_wait on the queues that most programs use, one for each class.".into(),
            unavailable: |machine| missing().or_else(|| alone(machine)),
            make,
            ..blank("dispatch.async_wait", 20_000.0)
        }
    })
}

fn of_class<const NUMBER: u32>(level: Level) -> (Level, Make) {
    let make: Make = Box::new(|worker, _| executor_work::<OfClass<NUMBER>>(worker, Waiting::Spins));
    (level, make)
}

/// Posts to the global queue of a class.
struct OfClass<const NUMBER: u32> {
    posting: Posting,
    ran_with: String,
}

impl<const NUMBER: u32> Executor for OfClass<NUMBER> {
    fn start_on(_: &[u32]) -> Result<OfClass<NUMBER>, Reason> {
        let queue = found()?.global_queue(NUMBER);
        let queue = queue.doing("dispatch_get_global_queue() failed")?;
        let asked: &Asked = Box::leak(Box::default());
        queue.post(asked);
        let ran_with = asked.wait()?;
        let posting = Posting::to(queue);
        Ok(OfClass { posting, ran_with })
    }
    fn once(&self) -> Result<TaskCpu, Reason> {
        self.posting.once()
    }
    fn close(self) -> Result<(), Reason> {
        self.posting.close()
    }
    fn notes(&self) -> Vec<String> {
        vec![library_place(), format!("its tasks ran with {}", self.ran_with)]
    }
}

/// A task that reads how its thread is scheduled.
#[derive(Default)]
struct Asked(OnceLock<String>);

impl Asked {
    fn wait(&self) -> Result<String, Reason> {
        let began = Instant::now();
        loop {
            if let Some(answer) = self.0.get() {
                return Ok(answer.clone());
            }
            if began.elapsed() > PATIENCE {
                return Err(Reason::TimedOut {
                    what: "the first task of the queue has not run".into(),
                    patience: PATIENCE,
                });
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

impl QueueTask for Asked {
    fn run(&self) {
        let class = HERE.read(&Setting::QosClass(0));
        let known = class.or_else(|| HERE.read(&Setting::Nice(0)));
        let text = known.map_or_else(|| "unknown priority".into(), |known| known.label());
        let _ = self.0.set(text);
    }
}
