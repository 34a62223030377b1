//! `/proc/interrupts` (proc_interrupts(5)): a line for each kind, a column for
//! each CPU that is online, and then what it is. Everyone may read it where
//! `/proc` is not restricted.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::interrupts::{InterruptLine, NoInterrupts};

const PATH: &str = "/proc/interrupts";

/// The counts of one CPU. The file stays open; a reading takes some 60 µs on a
/// 2-core virtual machine and more with more CPUs and devices, since the
/// kernel writes all of it each time.
#[derive(Debug)]
pub struct InterruptCounts {
    file: File,
    cpu: u32,
    text: Vec<u8>,
    layout: Layout,
    counts: Vec<u64>,
}

/// Where the counts of a CPU stand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    column: usize,
    labels: Vec<Vec<u8>>,
    lines: Vec<InterruptLine>,
}

impl InterruptCounts {
    /// Opens the counts of a CPU.
    pub fn for_cpu(cpu: u32) -> Result<InterruptCounts, NoInterrupts> {
        let mut counts = InterruptCounts {
            file: File::open(PATH)?,
            cpu,
            text: vec![0; 16 << 10],
            layout: Layout { column: 0, labels: Vec::new(), lines: Vec::new() },
            counts: Vec::new(),
        };
        let length = counts.fill()?;
        counts.layout = layout(&counts.text[..length], cpu)?;
        Ok(counts)
    }

    /// The kinds, in the order of the counts.
    pub fn lines(&self) -> &[InterruptLine] {
        &self.layout.lines
    }

    /// Counts of this CPU since it was started, by line. `None` where the
    /// file can't be read, or its lines have become others (a device came or
    /// went): then the next reading has the new [`lines`](Self::lines).
    pub fn read(&mut self) -> Option<&[u64]> {
        let length = self.fill().ok()?;
        let text = &self.text[..length];
        if !counts_into(text, &self.layout, &mut self.counts) {
            self.layout = layout(text, self.cpu).ok()?;
            return None;
        }
        Some(&self.counts)
    }

    /// Reads the whole file; how long it is.
    fn fill(&mut self) -> std::io::Result<usize> {
        let mut length = 0;
        loop {
            if length == self.text.len() {
                self.text.resize(2 * length, 0);
            }
            match self.file.read_at(&mut self.text[length..], length as u64)? {
                0 => return Ok(length),
                more => length += more,
            }
        }
    }
}

/// Lines of bytes without the empty ones.
fn non_empty_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').filter(|line| !line.is_empty())
}

