//! Parameters of commands: `{VAR}` stands for each of its values.

use crate::arguments::exec::ExecOptions;
use anyhow::{Context, bail, ensure};

/// A value for each parameter.
pub(super) type Combination = Vec<(String, String)>;

/// Most commands that parameters make of one.
const MOST: usize = 1000;

/// All combinations of the values of all parameters; one without a parameter where there are none.
pub(super) fn combinations(options: &ExecOptions) -> anyhow::Result<Vec<Combination>> {
    let mut parameters: Vec<(&str, Vec<String>)> = Vec::new();
    for list in options.parameter_list.chunks(2) {
        let [name, values] = list else { continue };
        parameters.push((name, values.split(',').map(str::to_owned).collect()));
    }
    if let [name, least, most] = &options.parameter_scan[..] {
        let step = options.parameter_step_size.as_deref().unwrap_or("1");
        parameters.push((name, scanned(least, most, step)?));
    }
    let mut all: Vec<Combination> = vec![Vec::new()];
    for (name, values) in parameters {
        let known = all.iter().flatten().any(|(other, _)| other == name);
        ensure!(!known, "parameter {name:?} is given twice");
        ensure!(all.len() * values.len() <= MOST, "more than {MOST} combinations of parameters");
        let with = |one: &Combination, value: &String| {
            let mut one = one.clone();
            one.push((name.to_owned(), value.clone()));
            one
        };
        all = all.iter().flat_map(|one| values.iter().map(move |v| with(one, v))).collect();
    }
    Ok(all)
}

/// A text with the values in place of `{VAR}`.
pub(super) fn replaced(text: &str, combination: &Combination) -> String {
    let replace = |text: String, (name, value): &(String, String)| {
        text.replace(&format!("{{{name}}}"), value)
    };
    combination.iter().fold(text.to_owned(), replace)
}

/// The numbers from the least to the most, with as many decimals as the most precise of the three.
fn scanned(least: &str, most: &str, step: &str) -> anyhow::Result<Vec<String>> {
    let decimals = [least, most, step].map(|text| text.split_once('.').map_or(0, |(_, d)| d.len()));
    let decimals = decimals.into_iter().max().unwrap_or(0);
    let scaled = |text: &str| -> anyhow::Result<i64> {
        let value: f64 = text.parse().ok().context(format!("{text:?} is not a number"))?;
        let value = (value * 10_f64.powi(decimals as i32)).round();
        ensure!(value.abs() < 1e15, "{text:?} is too large or too precise");
        Ok(value as i64)
    };
    let [from, to, by] = [scaled(least)?, scaled(most)?, scaled(step)?];
    if from > to || by <= 0 {
        bail!("no number from {least} to {most} in steps of {step}");
    }
    ensure!((to - from) / by < MOST as i64, "more than {MOST} numbers from {least} to {most}");
    let text = |value: i64| format!("{:.decimals$}", value as f64 / 10_f64.powi(decimals as i32));
    Ok((from..=to).step_by(by as usize).map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_without_rounding_errors() {
        let of = |least, most, step| scanned(least, most, step).map_err(|e| e.to_string());
        assert_eq!(of("0.3", "0.7", "0.2"), Ok(["0.3", "0.5", "0.7"].map(String::from).to_vec()));
        assert_eq!(of("-1", "1", "1"), Ok(["-1", "0", "1"].map(String::from).to_vec()));
        assert_eq!(of("1", "2", "0.50").map(|all| all.len()), Ok(3));
        for bad in [("a", "1", "1"), ("2", "1", "1"), ("1", "2", "0"), ("0", "99999", "1")] {
            assert!(of(bad.0, bad.1, bad.2).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn each_name_stands_for_its_value() {
        let of = vec![("n".to_owned(), "4".to_owned()), ("cc".into(), "gcc".into())];
        assert_eq!(replaced("{cc} -j{n} {x} {n}", &of), "gcc -j4 {x} 4");
    }
}
