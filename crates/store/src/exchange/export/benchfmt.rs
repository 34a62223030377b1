//! Go's benchmark format, which `benchstat` reads
//! (<https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md>): a line a repetition, which is one
//! worker process's median. A name begins with `Benchmark` and no lower-case letter, and has no spaces.

use super::line::{BELOW_ZERO, ExportLine, started};
use super::{Written, each};
use model::run::Run;
use std::fmt::Write;

/// The file, and what it has no place for.
pub(super) fn to_benchfmt(run: &Run, lines: &[ExportLine]) -> Written {
    let mut text = String::new();
    let fact = |key: &str, value: Option<String>| {
        value.map_or(String::new(), |value| format!("{key}: {}\n", one_line(&value)))
    };
    text += &fact("cpu", run.machine.cpu_model.get().cloned());
    text += &fact("os", run.machine.os.get().cloned());
    // As comments: benchstat sets only runs beside each other of which all facts are the same.
    text += &fact("# run", Some(run.id.clone()));
    text += &fact("# started", started(run));
    text += &fact("# partial", run.partial.clone());
    text += &fact("# emulated", run.program.emulated.clone());
    let (entries, left_out) = each(lines, |line| {
        line.must_be_a_time()?;
        let (figure_ns, _) = line.figure_ns().ok_or_else(|| line.left_out())?;
        let times_ns = line.repetitions_or(run, figure_ns);
        if times_ns.iter().any(|&ns| ns < 0.0) {
            return Err(line.left_out_because(BELOW_ZERO.into()));
        }
        let mut entry = match line.is_ok() {
            true => String::new(),
            // A line of its own, which readers skip.
            false => format!("# {}: {}\n", line.verdict_text(), one_line(&line.reason())),
        };
        let name = line.unique_name().replace(char::is_whitespace, "_");
        for ns in times_ns {
            let _ = writeln!(entry, "Benchmark/{name} 1 {ns} ns/op");
        }
        Ok(entry)
    });
    Ok((text + "\n" + &entries.concat(), left_out))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
