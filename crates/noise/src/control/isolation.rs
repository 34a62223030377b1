//! What keeps others off a CPU: cpusets and what the kernel is told at its
//! start. cpuset(7), `Documentation/admin-guide/cgroup-v2.rst`,
//! `Documentation/admin-guide/kernel-parameters.txt`.

use super::places::{CPUS, ranges};
use super::sight::{Sight, Told};
use model::noise::control::{Kind, State, Who};
use sys::groups::{self, Version};

pub(super) fn cpuset(sight: &Sight) -> Told {
    let (groups, mounts) = match (
        sight.read("/proc/self/cgroup"),
        sight.read("/proc/self/mountinfo"),
    ) {
        (Ok(groups), Ok(mounts)) => (groups, mounts),
        (Err(told), _) | (_, Err(told)) => return *told,
    };
    let chain = match groups::chain(&groups, &mounts, "cpuset") {
        Ok(chain) => chain,
        Err(why) => return Told::absent(Kind::AbsentInKernel, why),
    };
    let Some(group) = chain.levels.first() else {
        return Told::absent(Kind::AbsentInKernel, "no directory of the group is visible");
    };
    let read = |file: &str| sight.scene.files.read(&format!("{group}/{file}"));
    let shield = "a set of CPUs that nobody else may use";
    let why = "it helps if everybody else leaves, as with latlas exec --shield; it does little if only a known load does";
    let cpus = ranges(&sight.scene.quiet);
    let command = format!(
        "{}latlas exec --shield {} -- COMMAND",
        sight.sudo(),
        cpus.replace(' ', "")
    );
    let (version, cpus, alone) = match chain.version {
        Version::Two => (
            "version 2",
            read("cpuset.cpus.effective"),
            match read("cpuset.cpus.partition") {
                Ok(partition) => format!("partition {partition}"),
                Err(_) => "the root of what is visible".to_owned(),
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
    let cpus = match cpus {
        Ok(cpus) => format!("CPUs {cpus}"),
        Err(_) => "CPUs not told: the controller is not enabled for this group".to_owned(),
    };
    let told = Told::information(format!("{version}, {cpus}, {alone}"), group);
    let told = Told {
        fixtures_only: chain.version == Version::Two,
        ..told
    };
    match sight.scene.quiet.is_empty() {
        true => told,
        false => told
            .wanting(shield, why)
            .set_by(Who::Root, command)
            .hindered(sight.hindrance(&format!("{group}/cgroup.procs"))),
    }
}

pub(super) fn isolated(sight: &Sight) -> Told {
    let path = format!("{CPUS}/isolated");
    let told = match sight.read(&path).as_deref() {
        Err(told) => return (**told).clone(),
        Ok("") => Told::information("none".into(), &path),
        Ok(cpus) => Told::new(format!("CPUs {cpus}"), &path, State::Good),
    };
    at_boot(
        sight,
        told,
        "the scheduler puts nothing there of its own accord",
    )
}

pub(super) fn nohz_full(sight: &Sight) -> Told {
    let path = format!("{CPUS}/nohz_full");
    let told = match sight.read(&path).as_deref() {
        Err(_) if !sight.absent().without_sys() => {
            return Told::absent(
                Kind::AbsentInKernel,
                "this kernel was built without NO_HZ_FULL",
            );
        }
        Err(told) => return (**told).clone(),
        Ok("" | "(null)") => Told::information("none".into(), &path),
        Ok(cpus) => Told::new(format!("CPUs {cpus}"), &path, State::Good),
    };
    at_boot(
        sight,
        told,
        "the tick comes once a second instead of 100 to 1000 times",
    )
}

/// Kernel parameters (`Documentation/admin-guide/kernel-parameters.txt`).
fn at_boot(sight: &Sight, told: Told, why: &str) -> Told {
    if sight.scene.quiet.is_empty() || told.state == State::Good {
        return told;
    }
    let quiet = ranges(&sight.scene.quiet).replace(' ', "");
    let parameters = format!(
        "isolcpus=domain,managed_irq,{quiet} nohz_full={quiet} on the kernel's command line, and a new start"
    );
    told.wanting(&format!("CPUs {quiet}"), why)
        .set_by(Who::Boot, parameters)
}
