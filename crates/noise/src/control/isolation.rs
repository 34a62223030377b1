//! CPU isolation: cpusets and kernel parameters. cpuset(7),
//! `Documentation/admin-guide/{cgroup-v2.rst,kernel-parameters.txt}`.

use super::context::{ControlContext, Status, StatusResult};
use super::system::CPUS;
use crate::cpus::{cpu_ranges, parse_cpus};
use model::machine::Fact;
use model::noise::control::{HindranceKind, Privilege, ValueState};
use sys::groups::{self, Version};

pub(super) fn cpuset(context: &ControlContext) -> StatusResult {
    let groups = context.read_or_status("/proc/self/cgroup")?;
    let mounts = context.read_or_status("/proc/self/mountinfo")?;
    let chain = match groups::chain(&groups, &mounts, "cpuset") {
        Ok(chain) => chain,
        Err(why) => return Ok(Status::absent(HindranceKind::AbsentInKernel, why.to_string())),
    };
    let Some(group) = chain.levels.first() else {
        let why = "the directory of the group is not visible";
        return Ok(Status::absent(HindranceKind::AbsentInKernel, why));
    };
    let read = |file: &str| context.system.files.read(&format!("{group}/{file}"));
    let (version, cpus, exclusive) = match chain.version {
        Version::Two => (
            "version 2",
            read("cpuset.cpus.effective"),
            match read("cpuset.cpus.partition") {
                Ok(partition) => format!("partition {partition}"),
                Err(_) => "the visible root".to_owned(),
            },
        ),
        Version::One => (
            "version 1",
            read("cpuset.effective_cpus").or_else(|_| read("cpuset.cpus")),
            match read("cpuset.cpu_exclusive").as_deref() {
                Ok("1") => "exclusive".to_owned(),
                _ => "not exclusive".to_owned(),
            },
        ),
    };
    let cpus = match cpus.ok().and_then(|cpus| parse_cpus(&cpus)) {
        Some(cpus) => format!("CPUs {}", cpu_ranges(&cpus)),
        None => "CPUs unknown: the controller is not enabled for this group".to_owned(),
    };
    let status = Status {
        fixtures_only: chain.version == Version::Two,
        ..Status::information(format!("{version}, {cpus}, {exclusive}"), group)
    };
    if context.system.quiet.is_empty() {
        return Ok(status);
    }
    let command = format!(
        "{}latlas exec --shield {} -- COMMAND",
        context.sudo(),
        cpu_ranges(&context.system.quiet)
    );
    Ok(status
        .wanting(
            "a shield (CPUs reserved for one group)",
            "it helps if all other tasks leave, as with latlas exec --shield; moving a single load does little",
        )
        .set_by(Privilege::Root, command)
        .hindered(context.hindrance(&format!("{group}/cgroup.procs"))))
}

pub(super) fn isolated(context: &ControlContext) -> StatusResult {
    let path = format!("{CPUS}/isolated");
    let cpus = context.read_or_status(&path)?;
    let why = "the scheduler places no task there by itself";
    Ok(at_boot(context, &cpus, &path, why))
}

pub(super) fn nohz_full(context: &ControlContext) -> StatusResult {
    let path = format!("{CPUS}/nohz_full");
    let cpus = match context.read_or_status(&path) {
        Err(_) if !context.no_sys() => {
            let why = "this kernel was built without NO_HZ_FULL";
            return Ok(Status::absent(HindranceKind::AbsentInKernel, why));
        }
        read => read?,
    };
    let why = "one tick a second instead of 100 to 1000";
    Ok(at_boot(context, &cpus, &path, why))
}

/// CPUs of a kernel parameter.
fn at_boot(context: &ControlContext, cpus: &str, path: &str, why: &str) -> Status {
    match parse_cpus(cpus) {
        None => {
            let why = format!("{path} holds {cpus:?}, which is not a list of CPUs");
            return Status {
                now: Fact::unknown(why),
                ..Status::new("", path, ValueState::Unknown)
            };
        }
        Some(cpus) if !cpus.is_empty() => {
            return Status::new(format!("CPUs {}", cpu_ranges(&cpus)), path, ValueState::Good);
        }
        Some(_) => {}
    }
    let status = Status::information("none", path);
    if context.system.quiet.is_empty() {
        return status;
    }
    let quiet = cpu_ranges(&context.system.quiet);
    let parameters = format!(
        "isolcpus=domain,managed_irq,{quiet} nohz_full={quiet} on the kernel command line, then reboot"
    );
    status.wanting(&format!("CPUs {quiet}"), why).set_by(Privilege::Boot, parameters)
}
