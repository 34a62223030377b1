//! Any bytes as each document that users hand in: refused in one line that has none of the parser's own
//! words, or what is written of it is read again.
#![no_main]

#[path = "../words.rs"]
mod words;

use model::fit::expectation::Expectation;
use model::misfit;
use model::older;
use model::trace::Trace;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What may be unpacked.
const LIMIT: u64 = 4 << 20;

fn refused(line: &str, bytes: &[u8]) {
    words::check(line, &String::from_utf8_lossy(bytes));
}

fn document<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Option<T> {
    match misfit::read_json::<T>(bytes) {
        Ok(read) => {
            let written = serde_json::to_vec(&read).expect("JSON");
            misfit::read_json::<T>(&written).expect("read again");
            Some(read)
        }
        Err(error) => {
            refused(&error.to_string(), bytes);
            None
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind {
        b'q' | b'k' | b'e' | b'o' | b'c' | b'z' => drop(older::recorded(bytes)),
        b't' => drop(document::<Trace>(bytes)),
        b'x' => {
            if let Some(expected) = document::<Expectation>(bytes)
                && let Err(error) = expected.check()
            {
                refused(&error.to_string(), bytes);
            }
        }
        _ => match store::from_bytes_within(bytes, LIMIT) {
            // Infinity can be read in no document, and written in none.
            Ok(run) => drop(store::to_json(&run)),
            Err(error) => refused(&error.to_string(), bytes),
        },
    }
});
