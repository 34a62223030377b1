mod latlas_probe;

use latlas_probe::Probe;
use std::ffi::c_void;
use std::hint::black_box;

extern "C" fn parse(_state: *mut c_void, turns: u64) -> u64 {
    for _ in 0..turns {
        let _ = black_box(black_box("12.5").parse::<f64>());
    }
    turns
}

latlas_pack!(
    c"@NAME@",
    c"rustc --release",
    Probe {
        id: c"@NAME@.parse".as_ptr(),
        title: c"a number parsed".as_ptr(),
        operation: c"One str::parse::<f64>() of 12.5.".as_ptr(),
        flags: latlas_probe::CORE_CLOCK,
        run: Some(parse),
        ..Probe::NONE
    }
);
