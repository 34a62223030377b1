//! A system-wide control that is on while one job runs, and off before the next.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Why a control can't be switched.
#[derive(thiserror::Error, Debug)]
pub enum ToggleError {
    /// It can't begin.
    #[error(transparent)]
    Tune(#[from] crate::tune::TuneError),
    /// No value could be set; the reason of the first.
    #[error("{0}")]
    NotSet(String),
    #[error("already set")]
    AlreadySet,
    /// Not everything could be restored.
    #[error("{0}")]
    NotRestored(String),
    #[error("can't switch {name} off: {why}; `latlas noise restore` restores it")]
    StillOn { name: String, why: Box<ToggleError> },
}

/// Switched on and off many times. The real one restores exactly what it found,
/// and its watchdog does if this process is killed.
pub trait Toggle {
    /// Switches it on. Returns the control groups for the job to join.
    fn on(&mut self) -> Result<Vec<PathBuf>, ToggleError>;

    /// Switches it off: everything is as before [`on`](Toggle::on).
    fn off(&mut self) -> Result<(), ToggleError>;

    /// Caveats of all its turns so far, a sentence each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// By the name of the control.
pub type Toggles<'f> = BTreeMap<String, Box<dyn Toggle + 'f>>;

/// What came of switching each once.
#[derive(Debug, Default)]
pub struct Rehearsed {
    /// Those that can't be switched on, with the reason.
    pub refused: BTreeMap<String, ToggleError>,
    /// How long the others took, on and off, ms.
    pub took_ms: BTreeMap<String, f64>,
}

/// Switches each on and off once, before anything is measured. Those that
/// can't be switched on are taken out.
///
/// # Errors
/// One that could not be switched off again: nothing is measured then.
pub fn rehearse(toggles: &mut Toggles) -> Result<Rehearsed, ToggleError> {
    let mut rehearsed = Rehearsed::default();
    for (name, toggle) in toggles.iter_mut() {
        let began = Instant::now();
        let on = toggle.on();
        // Also where it did not get on: half of it may be.
        toggle.off().map_err(|why| still_on(name, why))?;
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        match on {
            Ok(_) => drop(rehearsed.took_ms.insert(name.clone(), took_ms)),
            Err(why) => drop(rehearsed.refused.insert(name.clone(), why)),
        }
    }
    toggles.retain(|name, _| !rehearsed.refused.contains_key(name));
    Ok(rehearsed)
}

/// One that can't be switched off.
pub fn still_on(name: &str, why: ToggleError) -> ToggleError {
    ToggleError::StillOn { name: name.to_owned(), why: Box::new(why) }
}
