//! The measuring lock, measuring with a bar on stderr, and keeping what was measured: the same for every command that
//! makes a run.

use crate::arguments::wait::WaitOptions;
use crate::progress::Bar;
use crate::{UNRELIABLE, output, program};
use anyhow::{Context, anyhow, bail};
use meter::conduct::conduct;
use meter::measuring_lock::{Holder, LockRemark, MeasuringLock};
use meter::plan::Plan;
use meter::probe::Probe;
use model::machine::Machine;
use model::run::Run;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::{Store, StoreError, index};

/// The measuring lock, held until it is dropped.
pub struct Lock(MeasuringLock);

impl Lock {
    /// Whether another process held it: facts read before it was taken may have changed.
    pub fn waited(&self) -> bool {
        self.0.waited()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.0.is_lost() {
            output::message(
                "the file of the measuring lock was removed during the run: another latlas may have \
                 measured at the same time",
            );
        }
    }
}

/// Takes the measuring lock; waits for another latlas that holds it, unless asked not to. It must
/// come before [`stop_on_signals`], so that Ctrl-C ends the wait at once, and after all that can be
/// refused without measuring.
///
/// # Errors
/// With `--no-wait`, that another latlas is measuring, or that this can't be known.
pub fn lock(measures: &str, takes: Option<Duration>, options: WaitOptions) -> anyhow::Result<Lock> {
    let holder = Holder::this_process(measures, takes);
    let lock = MeasuringLock::take(&holder, !options.no_wait, |held_by| {
        output::message(format_args!(
            "waiting for another measurement on this machine: {held_by}; Ctrl-C to give up"
        ));
    });
    let lock = lock.map_err(|held_by| {
        anyhow!("another measurement is running on this machine: {held_by}; without --no-wait, latlas waits")
    })?;
    match lock.remark() {
        Some(remark @ LockRemark::Unavailable(_)) if options.no_wait => {
            bail!("{remark}; without --no-wait, latlas measures anyway")
        }
        Some(remark) => output::message(remark),
        None => {}
    }
    Ok(Lock(lock))
}

/// Measures with a bar on stderr, until it is done or Ctrl-C.
pub fn measure(catalogue: &[Probe], plan: &Plan, machine: Machine) -> anyhow::Result<Run> {
    let stop = stop_on_signals()?;
    output::announce(plan.total(), "");
    let mut bar = Bar::on_stderr();
    let program = program::program(&machine);
    let measured = conduct(catalogue, plan, machine, program, &mut bar, stop);
    bar.clear();
    Ok(measured?)
}

/// The first Ctrl-C (or SIGTERM, or SIGHUP without `nohup`) stops measuring and keeps the samples; a second one,
/// more than a second later, kills latlas. The flag is global: it stops later measurements of
/// this process too.
pub fn stop_on_signals() -> anyhow::Result<&'static AtomicBool> {
    let stop = sys::stop::on_request().context("can't install a signal handler")?;
    store::give_up_when(stop);
    Ok(stop)
}

/// The store of a run, checked before measuring; `None` where it can't be stored but is also
/// written `elsewhere`.
///
/// # Errors
/// If the run would be lost.
pub fn writable_store(elsewhere: bool) -> anyhow::Result<Option<Store>> {
    let usable = |store: Store| store.check_keepable().map(|()| store);
    match Store::of_user().and_then(usable) {
        Ok(store) => Ok(Some(store)),
        Err(error) if elsewhere => {
            output::message(format_args!("the run will not be stored: {error}"));
            Ok(None)
        }
        Err(error) => {
            let in_database =
                matches!(error, StoreError::Database { .. } | StoreError::Settings { .. });
            let else_where = match in_database {
                true => "use --store DIR",
                false => "set LATLAS_DATA_DIR to a writable directory",
            };
            bail!("can't store the run: {error} ({else_where}, or add --out FILE)")
        }
    }
}

/// Stores the run; its path. An error since the check is printed, so that the table is not lost.
pub fn keep(run: &Run, store: Option<&Store>) -> Option<String> {
    let store = store?;
    match index::keep(store, run) {
        Ok((path, messages)) => {
            super::atlas::print_messages(&messages);
            Some(store.display_path(&path))
        }
        Err(error) => {
            match keep_here(run, store) {
                Some(file) => {
                    let file = file.display();
                    output::message(format_args!(
                        "{error}; the run is stored as {file}; when the store answers again: \
                         latlas import --format run {file} --store {}",
                        store.place()
                    ));
                }
                None => output::message(format_args!("the run was not stored: {error}")),
            }
            None
        }
    }
}

/// Stores a run that its database did not take in the data directory, and says where.
fn keep_here(run: &Run, store: &Store) -> Option<PathBuf> {
    let here = Store::in_directory(&store::data_dir().ok().filter(|_| store.is_database())?);
    index::keep(&here, run).ok().map(|(path, _)| path)
}

/// The exit code of a run, and of whether it was stored nowhere.
pub fn exit_code(run: &Run, lost: bool) -> ExitCode {
    match model::tally::reliable(run) && !lost {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    }
}
