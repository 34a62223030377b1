//! Controls of the measured processes, of `run` and `exec`. They end with these processes:
//! there is nothing to restore.

use super::InvalidValue;
use clap::Args;
use meter::controls::RequestedControls;
use model::noise::applied::{Policy, Settings};

/// Controls that apply to the measured processes only.
#[derive(Args, Debug, Clone, Default)]
pub struct ControlOptions {
    /// Nice value of the measured processes, -20 to 19 (lowering it requires root); in a separate
    /// session it is also set for the autogroup, unless --autogroup is given
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
    /// Nice value of the autogroup, which counts against other sessions (lowering it requires root;
    /// implies separate sessions)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub autogroup: Option<i32>,
    /// Use real-time priority (SCHED_FIFO; default priority 1; root)
    #[arg(long, value_name = "PRIORITY", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = clap::value_parser!(u8).range(1..=98))]
    pub fifo: Option<u8>,
    /// Reserve these CPUs during the run and measure there, such as 2-3 (root)
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub shield: Option<Cpus>,
}

/// CPU numbers in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus(pub Vec<u32>);

impl ControlOptions {
    /// The requested controls, without the CPU, in a separate session or not.
    pub fn requested(&self, own_session: bool) -> RequestedControls {
        self.requested_with(own_session, || sys::controls::autogroups().is_ok())
    }

    /// The same, where autogroups are in force or not. Who asks for a nice value
    /// means a weight against others. In a session of its own a process is alone in
    /// its autogroup, and has that weight by the autogroup's value only.
    fn requested_with(
        &self,
        own_session: bool,
        autogroups: impl Fn() -> bool,
    ) -> RequestedControls {
        let of_nice = self.nice.filter(|_| own_session && autogroups());
        RequestedControls {
            settings: Settings {
                own_session: (own_session || self.autogroup.is_some()).then_some(true),
                autogroup: self.autogroup.or(of_nice),
                nice: self.nice,
                policy: self.fifo.map(Policy::Fifo),
                shield: self.shield_cpus().to_vec(),
                ..Settings::default()
            },
            groups: Vec::new(),
        }
    }

    /// The CPUs of the shield; none without one.
    pub fn shield_cpus(&self) -> &[u32] {
        self.shield.as_ref().map_or(&[], |cpus| &cpus.0)
    }
}

/// A list as the kernel writes it: `0-2,5`.
pub fn cpus(text: &str) -> Result<Cpus, InvalidValue> {
    // Linux can't have more.
    let is_cpu = |number: &str| number.parse().is_ok_and(|cpu: u32| cpu < 8192);
    let list = match text.split([',', '-']).all(is_cpu) {
        true => sys::files::cpu_list(text),
        false => None,
    };
    let mut cpus = list.filter(|cpus| !cpus.is_empty()).ok_or(InvalidValue::Cpus)?;
    cpus.sort_unstable();
    cpus.dedup();
    Ok(Cpus(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        let of = |text: &str| cpus(text).map(|cpus| cpus.0);
        assert_eq!(of("1"), Ok(vec![1]));
        assert_eq!(of("5,0-2,1"), Ok(vec![0, 1, 2, 5]));
        for bad in ["", "a", "3-1", "1-", "1,,2", "-1", "0-99999999", "9000"] {
            assert_eq!(of(bad), Err(InvalidValue::Cpus), "{bad}");
        }
    }

    #[test]
    fn a_nice_value_is_a_weight_against_others_also_in_a_session_of_its_own() {
        let options = ControlOptions { nice: Some(-10), ..ControlOptions::default() };
        let of = |options: &ControlOptions, own_session, autogroups| {
            let settings = options.requested_with(own_session, || autogroups).settings;
            (settings.nice, settings.autogroup)
        };
        assert_eq!(of(&options, true, true), (Some(-10), Some(-10)));
        assert_eq!(of(&options, false, true), (Some(-10), None));
        assert_eq!(of(&options, true, false), (Some(-10), None));
        let both = ControlOptions { autogroup: Some(-3), ..options };
        assert_eq!(of(&both, true, true), (Some(-10), Some(-3)));
        assert_eq!(of(&ControlOptions::default(), true, true), (None, None));
    }

    #[test]
    fn an_autogroup_is_asked_for_with_its_session() {
        let options =
            ControlOptions { autogroup: Some(-4), fifo: Some(3), ..ControlOptions::default() };
        let settings = options.requested(false).settings;
        assert_eq!(settings.own_session, Some(true));
        assert_eq!(settings.policy, Some(Policy::Fifo(3)));
        assert_eq!(ControlOptions::default().requested(false).settings, Settings::default());
    }
}
