//! Two writers on one atlas, each killed with SIGKILL at random moments: what
//! was acknowledged is kept, what is kept is whole, and the index agrees.

use crate::bars::Bars;
use crate::made_up::MadeUp;
use anyhow::Context;
use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::Store;
use store::index::{self, Index};

#[derive(clap::Args)]
pub struct Arguments {
    /// Kills
    #[arg(long, default_value_t = 100)]
    times: u32,
    /// Latest moment of a kill, ms after the one before
    #[arg(long, default_value_t = 150)]
    latest_ms: u64,
    /// Results of each run
    #[arg(long, default_value_t = 300)]
    results: u32,
    /// Of the moments and figures
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to make the atlas (removed again)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// In a process of its own: keep runs there without end
    #[arg(long, hide = true)]
    write: Option<PathBuf>,
}

/// Keeps runs, and prints the id of each as soon as it is acknowledged.
fn write(data: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let store = Store::in_directory(data);
    let mut made_up = MadeUp::new(arguments.results, 2, arguments.seed)?;
    for number in 0.. {
        let run = made_up.run(number);
        let (_, messages) = index::keep(&store, &run)?;
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", run.id)?;
        stdout.flush()?;
        messages.iter().for_each(|line| eprintln!("{line}"));
    }
    Ok(())
}

/// A writer, and where what it printed is collected.
struct Writer {
    child: Child,
    output: PathBuf,
}

impl Writer {
    fn start(data: &Path, arguments: &Arguments, number: u32) -> anyhow::Result<Writer> {
        // A file, since a pipe that nobody reads fills.
        let output = data.with_file_name(format!("output-{number}"));
        let file = std::fs::File::create(&output)?;
        let child = Command::new(std::env::current_exe()?)
            .args(["atlas-kills", "--write"])
            .arg(data)
            .args(["--results", &arguments.results.to_string()])
            .args([
                "--seed",
                &(arguments.seed * 10_000 + u64::from(number)).to_string(),
            ])
            .stdin(Stdio::null())
            .stdout(file)
            .spawn()
            .context("can't start a writer")?;
        Ok(Writer { child, output })
    }

    /// Kills it and says what it had acknowledged.
    fn kill(mut self) -> anyhow::Result<Vec<String>> {
        let ended = self.child.try_wait()?;
        anyhow::ensure!(ended.is_none(), "a writer ended by itself: {ended:?}");
        self.child.kill()?;
        self.child.wait()?;
        let mut text = String::new();
        std::fs::File::open(&self.output)?.read_to_string(&mut text)?;
        // What stands behind the last line's end was never said.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        Ok(whole.lines().map(str::to_owned).collect())
    }
}

pub fn claim(arguments: &Arguments) -> anyhow::Result<Bars> {
    if let Some(data) = &arguments.write {
        write(data, arguments)?;
        return Ok(Bars::new());
    }
    let dir = match &arguments.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let data = dir.path().join("data");
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let mut number = 0;
    let mut start = || {
        number += 1;
        Writer::start(&data, arguments, number)
    };
    let mut writers = [Some(start()?), Some(start()?)];
    let mut acknowledged = Vec::new();
    for _ in 0..arguments.times {
        std::thread::sleep(Duration::from_micros(
            rng.u64(0..arguments.latest_ms * 1000),
        ));
        let slot = &mut writers[rng.usize(0..2)];
        if let Some(writer) = slot.take() {
            acknowledged.extend(writer.kill()?);
        }
        *slot = Some(start()?);
    }
    for writer in writers.into_iter().flatten() {
        acknowledged.extend(writer.kill()?);
    }

    let index = Index::open(Store::in_directory(&data))?;
    let messages = index.messages();
    let kept: HashSet<String> = index.runs()?.into_iter().map(|run| run.id).collect();
    let lost = acknowledged.iter().filter(|id| !kept.contains(*id)).count();
    let verified = index.verify()?;
    println!(
        "{} kills, {} runs acknowledged, {} kept, {} results compared",
        arguments.times,
        acknowledged.len(),
        kept.len(),
        verified.results
    );
    messages
        .iter()
        .for_each(|line| println!("opening said: {line}"));
    for damage in verified.damaged.iter().chain(&verified.index) {
        println!("{}: {}", damage.path.display(), damage.what);
    }
    let mut bars = Bars::new();
    bars.hold(
        lost == 0,
        format!(
            "acknowledged and lost: {lost} of {} (none)",
            acknowledged.len()
        ),
    );
    bars.hold(
        verified.damaged.is_empty(),
        format!(
            "documents that are not whole: {} (none)",
            verified.damaged.len()
        ),
    );
    bars.hold(
        verified.index.is_empty() && messages.is_empty(),
        format!("where the index differs: {} (none)", verified.index.len()),
    );
    bars.hold(
        acknowledged.len() as u32 >= arguments.times / 2,
        format!(
            "runs acknowledged: {} (at least half as many as kills)",
            acknowledged.len()
        ),
    );
    Ok(bars)
}
