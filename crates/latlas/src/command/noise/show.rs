//! `latlas noise show`: every control of noise, and what to do about it.

use crate::arguments::noise::show::ShowOptions;
use crate::{UNRELIABLE, output};
use anyhow::ensure;
use model::noise::control::Controls;
use noise::tune::StateDir;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use sys::files::Tree;
use view::render;

/// Between two readings of which processes take the CPU.
const LOOK: Duration = Duration::from_millis(200);

/// Shows the controls of this machine, or of a copied tree.
pub(super) fn show(options: &ShowOptions) -> anyhow::Result<ExitCode> {
    let controls = match &options.root {
        None => of_this_machine(),
        Some(root) => {
            ensure!(root.is_dir(), "no directory {}", root.display());
            of_a_tree(root)
        }
    };
    output::show_json_or(options.json, &controls, options.color, || {
        render::noise::controls_blocks(&controls, options.wide)
    })?;
    Ok(match controls.advice.is_empty() && controls.pending.is_none() && controls.sees() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(UNRELIABLE),
    })
}

fn of_this_machine() -> Controls {
    let root = Path::new("/");
    let controls = noise::control::inspect_controls(
        &Tree::new(root),
        &sys::machine_facts(root),
        sys::power::power(),
        &mut || std::thread::sleep(LOOK),
    );
    Controls { pending: noise::tune::pending(&StateDir::system()), ..controls }
}

/// No time passes in a copied tree.
fn of_a_tree(root: &Path) -> Controls {
    let machine = super::facts_of_tree(root);
    noise::control::inspect_controls(&Tree::new(root), &machine, None, &mut || ())
}
