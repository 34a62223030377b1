//! What a signpost costs: ns for each pair of begin and end, and for each
//! moment. Run it alone, and under `latlas trace --`.

use latlas_signpost::{is_traced, signpost, span};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Less than a ring holds.
const BATCH: u32 = 10_000;
const BATCHES: usize = 41;

fn main() {
    let pair = median_ns(|| {
        let _span = span!("pair");
        black_box(());
    });
    let moment = median_ns(|| {
        signpost!("moment");
        black_box(());
    });
    let nothing = median_ns(|| black_box(()));
    println!(
        "traced: {}; a pair {pair:.2} ns, a moment {moment:.2} ns, the empty loop {nothing:.2} ns (medians)",
        is_traced()
    );
}

/// The median of batches, which leave latlas the time to empty the ring.
fn median_ns(mut what: impl FnMut()) -> f64 {
    let batches = (0..BATCHES).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let began = Instant::now();
        for _ in 0..BATCH {
            what();
        }
        began.elapsed().as_nanos() as f64 / f64::from(BATCH)
    });
    let mut batches: Vec<f64> = batches.collect();
    batches.sort_unstable_by(f64::total_cmp);
    batches[BATCHES / 2]
}
