//! A control of the whole system that is on while one job runs, and off again
//! before the next.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Something that is switched on and off many times. The one that is real
/// puts back exactly what it found, and so does a process beside it if this
/// one is killed while it is on.
pub trait Toggle {
    /// Switches it on. Gives the control groups that the job is to join, if it
    /// makes some.
    ///
    /// # Errors
    /// Why it is still off, in one line.
    fn on(&mut self) -> Result<Vec<PathBuf>, String>;

    /// Switches it off: everything is as it was before [`on`](Toggle::on).
    ///
    /// # Errors
    /// What is not, in one line.
    fn off(&mut self) -> Result<(), String>;

    /// What a reader must know of all its turns so far, one sentence each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// By the name of the control.
pub type Toggles<'f> = BTreeMap<String, Box<dyn Toggle + 'f>>;

/// What came of switching each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rehearsed {
    /// Those that can't be switched on, with the reason.
    pub refused: BTreeMap<String, String>,
    /// How long the others took, on and off, ms.
    pub took_ms: BTreeMap<String, f64>,
}

/// Switches each on and off once, before anything is measured. Those that
/// can't be switched on are taken out.
///
/// # Errors
/// One that could not be switched off again: nothing is measured then.
pub fn rehearse(toggles: &mut Toggles) -> Result<Rehearsed, String> {
    let mut rehearsed = Rehearsed::default();
    for (name, toggle) in toggles.iter_mut() {
        let began = Instant::now();
        let on = toggle.on();
        // Also where it did not get on: half of it may be.
        toggle.off().map_err(|why| still_on(name, &why))?;
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        match on {
            Ok(_) => drop(rehearsed.took_ms.insert(name.clone(), took_ms)),
            Err(why) => drop(rehearsed.refused.insert(name.clone(), why)),
        }
    }
    toggles.retain(|name, _| !rehearsed.refused.contains_key(name));
    Ok(rehearsed)
}

/// What is to be done about one that is still on.
pub fn still_on(name: &str, why: &str) -> String {
    format!("{name} could not be switched off again: {why}; `latlas noise restore` puts it back")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Scripted {
        log: Rc<RefCell<Vec<&'static str>>>,
        on: Result<(), String>,
        off: Result<(), String>,
    }

    impl Toggle for Scripted {
        fn on(&mut self) -> Result<Vec<PathBuf>, String> {
            self.log.borrow_mut().push("on");
            std::thread::sleep(std::time::Duration::from_millis(3));
            self.on.clone().map(|()| Vec::new())
        }

        fn off(&mut self) -> Result<(), String> {
            self.log.borrow_mut().push("off");
            self.off.clone()
        }
    }

    #[test]
    fn what_refuses_is_taken_out_and_what_stays_on_ends_it() {
        let log = Rc::default();
        let one = |on: Result<(), &str>, off: Result<(), &str>| -> Box<dyn Toggle> {
            Box::new(Scripted {
                log: Rc::clone(&log),
                on: on.map_err(Into::into),
                off: off.map_err(Into::into),
            })
        };
        let mut toggles = Toggles::from([
            ("governor".into(), one(Err("read-only"), Ok(()))),
            ("thp".into(), one(Ok(()), Ok(()))),
        ]);
        let rehearsed = rehearse(&mut toggles).expect("all are off");
        assert_eq!(rehearsed.refused["governor"], "read-only");
        assert_eq!(rehearsed.took_ms.keys().collect::<Vec<_>>(), ["thp"]);
        assert!(rehearsed.took_ms["thp"] >= 3.0, "{rehearsed:?}");
        assert_eq!(toggles.keys().collect::<Vec<_>>(), ["thp"]);
        assert_eq!(*log.borrow(), ["on", "off", "on", "off"]);
        toggles.insert("turbo".into(), one(Ok(()), Err("busy")));
        let error = rehearse(&mut toggles).expect_err("turbo");
        assert!(error.contains("turbo") && error.contains("busy"), "{error}");
        assert!(error.contains("latlas noise restore"), "{error}");
    }
}
