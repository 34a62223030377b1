//! Files and the disk beside LMbench and fio: by turns in one session, pinned
//! alike, in the same directory.

use anyhow::{Context, bail};
use bench::bars::Bars;
use bench::beside::{self, Comparison, Figure, Find, Report, Side, Statistic, same, same_rate};
use bench::ours::{self, Task};
use bench::process::{on_cpu, output, peer};
use clap::Parser;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Rows of files beside LMbench's bw_file_rd and lat_fs (its programs'
/// directory in LMBENCH), rows of the disk beside fio (path in FIO): medians
/// of the ratios of alternated pairs.
#[derive(Parser)]
struct Arguments {
    /// Pairs of each comparison
    #[arg(long, default_value_t = 11)]
    pairs: u32,
    /// Length of one measurement of ours, s
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The CPU; the last allowed one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// The directory for both sides' files, on a disk
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Only groups whose name contains this
    #[arg(long)]
    only: Option<String>,
}

/// Which program a group runs, and with what.
#[derive(Clone, Copy)]
enum Tool {
    /// bw_file_rd of a file of this many bytes, its way.
    Read(u64, &'static str),
    /// lat_fs of all its sizes.
    Files,
    /// fio: its rw, its bs.
    Fio(&'static str, u64),
}

/// Figures that one run of a program prints.
struct Group {
    name: &'static str,
    tool: Tool,
    rows: &'static [&'static str],
    /// Only these points of curves.
    points: &'static [u64],
    figures: &'static [Figure],
    /// Which of ours stands beside what the program prints.
    statistic: Statistic,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// What fio reads: as large as the file of our rows.
const DISK_BYTES: u64 = 256 * MIB;

/// MB/s of a file of so many bytes are ns: bytes * 1000 over them.
macro_rules! reading {
    ($name:literal, $way:literal, $row:literal, $at:literal, $bytes:expr, $begin:literal) => {
        Group {
            name: $name,
            tool: Tool::Read($bytes, $way),
            rows: &[$row],
            points: &[$bytes],
            figures: &[same_rate(
                concat!($row, "@", $at),
                Find::Column($begin, 1),
                $bytes as f64 * 1e3,
            )],
            statistic: Statistic::Median,
        }
    };
}

const GROUPS: &[Group] = &[
    reading!(
        "1 KiB, open file",
        "io_only",
        "file.read_open/as_lmbench",
        "1024",
        KIB,
        "0.001024"
    ),
    reading!(
        "64 KiB, open file",
        "io_only",
        "file.read_open/as_lmbench",
        "65536",
        64 * KIB,
        "0.065536"
    ),
    reading!(
        "1 MiB, open file",
        "io_only",
        "file.read_open/as_lmbench",
        "1048576",
        MIB,
        "1.05"
    ),
    reading!(
        "10 MiB, open file",
        "io_only",
        "file.read_open/as_lmbench",
        "10485760",
        10 * MIB,
        "10.49"
    ),
    reading!(
        "1 KiB, with open",
        "open2close",
        "file.read_with_open/as_lmbench",
        "1024",
        KIB,
        "0.001024"
    ),
    reading!(
        "64 KiB, with open",
        "open2close",
        "file.read_with_open/as_lmbench",
        "65536",
        64 * KIB,
        "0.065536"
    ),
    reading!(
        "1 MiB, with open",
        "open2close",
        "file.read_with_open/as_lmbench",
        "1048576",
        MIB,
        "1.05"
    ),
    reading!(
        "10 MiB, with open",
        "open2close",
        "file.read_with_open/as_lmbench",
        "10485760",
        10 * MIB,
        "10.49"
    ),
    Group {
        name: "create and delete",
        tool: Tool::Files,
        rows: &["file.create", "file.delete"],
        points: &[0, KIB, 4 * KIB, 10 * KIB],
        figures: &[
            same_rate("file.create@0", Find::Column("0k", 2), 1e9),
            same_rate("file.delete@0", Find::Column("0k", 3), 1e9),
            same_rate("file.create@1024", Find::Column("1k", 2), 1e9),
            same_rate("file.delete@1024", Find::Column("1k", 3), 1e9),
            same_rate("file.create@4096", Find::Column("4k", 2), 1e9),
            same_rate("file.delete@4096", Find::Column("4k", 3), 1e9),
            same_rate("file.create@10240", Find::Column("10k", 2), 1e9),
            same_rate("file.delete@10240", Find::Column("10k", 3), 1e9),
        ],
        // Files over the time of all of them, thousands at a time.
        statistic: Statistic::Mean,
    },
    Group {
        name: "fio: random read of 4 KiB",
        tool: Tool::Fio("randread", 4 * KIB),
        rows: &["disk.random_read_4K"],
        points: &[],
        figures: &[same("disk.random_read_4K", Find::SecondLine, 1.0)],
        statistic: Statistic::Median,
    },
    Group {
        name: "fio: sequential read of 1 MB",
        tool: Tool::Fio("read", 1_003_520),
        rows: &["disk.read_sequential_1MB"],
        points: &[],
        figures: &[same("disk.read_sequential_1MB", Find::SecondLine, 1.0)],
        statistic: Statistic::Median,
    },
];

fn main() -> ExitCode {
    ours::enter_if_child();
    bench::finish(compare(&Arguments::parse()))
}

/// The programs that were named, and the files that they read.
struct Peers {
    lmbench: Option<PathBuf>,
    fio: Option<PathBuf>,
    files: tempfile::TempDir,
    seconds: f64,
}

impl Peers {
    /// The command of a group; `None` where its peer is not named.
    fn command(&self, group: &Group, cpu: u32) -> Option<Command> {
        let lmbench = |program: &str| {
            let mut command = on_cpu(&self.lmbench.as_ref()?.join(program), Some(cpu));
            command
                .envs([("ENOUGH", "50000"), ("LOOP_O", "0"), ("TIMING_O", "0")])
                // It would go before the directory that is named.
                .env_remove("TMPDIR")
                .args(["-N", "5"]);
            Some(command)
        };
        match group.tool {
            Tool::Read(bytes, way) => {
                let mut command = lmbench("bw_file_rd")?;
                command
                    .args([&bytes.to_string(), way])
                    .arg(self.read_file());
                Some(command)
            }
            Tool::Files => {
                let mut command = lmbench("lat_fs")?;
                command.arg(self.files.path());
                Some(command)
            }
            Tool::Fio(rw, bs) => {
                let mut command = on_cpu(self.fio.as_ref()?, Some(cpu));
                command
                    .args(["--name=ours", "--ioengine=psync", "--direct=1", "--thread"])
                    .args(["--output-format=json", "--time_based", "--invalidate=0"])
                    .arg(format!("--rw={rw}"))
                    .arg(format!("--bs={bs}"))
                    .arg(format!("--size={DISK_BYTES}"))
                    .arg(format!("--runtime={:.0}", self.seconds.max(1.0)))
                    .arg(format!("--filename={}", self.disk_file().display()));
                Some(command)
            }
        }
    }

    fn read_file(&self) -> PathBuf {
        self.files.path().join("read")
    }

    fn disk_file(&self) -> PathBuf {
        self.files.path().join("disk")
    }
}

/// A file of random bytes, on the disk.
fn fill(path: &Path, bytes: u64) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    let mut rng = fastrand::Rng::with_seed(1);
    let mut piece = vec![0; MIB as usize];
    for _ in 0..bytes / MIB {
        rng.fill(&mut piece);
        file.write_all(&piece)?;
    }
    Ok(file.sync_all()?)
}

fn compare(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpu = ours::cpu(arguments.cpu)?;
    let peers = Peers {
        lmbench: peer("LMBENCH"),
        fio: peer("FIO"),
        files: tempfile::tempdir_in(&arguments.dir)
            .with_context(|| format!("no directory in {}", arguments.dir.display()))?,
        seconds: arguments.seconds,
    };
    let wanted = |group: &&Group| {
        let only = arguments.only.as_ref();
        only.is_none_or(|only| group.name.contains(only.as_str()))
    };
    let groups: Vec<&Group> = GROUPS.iter().filter(wanted).collect();
    if groups.is_empty() {
        bail!("no group has that in its name");
    }
    fill(&peers.read_file(), 10 * MIB).context("no file to read")?;
    if peers.fio.is_some() && groups.iter().any(|g| matches!(g.tool, Tool::Fio(..))) {
        fill(&peers.disk_file(), DISK_BYTES).context("no file for fio")?;
    }
    println!(
        "CPU {cpu}, {} alternated pairs, ours {} s each; files in {}; ratios are ours / the peer's time",
        arguments.pairs,
        arguments.seconds,
        arguments.dir.display()
    );
    let mut report = Report::default();
    for group in groups {
        if peers.command(group, cpu).is_none() {
            println!("{}: its peer is not named, left out", group.name);
            continue;
        }
        let comparison = Comparison {
            name: group.name,
            task: Task {
                points: group.points.to_vec(),
                dir: Some(arguments.dir.clone()),
                ..Task::filling(group.rows, arguments.seconds, cpu)
            },
            figures: group.figures,
            statistic: group.statistic,
        };
        report.add(arguments.pairs, &comparison, || {
            measure_theirs(group, &peers, cpu)
        });
    }
    Ok(report.print())
}

fn measure_theirs(group: &Group, peers: &Peers, cpu: u32) -> anyhow::Result<Side> {
    let mut command = peers.command(group, cpu).context("no peer")?;
    let (out, err, wall) = output(&mut command)?;
    let figures = match group.tool {
        Tool::Fio(..) => group
            .figures
            .iter()
            .map(|figure| Ok((figure.ours.to_string(), of_fio(&out)?)))
            .collect::<anyhow::Result<BTreeMap<_, _>>>(),
        Tool::Read(..) | Tool::Files => beside::read(group.figures, &format!("{out}\n{err}")),
    };
    let figures = figures.with_context(|| format!("{command:?}"))?;
    Ok((figures, wall))
}

/// Median and mean of fio's completion latencies, ns: with psync that is the
/// time of the call.
fn of_fio(json: &str) -> anyhow::Result<[f64; 2]> {
    // Notes may stand before the document.
    let json = &json[json.find('{').context("fio printed no document")?..];
    let document: Value = serde_json::from_str(json).context("fio's document can't be read")?;
    let latency = &document["jobs"][0]["read"]["clat_ns"];
    let number = |value: &Value| value.as_f64().filter(|&ns| ns > 0.0);
    number(&latency["percentile"]["50.000000"])
        .zip(number(&latency["mean"]))
        .map(|(median, mean)| [median, mean])
        .context("fio's document has no latency of reads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_rows_exist_and_every_figure_is_of_its_groups_rows() {
        for group in GROUPS {
            let found = beside::of_our_rows(group.rows, group.figures);
            assert_eq!(found, Ok(()), "{}", group.name);
            for figure in group.figures {
                let point = figure.ours.split_once('@').map(|(_, at)| at.parse());
                let own = point.is_none_or(|at| at.is_ok_and(|at| group.points.contains(&at)));
                assert!(own, "{}: {}", group.name, figure.ours);
            }
        }
    }

    #[test]
    fn both_of_fios_figures_are_read() {
        let json = r#"note: x
            {"jobs": [{"read": {"clat_ns": {"mean": 58.5, "percentile": {"50.000000": 57}}}}]}"#;
        assert_eq!(of_fio(json).expect("both"), [57.0, 58.5]);
        assert!(of_fio("no latency").is_err());
        let none = r#"{"jobs": [{"read": {"clat_ns": {"mean": 0.0}}}]}"#;
        assert!(of_fio(none).is_err());
    }

    #[test]
    fn a_rate_of_lmbench_is_ns_of_our_operation() {
        let of = |name: &str, text: &str| {
            let group = GROUPS.iter().find(|group| group.name == name);
            beside::read(group.expect("a group").figures, text).expect("a figure")
        };
        let read = of("1 KiB, open file", "0.001024 512.00\n");
        assert_eq!(read["file.read_open/as_lmbench@1024"], [2000.0; 2]);
        let read = of("10 MiB, with open", "10.49 10485.76\n");
        assert_eq!(read["file.read_with_open/as_lmbench@10485760"], [1e6; 2]);
        let text = "0k\t9\t100000\t200000\n1k\t9\t1\t2\n4k\t9\t3\t4\n10k\t9\t5\t8\n";
        let files = of("create and delete", text);
        assert_eq!(files["file.create@0"], [10_000.0; 2]);
        assert_eq!(files["file.delete@10240"], [1.25e8; 2]);
    }
}
