//! `latlas show`: prints a stored run.

use super::{drawing, named};
use crate::arguments::Look;
use crate::output;
use compare::references::References;
use std::process::ExitCode;
use store::{self, Store};

pub(crate) fn show(name: &str, json: bool, look: &Look) -> anyhow::Result<ExitCode> {
    let references = References::embedded()?;
    let mut options = drawing(&references, look)?;
    let store = Store::of_user();
    let path = named(name, &store)?;
    if json {
        output::print(&output::document(&store::read_as_it_is(&path)?)?)?;
    } else {
        options.kept = Some(match &store {
            Ok(store) => store.shown(&path),
            Err(_) => path.display().to_string(),
        });
        let run = store::read(&path)?;
        output::show(&view::render::run(&run, &references, &options), look.color)?;
    }
    Ok(ExitCode::SUCCESS)
}