/// Label and rest of a line; none of the heading.
fn label(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&b| b == b':')?;
    Some((line[..colon].trim_ascii(), &line[colon + 1..]))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn parse_number(word: &[u8]) -> Option<u64> {
    word.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// Reads any bytes as `/proc/interrupts`, for the fuzzer: each line of the layout has a count, or it is refused.
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub fn anything(text: &[u8], cpu: u32) {
    let Ok(layout) = layout(text, cpu) else {
        return;
    };
    let mut counts = Vec::new();
    if counts_into(text, &layout, &mut counts) {
        assert_eq!(counts.len(), layout.lines.len());
    }
}

/// Finds the column of the CPU and the lines that have one.
fn layout(text: &[u8], cpu: u32) -> Result<Layout, NoInterrupts> {
    let heading = non_empty_lines(text).next().ok_or(NoInterrupts::NoLines)?;
    let name = format!("CPU{cpu}");
    let column = words(heading)
        .position(|word| word == name.as_bytes())
        .ok_or(NoInterrupts::NoColumn(cpu))?;
    let mut layout = Layout { column, labels: Vec::new(), lines: Vec::new() };
    for (label, rest) in non_empty_lines(text).skip(1).filter_map(label) {
        layout.labels.push(label.to_vec());
        let label = String::from_utf8_lossy(label).into_owned();
        // Devices have a number; the others an abbreviation that is known.
        let what = words(rest)
            .skip_while(|word| parse_number(word).is_some())
            .map(String::from_utf8_lossy);
        let what: Vec<_> = what.collect();
        let device = label.bytes().all(|b| b.is_ascii_digit());
        let timer = is_timer(&label, &what);
        let name = match (device, what.last()) {
            (true, Some(device_name)) => format!("{label} {device_name}"),
            _ if label.starts_with("IPI") => format!("{label} {}", what.join(" ")),
            _ => label,
        };
        layout.lines.push(InterruptLine { name, timer });
    }
    if layout.lines.is_empty() { Err(NoInterrupts::NoLines) } else { Ok(layout) }
}

/// Whether a line is the CPU's own timer: that of x86 (`LOC`); where Hyper-V or
/// Xen bring their own, those (arch/x86/kernel/irq.c; drivers/xen/events,
/// arch/x86/xen/time.c: an interrupt of the name `timer0` for each CPU, older
/// kernels write it behind `xen-percpu-virq`); that of ARM and RISC-V is an
/// interrupt like others, by a name of its own.
fn is_timer(label: &str, what: &[std::borrow::Cow<str>]) -> bool {
    let xen = what.iter().any(|word| word.starts_with("xen-"));
    let of_xen = |word: &str| {
        let number = word.strip_prefix("timer");
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(label, "LOC" | "HVS")
        || what.iter().any(|word| {
            matches!(&**word, "arch_timer" | "riscv-timer" | "twd") || (xen && of_xen(word))
        })
}

/// The counts of the layout's CPU; whether the lines are still those of the
/// layout. Lines that are counted for the whole machine (`ERR`, `MIS`) have 0
/// for every CPU but the first column's, where they stand.
fn counts_into(text: &[u8], layout: &Layout, counts: &mut Vec<u64>) -> bool {
    counts.clear();
    let mut all = non_empty_lines(text);
    let name_at = all.next().and_then(|h| words(h).nth(layout.column));
    let mut labels = layout.labels.iter();
    for (label, rest) in all.filter_map(label) {
        if labels.next().is_none_or(|known| known != label) {
            return false;
        }
        let count = words(rest).map_while(parse_number).nth(layout.column).unwrap_or(0);
        counts.push(count);
    }
    name_at.is_some() && labels.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "           CPU0       CPU2       
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 36:          7    3220041 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
NMI:          0          3   Non-maskable interrupts
LOC:    2603276    2821624   Local timer interrupts
ERR:          4
";

    fn parsed_counts(text: &str, cpu: u32) -> Vec<(String, bool, u64)> {
        let layout = layout(text.as_bytes(), cpu).expect("a layout");
        let mut counts = Vec::new();
        assert!(counts_into(text.as_bytes(), &layout, &mut counts));
        let lines = layout.lines.into_iter().zip(counts);
        lines.map(|(l, n)| (l.name, l.timer, n)).collect()
    }

    #[test]
    fn a_cpu_has_its_own_column_by_name_and_not_by_place() {
        let of = |name: &str, timer, n| (name.to_string(), timer, n);
        assert_eq!(
            parsed_counts(X86, 2),
            [
                of("24 ACPI:Ged", false, 0),
                of("36 virtio1-req.0", false, 3_220_041),
                of("NMI", false, 3),
                of("LOC", true, 2_821_624),
                of("ERR", false, 0),
            ]
        );
        assert_eq!(parsed_counts(X86, 0)[3].2, 2_603_276);
        let why = layout(X86.as_bytes(), 1).expect_err("CPU 1 is offline");
        assert!(matches!(why, NoInterrupts::NoColumn(1)), "{why}");
    }

    #[test]
    fn arm_has_its_timer_among_the_devices() {
        let arm = "           CPU0       CPU1
 11:       1000       2000     GICv3  27 Level     arch_timer
 14:          5          0     GICv3  33 Level     uart-pl011
IPI0:        30         40       Rescheduling interrupts
";
        let found = parsed_counts(arm, 1);
        assert_eq!(found[0], ("11 arch_timer".into(), true, 2000));
        assert_eq!(found[1], ("14 uart-pl011".into(), false, 0));
        assert_eq!(found[2], ("IPI0 Rescheduling interrupts".into(), false, 40));
    }

    #[test]
    fn hypervisors_have_their_own_timers() {
        let hyper_v = "           CPU0       CPU1
  9:          0          0   IO-APIC   9-fasteoi   acpi
LOC:          0          0   Local timer interrupts
HYP:      90210      80210   Hypervisor callback interrupts
HVS:     500123     400123   Hyper-V stimer0 interrupts
";
        let timers = |text: &str| -> Vec<(String, u64)> {
            let all = parsed_counts(text, 1).into_iter().filter(|line| line.1);
            all.map(|(name, _, count)| (name, count)).collect()
        };
        assert_eq!(timers(hyper_v), [("LOC".into(), 0), ("HVS".into(), 400_123)]);
        let xen = "           CPU0       CPU1
 48:     700001          0  xen-percpu    -virq      timer0
 54:          0     600001  xen-percpu    -virq      timer1
 55:          0         12  xen-percpu    -ipi       resched1
 60:          9          0   xen-dyn    -event     eth0-timer
LOC:          0          0   Local timer interrupts
";
        assert_eq!(
            timers(xen),
            [("48 timer0".into(), 0), ("54 timer1".into(), 600_001), ("LOC".into(), 0)]
        );
        let older = xen.replace("xen-percpu    -virq", "xen-percpu-virq");
        assert_eq!(timers(&older), timers(xen));
        let not_xen = xen.replace("xen-percpu    -virq", "IO-APIC 2-edge");
        assert_eq!(timers(&not_xen), [("LOC".into(), 0)]);
    }

    #[test]
    fn other_lines_than_before_are_noticed() {
        let before = layout(X86.as_bytes(), 2).expect("a layout");
        let mut counts = Vec::new();
        for text in [
            X86.replace(" 36:", " 37:"),
            X86.replace("ERR:          4\n", ""),
            format!("{X86}MIS:          0\n"),
        ] {
            assert!(!counts_into(text.as_bytes(), &before, &mut counts), "{text}");
        }
        assert!(layout(b"", 0).is_err());
    }

    #[test]
    fn the_real_counts_grow() {
        let Some(cpu) = crate::allowed_cpus().ok().and_then(|cpus| cpus.first().copied()) else {
            return println!("SKIPPED: the allowed CPUs are unknown");
        };
        let mut real = match InterruptCounts::for_cpu(cpu) {
            Ok(real) => real,
            Err(why) => return println!("SKIPPED: {why}"),
        };
        let sum = |counts: Option<&[u64]>| counts.map(|c| c.iter().sum::<u64>());
        let first = sum(real.read()).expect("the lines have just been read");
        assert_eq!(real.lines().len(), real.counts.len());
        let began = std::time::Instant::now();
        while sum(real.read()).expect("the same lines") <= first {
            assert!(began.elapsed().as_secs() < 180, "no interrupt in 180 s");
            std::thread::yield_now();
        }
    }
}
