//! Metrics; .ci/serve reads them with Prometheus' own parser.

use crate::common::{Atlas, ID, document};

#[test]
fn requests_and_uploads_are_counted() {
    let atlas = Atlas::of_three();
    for _ in 0..3 {
        atlas.get("/api/runs");
    }
    for path in ["/api/runs?limit=0", "/api/runs/no-such", "/no\"such{page}"] {
        atlas.get(path);
    }
    let sent = document(ID, 9, "new-machine");
    for body in [sent.clone(), sent, b"hello".to_vec()] {
        atlas.upload_json(body);
    }
    // Refused by its header alone.
    atlas.upload("any", "text/html").problem(415);
    let answer = atlas.get("/metrics");
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    // Durations differ; the bucket without bound holds them all.
    let text = answer.body_text();
    let varies = |line: &str| {
        line.contains("_sum{")
            || line.contains("le=\"0")
            || line.contains("le=\"1\"")
            || line.contains("le=\"5\"")
    };
    let (durations, counts): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| varies(line));
    insta::assert_snapshot!(counts.join("\n"));
    for route in ["/api/runs", "/api/runs/{id}", "none"] {
        let of_route = format!("{{route=\"{route}\"");
        let values = durations.iter().filter(|line| line.contains(&of_route));
        let values = values.map(|line| {
            line.rsplit_once(' ').expect("a value").1.parse::<f64>().expect("a number")
        });
        let values: Vec<f64> = values.collect();
        let (sum, buckets) = values.split_last().expect("a sum");
        assert!(*sum > 0.0);
        assert!(buckets.is_sorted() && buckets.len() == 11, "{buckets:?}");
    }
}
