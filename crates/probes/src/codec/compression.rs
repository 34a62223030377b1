//! A kibibyte of text, compressed and decompressed.

use super::{TEXT, blank};
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::{Probe, Work, WorkError};
use std::hint::black_box;
use std::io;

/// A function from bytes to bytes in a buffer that is there; how many it gave.
trait Coder: FnMut(&[u8], &mut [u8]) -> io::Result<usize> + 'static {}
impl<F: FnMut(&[u8], &mut [u8]) -> io::Result<usize> + 'static> Coder for F {}

struct Compressor {
    id: &'static str,
    name: &'static str,
    library: &'static str,
    source: &'static str,
    /// Bytes that a compressed kibibyte may take at most.
    bound: usize,
}

/// The level that the zstd program takes when none is named.
const ZSTD_LEVEL: i32 = 3;

fn snappy() -> Compressor {
    Compressor {
        id: "codec.snappy_1K",
        name: "Snappy",
        library: "The snap crate, raw format; the encoder keeps its hash table and clears it in each call.",
        source: "The 2012 list: \"Compress 1 KB with Zippy\", Google's name for what became Snappy; its text, its machine and its method are unknown. This row is Rust's implementation on a kibibyte of English.",
        bound: snap::raw::max_compress_len(TEXT.len()),
    }
}

fn zstd() -> Compressor {
    Compressor {
        id: "codec.zstd_1K",
        name: "zstd",
        library: "The zstd crate, which is the C library, level 3, with contexts that are kept from call to call.",
        source: "Ours, to compare with the row of Snappy.",
        bound: zstd::zstd_safe::compress_bound(TEXT.len()),
    }
}

fn lz4() -> Compressor {
    Compressor {
        id: "codec.lz4_1K",
        name: "LZ4",
        library: "The lz4_flex crate, block format, with its checked decoder; its hash table is allocated and cleared in each call.",
        source: "Ours, to compare with the row of Snappy.",
        bound: lz4_flex::block::get_maximum_output_size(TEXT.len()),
    }
}

pub(super) fn compression_probes() -> Vec<Probe> {
    [
        both(
            snappy(),
            || {
                let mut encoder = snap::raw::Encoder::new();
                Ok(move |input: &[u8], output: &mut [u8]| {
                    encoder.compress(input, output).map_err(io::Error::other)
                })
            },
            || {
                let mut decoder = snap::raw::Decoder::new();
                Ok(move |input: &[u8], output: &mut [u8]| {
                    decoder.decompress(input, output).map_err(io::Error::other)
                })
            },
        ),
        both(
            zstd(),
            || {
                let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
                Ok(move |input: &[u8], output: &mut [u8]| {
                    compressor.compress_to_buffer(input, output)
                })
            },
            || {
                let mut decompressor = zstd::bulk::Decompressor::new()?;
                Ok(move |input: &[u8], output: &mut [u8]| {
                    decompressor.decompress_to_buffer(input, output)
                })
            },
        ),
        both(
            lz4(),
            || {
                Ok(|input: &[u8], output: &mut [u8]| {
                    lz4_flex::block::compress_into(input, output).map_err(io::Error::other)
                })
            },
            || {
                Ok(|input: &[u8], output: &mut [u8]| {
                    lz4_flex::block::decompress_into(input, output).map_err(io::Error::other)
                })
            },
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The two rows of a compressor, made anew for each visit.
fn both<C: Coder, D: Coder>(
    words: Compressor,
    compressor: fn() -> io::Result<C>,
    decompressor: fn() -> io::Result<D>,
) -> [Probe; 2] {
    let Compressor { id, name, library, source, bound } = words;
    let method = format!(
        "{PLAIN} {library} The output buffer is allocated before. The text is the same each time, so that branches and caches know it; before the first sample compressing and decompressing must give it back."
    );
    let make = move |decompress: bool| -> meter::probe::Make {
        Box::new(move |_, _| {
            let coders = || Ok((compressor()?, decompressor()?));
            let (compressor, decompressor) = coders().doing("can't make a compressor")?;
            coder_work(compressor, decompressor, bound, decompress)
        })
    };
    [
        Probe {
            variants: vec!["".into()],
            title: format!("a kibibyte of text, compressed by {name}").into(),
            operation: format!("1024 bytes of plain English compressed by {name} into an allocated buffer; decompressing is /decompress.").into(),
            method: method.clone().into(),
            source: source.into(),
            make: make(false),
            ..blank(id)
        },
        Probe {
            variants: vec!["decompress".into()],
            title: format!("a kibibyte of text, decompressed by {name}").into(),
            operation: format!("1024 bytes of plain English decompressed by {name} into an allocated buffer.").into(),
            method: method.into(),
            source: "Ours: the way back from what the row compresses.".into(),
            make: make(true),
            ..blank(id)
        },
    ]
}

/// Compressing or decompressing the text, once it came back whole.
fn coder_work<'w>(
    mut compress: impl Coder,
    mut decompress: impl Coder,
    bound: usize,
    back: bool,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let mut small = vec![0; bound];
    let length = compress(TEXT, &mut small).doing("compressing failed")?;
    small.truncate(length);
    let mut text = [0; TEXT.len()];
    let length = decompress(&small, &mut text).doing("decompressing failed")?;
    if text[..length] != *TEXT {
        return Err(Reason::wrong("decompressing gives another text than was compressed").into());
    }
    let sizes = format!("the text: {} bytes, compressed {}", TEXT.len(), small.len());
    if back {
        let mut output = vec![0; TEXT.len()];
        let call = move || {
            black_box(decompress(black_box(&small), &mut output)?);
            black_box(&output);
            Ok(())
        };
        return calls("decompressing", call).tried()?.note(sizes).boxed();
    }
    let mut output = vec![0; bound];
    let call = move || {
        black_box(compress(black_box(TEXT), &mut output)?);
        black_box(&output);
        Ok(())
    };
    calls("compressing", call).tried()?.note(sizes).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::run_row;

    #[test]
    fn the_text_gets_smaller_as_english_does() {
        let size = |row: &str| -> usize {
            let notes = run_row(&compression_probes(), row).expect("it runs");
            let size = notes[0].strip_prefix("the text: 1024 bytes, compressed ");
            size.expect("both sizes").parse().expect("a number")
        };
        let snappy = size("codec.snappy_1K");
        let [lz4, zstd] = [size("codec.lz4_1K"), size("codec.zstd_1K/decompress")];
        // A kibibyte has little to refer back to.
        assert!((600..1000).contains(&snappy), "{snappy}");
        assert!((600..1000).contains(&lz4), "{lz4}");
        assert!((400..snappy.min(lz4)).contains(&zstd), "{zstd}");
    }

    #[test]
    fn a_text_that_does_not_come_back_is_no_row() {
        let copy = |input: &[u8], output: &mut [u8]| {
            output[..input.len()].copy_from_slice(input);
            Ok(input.len())
        };
        let lossy = |input: &[u8], _: &mut [u8]| Ok(input.len());
        let fails = |_: &[u8], _: &mut [u8]| Err(io::ErrorKind::InvalidData.into());
        for back in [false, true] {
            assert!(coder_work(copy, copy, 1024, back).is_ok());
            let wrong = "decompressing gives another text than was compressed";
            let why = coder_work(copy, lossy, 1024, back).err();
            assert_eq!(why, Some(Reason::wrong(wrong).into()));
            assert!(coder_work(copy, fails, 1024, back).is_err());
            assert!(coder_work(fails, copy, 1024, back).is_err());
        }
    }
}
