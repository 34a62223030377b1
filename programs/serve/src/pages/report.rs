//! The report of a run, made for each request.

use super::{PageResult, set_policy};
use crate::app::App;
use crate::params::Name;
use crate::problem::Problem;
use crate::queries;
use crate::share::Client;
use axum::extract::State;
use axum::response::{Html, IntoResponse};
use view::chart::pictures;
use view::html::policy::policy;
use view::report::{Content, Offered, TitledRun, histories, set_over_time};

/// Added to the report's own policy: it runs with an opaque origin, so that it
/// can request nothing here in the reader's name.
const SANDBOX: &str = "frame-ancestors 'none'; sandbox allow-scripts allow-downloads";

/// What is chosen on the page stands in its query, which is its script's.
pub(crate) async fn report(State(app): State<App>, client: Client, Name(id): Name) -> PageResult {
    let page = app
        .draw_whole(client, move |index, app| {
            let (kept, run) = queries::run_by_id(index, &id)?;
            let (mut drawn, mut left_out) = pictures(&run, app.references(), &[]);
            set_over_time(histories(index, &run), &mut drawn, &mut left_out);
            let bytes = index.store().bytes(&kept.path)?.len() as u64;
            let offered = Offered { file: "document".into(), what: "the document".into(), bytes };
            Ok::<_, Problem>(view::report::report_html(&Content {
                shown: TitledRun { name: &kept.id, run: &run },
                others: &[],
                references: app.references(),
                probes: &app.options().probes,
                pictures: &drawn,
                left_out: &left_out,
                comparisons: &[],
                offered: &[offered],
                link: None,
                all_runs: Some("/runs"),
            }))
        })
        .await?;
    let mut response = Html(page).into_response();
    set_policy(&mut response, &format!("{}; {SANDBOX}", policy()));
    Ok(response)
}
