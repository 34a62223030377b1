//! What is counted, read by a reader that knows the format's own rules.

use crate::common::{Atlas, ID, document};
use std::collections::BTreeMap;

/// Samples by name and labels, after checks of the format (version 0.0.4).
fn parsed(text: &str) -> BTreeMap<(String, Vec<(String, String)>), f64> {
    let mut samples = BTreeMap::new();
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    assert!(text.ends_with('\n'), "the last line ends");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a kind");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(
                kinds.insert(name.into(), kind.into()).is_none(),
                "twice: {line}"
            );
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (name_and_labels, value) = line.rsplit_once(' ').expect("a value");
        let value: f64 = match value {
            "+Inf" => f64::INFINITY,
            value => value.parse().unwrap_or_else(|_| panic!("{line}")),
        };
        let (name, labels) = match name_and_labels.split_once('{') {
            None => (name_and_labels, ""),
            Some((name, rest)) => (
                name,
                rest.strip_suffix('}').unwrap_or_else(|| panic!("{line}")),
            ),
        };
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "{line}"
        );
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
            let family = name.strip_suffix(end)?;
            (kinds.get(family).map(String::as_str) == Some("histogram")).then_some(family)
        });
        let family = family.unwrap_or(name);
        assert!(kinds.contains_key(family), "no TYPE before {line}");
        let labels = labels
            .split("\",")
            .filter(|label| !label.is_empty())
            .map(|label| {
                let (name, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
                let value = value.strip_suffix('"').unwrap_or(value);
                assert!(!value.contains('"'), "{line}");
                (name.to_owned(), value.to_owned())
            });
        let key = (name.to_owned(), labels.collect());
        assert!(samples.insert(key, value).is_none(), "twice: {line}");
    }
    samples
}

fn key(name: &str, labels: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    (name.to_owned(), labels.iter().map(own).collect())
}

#[test]
fn what_was_asked_and_kept_is_counted() {
    let atlas = Atlas::of_three();
    for _ in 0..3 {
        atlas.get("/api/runs");
    }
    atlas.get("/api/runs?limit=0");
    atlas.get("/api/runs/no-such");
    atlas.get("/no\"such{page}");
    let sent = document(ID, 9, "new-machine");
    for body in [sent.clone(), sent, b"hello".to_vec()] {
        atlas.upload(body);
    }
    // Refused before anybody looked into it.
    atlas.post("any", "text/html").problem(415);
    let answer = atlas.get("/metrics");
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let samples = parsed(&answer.text());
    let requests = |route: &str, method: &str, status: &str| {
        let labels = [("route", route), ("method", method), ("status", status)];
        samples
            .get(&key("latlas_http_requests_total", &labels))
            .copied()
    };
    assert_eq!(requests("/api/runs", "GET", "200"), Some(3.0));
    assert_eq!(requests("/api/runs", "GET", "400"), Some(1.0));
    assert_eq!(requests("/api/runs", "POST", "201"), Some(1.0));
    assert_eq!(requests("/api/runs", "POST", "200"), Some(1.0));
    assert_eq!(requests("/api/runs", "POST", "400"), Some(1.0));
    assert_eq!(requests("/api/runs/{id}", "GET", "404"), Some(1.0));
    assert_eq!(requests("none", "GET", "404"), Some(1.0));
    for (result, count) in [("kept", 1.0), ("already_kept", 1.0), ("refused", 2.0)] {
        let label = [("result", result)];
        assert_eq!(
            samples.get(&key("latlas_uploads_total", &label)),
            Some(&count),
            "{result}"
        );
    }
    assert_eq!(samples.get(&key("latlas_runs", &[])), Some(&4.0));
    assert_eq!(samples.get(&key("latlas_machines", &[])), Some(&3.0));
    let name = "latlas_http_request_duration_seconds";
    let buckets: Vec<(f64, f64)> = samples
        .iter()
        .filter(|((n, labels), _)| *n == format!("{name}_bucket") && labels[0].1 == "/api/runs")
        .map(|((_, labels), count)| {
            let bound = labels[1].1.replace("+Inf", "inf");
            (bound.parse().expect("a bound"), *count)
        })
        .collect();
    let mut rising = buckets.clone();
    rising.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(
        rising.windows(2).all(|pair| pair[0].1 <= pair[1].1),
        "{rising:?}"
    );
    let all = samples.get(&key(&format!("{name}_count"), &[("route", "/api/runs")]));
    assert_eq!(
        (rising.last().map(|last| last.1), all),
        (Some(8.0), Some(&8.0))
    );
    let sum = samples.get(&key(&format!("{name}_sum"), &[("route", "/api/runs")]));
    assert!(sum.is_some_and(|&sum| sum > 0.0));
}
