//! Why a kernel file does not exist, where that is more than "not built into
//! this kernel".

use super::context::{ControlContext, hindrance};
use super::special::pairs;
use super::system::CPUS;
use model::noise::control::{Hindrance, HindranceKind};

pub(super) fn no_driver(context: &ControlContext) -> Hindrance {
    match &context.hypervisor {
        Some(name) => hindrance(
            HindranceKind::AbsentInVm,
            format!("{name} controls the frequency: no cpufreq policy in /sys"),
        ),
        None if context.no_sys() => context.missing("/sys"),
        None => hindrance(
            HindranceKind::Firmware,
            "no cpufreq policy in /sys: no driver for this CPU, or the firmware controls the frequency",
        ),
    }
}

pub(super) fn no_turbo_switch(context: &ControlContext) -> Hindrance {
    let why = no_driver(context);
    match (why.kind, context.lockdown()) {
        (HindranceKind::Firmware, Some(mode)) => hindrance(
            HindranceKind::Lockdown,
            format!("no switch in /sys, and lockdown ({mode}) forbids writing the MSR"),
        ),
        (HindranceKind::Firmware, None) => hindrance(
            HindranceKind::Firmware,
            "no switch in /sys (intel_pstate/no_turbo, cpufreq/boost); the firmware may have one",
        ),
        _ => why,
    }
}

pub(super) fn no_preference(context: &ControlContext) -> Hindrance {
    match context.has_policies() {
        true => {
            hindrance(HindranceKind::NotOnThisSystem, "this processor or its driver has no EPP")
        }
        false => no_driver(context),
    }
}

pub(super) fn no_bias(context: &ControlContext) -> Hindrance {
    match &context.hypervisor {
        _ if context.no_sys() => context.missing("/sys"),
        Some(name) => {
            hindrance(HindranceKind::AbsentInVm, format!("{name} does not expose the MSR"))
        }
        None => hindrance(HindranceKind::NotOnThisSystem, "only Intel processors have EPB"),
    }
}

pub(super) fn no_irqs(context: &ControlContext) -> Hindrance {
    let names = context.system.files.names("/proc/irq");
    match names.iter().any(|name| name.parse::<u32>().is_ok()) {
        _ if context.no_proc() => context.missing("/proc"),
        true => hindrance(
            HindranceKind::ManagedInterrupt,
            "all interrupts of this machine are managed by the kernel",
        ),
        false => hindrance(
            HindranceKind::AbsentInKernel,
            "no /proc/irq: this kernel has no IRQ affinity",
        ),
    }
}

pub(super) fn no_smt(context: &ControlContext) -> Hindrance {
    let path = format!("{CPUS}/smt/control");
    let now = context.system.files.read(&path);
    match (now.as_deref(), &context.hypervisor) {
        (Ok("notsupported"), Some(name)) => hindrance(
            HindranceKind::AbsentInVm,
            format!("{name} exposes no sibling threads; the host cores may have some"),
        ),
        (Ok("notsupported"), None) => hindrance(
            HindranceKind::Firmware,
            "the processor has no SMT, or the firmware disabled it",
        ),
        (Ok(other), _) => hindrance(HindranceKind::AbsentInKernel, format!("{path} is {other}")),
        (Err(_), _) if context.no_sys() => context.missing("/sys"),
        (Err(_), _) => {
            let threads = match pairs(&context.system).as_slice() {
                [] => String::new(),
                pairs => format!("; sibling threads: {}", pairs.join(" ")),
            };
            hindrance(
                HindranceKind::AbsentInKernel,
                format!("no {path}: a kernel without the switch{threads}"),
            )
        }
    }
}
