//! The programs that `trace` traces, which print the CPU time that an operation
//! took them.

use anyhow::Context;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use sys::semaphore::Semaphore;

#[derive(clap::Args)]
pub struct Arguments {
    workload: Workload,
    operations: u64,
}

model::words! {
    /// What is traced, as an argument.
    #[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Workload: name {
        /// Two threads wake each other on one CPU.
        PingPong = "ping-pong",
        /// 16 threads do 5 µs each, on all CPUs.
        Pool = "pool",
        Getppid = "getppid",
        /// First touches of pages.
        Faults = "faults",
    }
}

impl Workload {
    /// Some 0.2 s of operations.
    pub fn operations(self) -> u64 {
        match self {
            Workload::PingPong => 40_000,
            Workload::Pool => 1_500,
            Workload::Getppid => 1_000_000,
            Workload::Faults => 100_000,
        }
    }
}

/// Does the operations, and prints ns of CPU time for each.
///
/// # Errors
/// What the system refuses.
pub fn do_operations(arguments: &Arguments) -> anyhow::Result<()> {
    let count = arguments.operations;
    let began_ns = cpu_ns()?;
    match arguments.workload {
        Workload::PingPong => ping_pong(count)?,
        Workload::Pool => pool(count)?,
        Workload::Getppid => {
            for _ in 0..count {
                sys::system_calls::parent_id()?;
            }
        }
        Workload::Faults => faults(count)?,
    }
    let took_ns = cpu_ns()? - began_ns;
    println!("{}", took_ns as f64 / count as f64);
    Ok(())
}

fn cpu_ns() -> anyhow::Result<u64> {
    sys::child::family_cpu_ns().context("no CPU time")
}

fn ping_pong(count: u64) -> anyhow::Result<()> {
    let cpus = sys::allowed_cpus()?;
    sys::pin_to(&[*cpus.last().context("no CPU")?])?;
    let (ping, pong) = (Semaphore::new(0)?, Semaphore::new(0)?);
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| {
            (0..count).try_for_each(|_| {
                ping.wait()?;
                pong.post()
            })
        });
        for _ in 0..count {
            ping.post()?;
            pong.wait()?;
        }
        answer.join().map_err(|_| anyhow::anyhow!("the thread failed"))??;
        Ok(())
    })
}

fn pool(count: u64) -> anyhow::Result<()> {
    const THREADS: u64 = 16;
    const SPIN: Duration = Duration::from_micros(5);
    let (submit, tasks) = mpsc::channel::<()>();
    let (done, finished) = mpsc::channel();
    let tasks = Arc::new(Mutex::new(tasks));
    for _ in 0..THREADS {
        let (tasks, done) = (Arc::clone(&tasks), done.clone());
        std::thread::spawn(move || {
            let next = || tasks.lock().ok()?.recv().ok();
            while next().is_some() {
                let began = Instant::now();
                while began.elapsed() < SPIN {}
                let _ = done.send(());
            }
        });
    }
    for _ in 0..count {
        for _ in 0..THREADS {
            submit.send(())?;
        }
        for _ in 0..THREADS {
            finished.recv()?;
        }
    }
    Ok(())
}

fn faults(count: u64) -> anyhow::Result<()> {
    const BLOCK_BYTES: usize = 1 << 20;
    let page = sys::base_page_bytes();
    let mut left = count as usize;
    while left > 0 {
        let mut memory = sys::Mapping::new(BLOCK_BYTES)?;
        let pages = left.min(BLOCK_BYTES / page);
        for page in memory.as_mut_slice().chunks_mut(page).take(pages) {
            page[0] = 1;
        }
        left -= pages;
    }
    Ok(())
}
