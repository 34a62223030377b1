//! NUMA nodes as the kernel describes them
//! (Documentation/ABI/stable/sysfs-devices-node).

use model::machine::{Fact, NumaNode};

use crate::files::{Files, Tree, cpu_list};
use crate::numa::{NODES, meminfo_bytes};

pub(super) fn read_numa(tree: &Tree, online_cpus: Option<&[u32]>) -> Fact<Vec<NumaNode>> {
    if !tree.exists(NODES) {
        return Fact::unknown(format!("there is no {NODES}: this kernel knows no NUMA nodes"));
    }
    let online = tree.fact(&format!("{NODES}/online"), cpu_list);
    let Some(ids) = online.value else {
        return Fact::unknown(online.unknown.unwrap_or_default());
    };
    let nodes: Option<Vec<NumaNode>> = ids.iter().map(|&id| node(tree, id, online_cpus)).collect();
    Fact::or_unknown(
        nodes,
        format!("{NODES}/node*/ has a cpulist or meminfo that latlas can't read"),
    )
    .from_source(NODES)
}

fn node(tree: &Tree, id: u32, online_cpus: Option<&[u32]>) -> Option<NumaNode> {
    let directory = format!("{NODES}/node{id}");
    let mut cpus = cpu_list(&tree.read(&format!("{directory}/cpulist")).ok()?)?;
    if let Some(online) = online_cpus {
        cpus.retain(|cpu| online.contains(cpu));
    }
    let meminfo = tree.text(&format!("{directory}/meminfo"))?;
    Some(NumaNode { id, cpus, memory_bytes: meminfo_bytes(&meminfo, "MemTotal")? })
}
