//! Time and memory of the commands that read documents, and of an upload, over the number
//! of rows: each row has 40 samples, so both grow together.

use crate::bars::Bars;
use crate::made_up::{MadeUp, row_id};
use crate::table::{TextTable, three_digits};
use anyhow::Context;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Rows of the smallest document; the others have 4 and 16 times as many
    #[arg(long, default_value_t = 1000)]
    rows: u32,
    /// Runs of each command, of which the shortest counts
    #[arg(long, default_value_t = 3)]
    runs: u32,
}

/// Documents, over the smallest.
const SIZES: [u32; 3] = [1, 4, 16];
/// A cost may grow so many times as fast as the rows.
const LINEAR: f64 = 1.3;
/// How often the memory of a command is read.
const WATCH: Duration = Duration::from_millis(2);

/// What a command took.
#[derive(Clone, Copy)]
struct CommandCost {
    seconds: f64,
    peak_mib: f64,
}

pub fn check_linear(arguments: &Arguments) -> anyhow::Result<Bars> {
    let directory = tempfile::tempdir()?;
    let row = row_id(0);
    let page = directory.path().join("page.html");
    let page = page.to_str().context("a directory with another name")?;
    let commands: [(&str, &[&str]); 13] = [
        ("show", &["show", "FILE"]),
        ("show --all", &["show", "--all", "FILE"]),
        ("show --wide", &["show", "--wide", "FILE"]),
        ("show --document", &["show", "--document", "FILE"]),
        ("compare", &["compare", "FILE", "FILE"]),
        ("report", &["report", "FILE", "-o", page, "--force"]),
        ("plot", &["plot", "ladder", "FILE", "-o", "-"]),
        ("export", &["export", "FILE", "--format", "csv"]),
        ("import", &["import", "FILE"]),
        ("serve", &["serve", "--listen", "127.0.0.1:0"]),
        ("history", &["history", &row, "--machine", "made-up-0"]),
        ("atlas verify", &["atlas", "verify"]),
        ("atlas rebuild", &["atlas", "rebuild"]),
    ];
    let mut documents = Vec::new();
    for times in SIZES {
        let rows = arguments.rows * times;
        let data = directory.path().join(rows.to_string());
        let file = directory.path().join(format!("{rows}.json"));
        let run = MadeUp::new(rows, 1, 1)?.numbered_run(0);
        store::write_run(&run, &file)?;
        store::Store::in_directory(&data).save(&run)?;
        documents.push((data, file));
    }
    let mut bars = Bars::new();
    let mut table =
        TextTable::new(&["command", "1x, s", "4x, s", "16x, s", "16x / 16", "MiB", "MiB", "MiB"]);
    for (name, words) in commands {
        let costs = documents.iter().map(|(data, file)| {
            let all =
                (0..arguments.runs.max(1)).map(|_| cost(&arguments.latlas, words, data, file));
            let all = all.collect::<anyhow::Result<Vec<CommandCost>>>()?;
            let shortest = all.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
            shortest.context("no run")
        });
        let costs = costs.collect::<anyhow::Result<Vec<CommandCost>>>()?;
        // What every command takes, however small its document, is no part of the growth.
        let [few, some, many] = [costs[0], costs[1], costs[2]];
        let grown = |of: fn(CommandCost) -> f64| {
            // Of what hardly grows, the difference of two is the machine's noise.
            let step = (of(some) - of(few)).max(of(some) / 8.0);
            (of(many) - of(some)) / step / 4.0
        };
        let (time, memory) = (grown(|c| c.seconds), grown(|c| c.peak_mib));
        let seconds = costs.iter().map(|cost| three_digits(Some(cost.seconds)));
        let peaks = costs.iter().map(|cost| three_digits(Some(cost.peak_mib)));
        let cells = [name.to_owned()].into_iter().chain(seconds);
        table.add_line(cells.chain([three_digits(Some(time))]).chain(peaks).collect());
        bars.at_most(&format!("{name}: time over linear, 4x to 16x"), Some(time), LINEAR, "");
        bars.at_most(&format!("{name}: memory over linear, 4x to 16x"), Some(memory), LINEAR, "");
    }
    table.print("Time and peak memory by rows");
    Ok(bars)
}

fn cost(latlas: &Path, words: &[&str], data: &Path, file: &Path) -> anyhow::Result<CommandCost> {
    let empty = tempfile::tempdir()?;
    let mut command = Command::new(latlas);
    match words[0] {
        "import" | "serve" => command.env("LATLAS_DATA_DIR", empty.path()),
        _ => command.env("LATLAS_DATA_DIR", data),
    };
    for word in words {
        match *word {
            "FILE" => command.arg(file),
            word => command.arg(word),
        };
    }
    if words[0] == "serve" {
        return upload(command, file);
    }
    let mut said = tempfile::tempfile()?;
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.try_clone()?)
        .spawn()
        .with_context(|| format!("can't start {}", latlas.display()))?;
    let mut peak_kib = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak_kib = peak(child.id()).unwrap_or(peak_kib);
        std::thread::sleep(WATCH);
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut why = String::new();
    said.rewind()?;
    said.read_to_string(&mut why)?;
    anyhow::ensure!(matches!(status.code(), Some(0 | 3)), "{words:?}: {status}: {why}");
    Ok(CommandCost { seconds, peak_mib: peak_kib / 1024.0 })
}

/// What a server takes for an upload, from the first byte to its answer.
fn upload(mut server: Command, file: &Path) -> anyhow::Result<CommandCost> {
    let document = std::fs::read(file)?;
    let server = server.stdin(Stdio::null()).stdout(Stdio::null());
    let mut server = KilledOnDrop(server.stderr(Stdio::piped()).spawn()?);
    let said = server.0.stderr.take().context("its output is a pipe")?;
    let mut lines = BufReader::new(said).lines();
    let address = loop {
        let line = lines.next().context("the server ended")??;
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split(['/', ' ']).next().unwrap_or(rest).to_owned();
        }
    };
    let began = Instant::now();
    let mut stream = TcpStream::connect(&address)?;
    let length = document.len();
    write!(
        stream,
        "POST /api/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&document)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let seconds = began.elapsed().as_secs_f64();
    let status = answer.lines().next().unwrap_or_default();
    anyhow::ensure!(status.contains("201"), "the upload was answered: {status}");
    let peak_kib = peak(server.0.id()).context("the server is gone")?;
    Ok(CommandCost { seconds, peak_mib: peak_kib / 1024.0 })
}

/// A process that ends with this value.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Peak memory of a process so far, KiB.
fn peak(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
