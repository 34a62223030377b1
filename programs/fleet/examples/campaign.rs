//! A campaign over many hosts, to measure `latlas fleet status` and `collect` with:
//! `cargo run --release -p latlas-fleet --example campaign -- DIRECTORY [HOSTS [ROWS [REPETITIONS]]]` makes its
//! directory, with a document and a record for each job. Its hosts are called `made-up-N`, its name is `made-up`.

use fleet::campaign::Campaign;
use fleet::directory::Directory;
use fleet::record::{Record, Stage};
use fleet::submission::{ProgramFile, Submission};
use model::campaign::Job;
use model::machine::Fact;
use model::run::{Row, Run};
use model::synthetic;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("which directory?")?;
    let number = |n: usize, usual: u32| arguments.get(n).map_or(Ok(usual), |text| text.parse());
    let (hosts, rows, repetitions) = (number(1, 10_000)?, number(2, 100)?, number(3, 1)?);
    let directory = Directory::at(Path::new(path));
    let template = template(rows)?;
    let submission = directory.begin_submission(submission(&template, hosts, repetitions)?)?;
    for (n, host) in submission.hosts.iter().enumerate() {
        for repetition in 1..=repetitions {
            let run = job_run(&template, &submission, (n as u32, host), repetition);
            let Some(job) = run.job.clone() else { continue };
            store::write_run(&run, &directory.result(&job))?;
            let record = Record {
                job,
                started_unix_ms: run.started_unix_ms,
                reference_unix_ms: Some(run.started_unix_ms),
                stage: Stage::Finished,
            };
            record.write(&directory)?;
        }
    }
    println!("{path}: {hosts} hosts, {repetitions} documents of {rows} rows each");
    Ok(())
}

/// A run of so many rows.
fn template(rows: u32) -> Result<Run, Box<dyn Error>> {
    let mut run = synthetic::run();
    let row = run.row("cpu.add_i32").ok_or("no such row")?.clone();
    run.partial = None;
    run.cells.clear();
    let row = |n| Row { id: format!("made_up.row_{n}"), ..row.clone() };
    run.rows = (0..rows).map(row).collect();
    Ok(run)
}

/// The campaign as it was submitted before the runs began.
fn submission(template: &Run, hosts: u32, repetitions: u32) -> Result<Submission, Box<dyn Error>> {
    let hosts: Vec<String> = (0..hosts).map(|n| format!("made-up-{n}")).collect();
    let text = format!(
        "name = 'made-up'\nengine = 'ssh'\ndeadline = '1h'\nrepetitions = {repetitions}\nhosts = {hosts:?}"
    );
    let campaign = Campaign::parse(Path::new("made-up"), &text)?;
    Ok(Submission {
        digest: campaign.digest(),
        hosts,
        program: ProgramFile {
            digest: "made up".into(),
            version: template.program.version.clone(),
            commit: template.program.commit.clone(),
        },
        arguments: campaign.arguments(),
        submitted_unix_ms: template.started_unix_ms,
        campaign,
    })
}

/// The run of a job.
fn job_run(
    template: &Run,
    submission: &Submission,
    (n, host): (u32, &str),
    repetition: u32,
) -> Run {
    let mut run = template.clone();
    run.id = format!("{n:08x}-0000-4000-8000-{repetition:012x}");
    run.started_unix_ms += u64::from(repetition) * run.wall_ms;
    run.machine.hostname = Fact::known(host.to_owned());
    run.job = Some(Job {
        campaign: submission.campaign.name.clone(),
        digest: submission.digest.clone(),
        host: host.to_owned(),
        repetition,
        attempt: 1,
        nonce: format!("{n:016x}"),
    });
    run
}
