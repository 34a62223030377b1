//! Any text as the kernel's description of tracepoints, with any bytes as the rings that they describe; any text as
//! what it says of threads and interrupts.
#![no_main]

use trace::decode::{Decoded, Layouts, Samples, Tracepoint};
use trace::endian::Endian;
use trace::format::TracepointFormat;

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
    sys::cpu_times::CpuTimes::from_stat(text);
    sys::proc_stat::Stat::from_line(text);
    sys::files::cpu_list(text);
    sys::files::bracketed(text);
    sys::files::kib_field(text, "MemTotal");
    let endian = if ring.len() % 2 == 0 { Endian::Little } else { Endian::Big };
    if let Ok(format) = TracepointFormat::parse(text, endian) {
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
        if layouts.add_tracepoint(point, text).is_ok() {
            layouts.set_counted(text);
            let _ = layouts.set_page(text);
            let mut decoded = Decoded::default();
            decoded.add_pages(&Samples::Tracepoints(layouts), 0, ring);
            decoded.sort();
        }
    }
});
