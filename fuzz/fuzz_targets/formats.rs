//! Any text as the kernel's description of tracepoints, with any bytes as the rings that they describe; any text as
//! what it says of threads and interrupts.
#![no_main]

use trace::decode::{Decoded, Layouts, Samples, Tracepoint};
use trace::format::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let ring = bytes.get(end + 1..).unwrap_or_default();
    #[cfg(target_os = "linux")]
    sys::interrupts::anything(&bytes[..end], u32::from(bytes.first().copied().unwrap_or(0)));
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else {
        return;
    };
    trace::record::anything(text);
    #[cfg(target_os = "linux")]
    sys::pages::smaps_anything(text.as_bytes());
    sys::cpu_times::CpuTimes::of(text);
    sys::proc_stat::Stat::of(text);
    sys::files::cpu_list(text);
    sys::files::bracketed(text);
    sys::files::kib_field(text, "MemTotal");
    if let Ok(format) = Format::parse(text) {
        for name in ["prev_pid", "next_comm", "id", "args", "address"] {
            if let Ok(field) = format.field(name) {
                field.bytes(ring);
                field.number(ring);
                field.words::<6>(ring);
            }
        }
    }
    for point in [Tracepoint::Switch, Tracepoint::Waking, Tracepoint::Enter, Tracepoint::Fault] {
        let mut layouts = Layouts::default();
        if layouts.add(point, text).is_ok() {
            let mut decoded = Decoded::default();
            decoded.add(&Samples::Tracepoints(layouts), 0, ring);
            decoded.sort();
        }
    }
});
