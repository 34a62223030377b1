//! `latlas fleet run`: a campaign over ssh without a file of one's own: written, submitted, collected and reported.

use super::{collect, report, submit};
use crate::arguments::{CampaignOptions, FleetRunOptions, SubmitOptions};
use crate::report_options::FleetReportOptions;
use anyhow::{Context, bail};
use fleet::campaign::Campaign;
use latlas::arguments::Color;
use latlas::output;
use meter::probe::Probe;
use model::run::Scale;
use model::utc;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures the rows on the hosts, and prints the report.
pub(super) fn measure_hosts(
    catalogue: &[Probe],
    options: &FleetRunOptions,
) -> anyhow::Result<ExitCode> {
    let campaign = campaign(options);
    let file = PathBuf::from(format!("{}.toml", campaign.name));
    if file.exists() {
        bail!(
            "{0} is there already: go on with `latlas fleet submit {0}`, or give another --name",
            file.display()
        );
    }
    let text = toml::to_string(&campaign).context("can't write the campaign's file")?;
    store::write_bytes(text.as_bytes(), &file)?;
    let shown = file.display();
    output::message(format_args!(
        "campaign {shown}: if interrupted, `latlas fleet submit {shown}` goes on"
    ));
    let submitted = submit::submit(
        catalogue,
        &SubmitOptions {
            campaign: CampaignOptions { file: file.clone(), hosts: None },
            jobs: options.jobs,
            again: false,
            json: false,
        },
    )?;
    collect::collect(&shown.to_string(), false)?;
    let reported = report::report(&FleetReportOptions {
        campaign: shown.to_string(),
        out: None,
        force: false,
        json: false,
        color: Color::Auto,
    })?;
    Ok(if submitted == ExitCode::SUCCESS { reported } else { submitted })
}

fn campaign(options: &FleetRunOptions) -> Campaign {
    let name = options.name.clone().unwrap_or_else(|| {
        let stamp = utc::stamp(sys::realtime_unix_ms());
        format!("run-{}", stamp.replace('.', "-"))
    });
    Campaign {
        scale: match options.quick {
            true => Scale::Quick,
            false => Scale::Default,
        },
        repetitions: options.repetitions,
        ..Campaign::over_hosts(name, &options.rows, &options.hosts, options.budget)
    }
}
