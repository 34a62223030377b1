//! How fast pages of the kernel's buffers become events, on pages that are made here.

use crate::bars::Bars;
use crate::spread::median;
use anyhow::Context;
use std::time::Instant;
use trace::decode::{Decoded, Layouts, Samples, Tracepoint};

#[derive(clap::Args)]
pub struct Arguments {
    /// Times that all pages are decoded
    #[arg(long, default_value_t = 9)]
    rounds: u32,
}

const PAGE_BYTES: usize = 4096;
const PAGES: usize = 8192;
const LEAST_A_SECOND: f64 = 20e6;

/// # Errors
/// A description of a tracepoint that can't be read.
pub fn check_decode(arguments: &Arguments) -> anyhow::Result<Bars> {
    let records = records();
    let (pages, count) = pages(&records);
    let samples = Samples::Tracepoints(layouts()?);
    let mut decoded = Decoded::default();
    let mut rates = Vec::new();
    for _ in 0..=arguments.rounds {
        decoded.events.clear();
        let began = Instant::now();
        decoded.add_pages(&samples, 0, &pages);
        rates.push(count as f64 / began.elapsed().as_secs_f64());
        anyhow::ensure!(decoded.events.len() == count, "not all records became events");
    }
    // The first one takes the memory.
    let rate = median(&rates[1..]).context("no round")?;
    println!("{count} records in {} MiB of pages", pages.len() >> 20);
    let mut bars = Bars::new();
    bars.hold(
        rate >= LEAST_A_SECOND,
        format!("decoding: {:.1} million records a second (at least 20)", rate / 1e6),
    );
    Ok(bars)
}

fn layouts() -> anyhow::Result<Layouts> {
    macro_rules! text {
        ($name:literal) => {
            include_str!(concat!("../../../crates/trace/tests/formats/", $name, ".txt"))
        };
    }
    let texts = [
        (Tracepoint::Switch, text!("sched_switch")),
        (Tracepoint::Waking, text!("sched_waking")),
        (Tracepoint::Enter, text!("sys_enter")),
        (Tracepoint::Return, text!("sys_exit")),
        (Tracepoint::Fault, text!("page_fault_user")),
    ];
    let mut layouts = Layouts::default();
    for (point, text) in texts {
        layouts.add_tracepoint(point, text).with_context(|| point.tracefs_path())?;
    }
    layouts.set_page(text!("header_page"))?;
    Ok(layouts)
}

/// One of each kind, by the ids and lengths of those descriptions.
fn records() -> Vec<Vec<u8>> {
    let kinds: [(u16, usize); 5] = [(372, 64), (375, 36), (443, 64), (442, 24), (190, 32)];
    let record = |(id, bytes): (u16, usize)| {
        let mut record: Vec<u8> = id.to_le_bytes().to_vec();
        record.extend([0, 0]);
        record.extend(1234_u32.to_le_bytes());
        record.resize(bytes, 0);
        record
    };
    kinds.into_iter().map(record).collect()
}

/// Pages full of them, and how many there are.
fn pages(records: &[Vec<u8>]) -> (Vec<u8>, usize) {
    let mut pages = Vec::with_capacity(PAGES * PAGE_BYTES);
    let mut all = records.iter().cycle().peekable();
    let mut count = 0;
    for page in 0..PAGES as u64 {
        let mut data = Vec::new();
        while let Some(record) = all.next_if(|next| 16 + data.len() + 4 + next.len() <= PAGE_BYTES)
        {
            let words = record.len() as u32 / 4;
            // 100 ns after the one before.
            data.extend((100 << 5 | words).to_le_bytes());
            data.extend(record);
            count += 1;
        }
        pages.extend((page * 100_000).to_le_bytes());
        pages.extend((data.len() as u64).to_le_bytes());
        pages.extend(data);
    }
    (pages, count)
}
