//! `latlas qos`: one compression job at each level, alone and competing. `knobs.rs`: what each scheduler
//! control does by itself. The jobs and their rounds are in `crates/qos`, what follows from them in
//! `crates/model/src/qos`.

mod knobs;

use super::measured::{lock, stop_on_signals};
use super::recorded::{Destination, about};
use crate::arguments::qos::{CodecChoice, QosCommand, QosOptions};
use crate::ending::Ending;
use crate::progress::Bar;
use crate::{UNRELIABLE, output};
use anyhow::{Context, bail};
use meter::disk_room::DiskRoom;
use meter::probe::OnDisk;
use meter::scratch::{self, Scratch};
use model::figure;
use model::qos::{Case, How, Qos, QosConditions};
use model::recording::Recording;
use model::repeats::LEAST_FOR_INTERVAL;
use model::run::Run;
use qos::conduct::{Jobs, QosProgress, conduct, file_in};
use qos::file::FileError;
use qos::running::JobError;
use qos::{conditions, file, plan};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use sys::cpu_times::{CpuTimes, SOURCE};

/// Makes the file, measures the cases, prints what came of them.
pub(crate) fn qos(options: &QosOptions) -> anyhow::Result<ExitCode> {
    if let Some(QosCommand::Knobs(options)) = &options.what {
        return knobs::knobs(options);
    }
    if options.codec == CodecChoice::Lz4 && options.compression.is_some() {
        bail!("--compression is a level of zstd: remove it, or --codec lz4");
    }
    let cpus = sys::allowed_cpus()
        .ok()
        .or_else(|| sys::machine_facts(Path::new("/")).online_cpus.get().cloned())
        .unwrap_or_default();
    let operations = options.jobs.unwrap_or(cpus.len().max(1) as u32);
    let cases = plan::cases(&options.kinds(), options.levels(), operations, options.full);
    if cases.is_empty() {
        bail!("nothing to measure: --jobs 1 leaves no fewer operations (--cases)");
    }
    if options.history {
        CpuTimes::now().with_context(|| format!("can't read {SOURCE} (--history)"))?;
    }
    let place = match &options.dir {
        Some(directory) => scratch::scratch_in(directory),
        None => scratch::by_default(),
    };
    let place = place?;
    let wanted =
        OnDisk { shared: "qos".into(), bytes: options.size(), files: 1, ..OnDisk::default() };
    DiskRoom::on(&Ok(place.clone()))
        .admit(&wanted)
        .context("no room for the file (--size, --dir)")?;
    let destination = Destination::from_options(&options.run, &[Ending::Html], false)?;
    let _lock = lock("latlas qos", None, options.run.wait)?;
    let machine = sys::machine_facts(Path::new("/"));
    let stop = stop_on_signals()?;
    let conditions = conditions::now(place.filesystem.clone());
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let scratch = Scratch::make(&place)?;
    let path = file_in(scratch.path());
    output::message(format_args!(
        "writing {} to {}",
        model::size::format_size(options.size()),
        scratch.path().display()
    ));
    let file_sha256 = match file::make(&path, options.size(), stop) {
        Err(FileError::Interrupted) => return Ok(interrupted()),
        made => made?,
    };
    let mut jobs = Jobs {
        file: path,
        how: How {
            file_bytes: options.size(),
            file_sha256,
            block_bytes: options.block,
            codec: options.codec(),
            compressed_bytes: 0,
            passes: 1,
            operations,
            rounds: options.rounds(),
            seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
            cpus,
        },
        autogroups: conditions.autogroups.get() == Some(&true),
        core_kinds: machine.core_kinds.clone(),
        history: options.history,
    };
    let once = match jobs.verify(stop) {
        Err(JobError::Interrupted) => return Ok(interrupted()),
        verified => {
            let (compressed_bytes, once) = verified.context("can't check the job")?;
            jobs.how.compressed_bytes = compressed_bytes;
            once
        }
    };
    jobs.how.passes = plan::passes(once);
    let job = once * jobs.how.passes;
    let takes = plan::takes(&cases, jobs.how.rounds, job);
    output::announce(takes, how_long(&jobs.how, &cases, job, options.quick));
    let bar = Bar::on_stderr();
    let conducted = conduct(&jobs, &cases, stop, |progress| {
        bar.message(&so_far(progress, &jobs.how, takes));
    });
    bar.clear();
    scratch.remove()?;
    if conducted.cases.iter().all(|case| case.runs.is_empty()) {
        let why = conducted.partial.as_deref().unwrap_or("no run ended");
        output::message(format_args!("{why}: nothing to show"));
        return Ok(ExitCode::from(UNRELIABLE));
    }
    let remarks = remarks(&jobs.how, &conditions);
    let (levels, cases) = (conducted.levels, conducted.cases);
    let is_known = cases.iter().any(|case| case.runs.len() >= LEAST_FOR_INTERVAL);
    let recording = Recording::Qos(Qos { how: jobs.how, conditions, levels, cases });
    let about = about(machine, started_unix_ms, began_ns);
    let mut run = Run::recorded(about, recording, conducted.partial);
    run.conditions.remarks = remarks;
    destination.finish(&run, (true, is_known))
}

fn interrupted() -> ExitCode {
    output::message("interrupted before the first measurement");
    ExitCode::from(UNRELIABLE)
}

/// What stands after the time that all rounds take.
fn how_long(how: &How, cases: &[Case], job: Duration, quick: bool) -> String {
    let (kinds, levels, rounds) = QosOptions::quick();
    let short =
        plan::takes(&plan::cases(kinds, levels, how.operations, false), rounds, plan::LEAST_JOB);
    let quicker = match quick {
        true => String::new(),
        false => format!("; --quick takes about {} s", short.as_secs()),
    };
    format!(
        " ({} in {} of {} each, low levels longer while other programs run){quicker}",
        model::phrases::counted(cases.len(), "case"),
        model::phrases::counted(how.rounds as usize, "round"),
        figure::time(job.as_nanos() as f64),
    )
}

fn so_far(progress: &QosProgress, how: &How, takes: Duration) -> String {
    format!(
        "round {} of {}: {}; {:.0} s of about {:.0}",
        progress.round,
        how.rounds,
        progress.case.label(),
        progress.elapsed.as_secs_f64(),
        takes.as_secs_f64()
    )
}

/// What a reader must know.
fn remarks(how: &How, conditions: &QosConditions) -> Vec<String> {
    let mut all = Vec::new();
    let nice = sys::controls::granted().nice.unwrap_or(0);
    if nice != 0 {
        all.push(format!("latlas ran with nice {nice}, which the jobs inherit"));
    }
    if conditions.autogroups.get() == Some(&false)
        && let Err(why) = sys::controls::autogroups()
    {
        all.push(format!(
            "autogroup weights do not act: {why}; the levels are made of nice values"
        ));
    }
    let load = conditions.load_before.unwrap_or(0.0);
    if load > 0.25 * how.cpus.len() as f64 {
        all.push(format!(
            "load average {load:.2} in the minute before: other processes used the CPUs, or a run before this"
        ));
    }
    all
}
