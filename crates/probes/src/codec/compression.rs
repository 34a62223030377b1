//! A kibibyte of text, compressed and decompressed.

use super::{TEXT, blank};
use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Probe, Work};
use std::hint::black_box;
use std::io;

/// A compressor with what it keeps from call to call.
trait Codec: 'static {
    fn new() -> io::Result<Self>
    where
        Self: Sized;

    /// Bytes that a compressed kibibyte may take at most.
    fn bound(&self) -> usize;

    /// Compresses into a buffer; how many bytes it took.
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize>;

    /// Decompresses into a buffer; how many bytes it took.
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize>;
}

struct Snappy(snap::raw::Encoder, snap::raw::Decoder);

impl Codec for Snappy {
    fn new() -> io::Result<Snappy> {
        Ok(Snappy(snap::raw::Encoder::new(), snap::raw::Decoder::new()))
    }
    fn bound(&self) -> usize {
        snap::raw::max_compress_len(TEXT.len())
    }
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        self.0.compress(input, output).map_err(io::Error::other)
    }
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        self.1.decompress(input, output).map_err(io::Error::other)
    }
}

struct Lz4;

impl Codec for Lz4 {
    fn new() -> io::Result<Lz4> {
        Ok(Lz4)
    }
    fn bound(&self) -> usize {
        lz4_flex::block::get_maximum_output_size(TEXT.len())
    }
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        lz4_flex::block::compress_into(input, output).map_err(io::Error::other)
    }
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        lz4_flex::block::decompress_into(input, output).map_err(io::Error::other)
    }
}

/// The level that the zstd program takes when none is named.
const ZSTD_LEVEL: i32 = 3;

struct Zstd(
    zstd::bulk::Compressor<'static>,
    zstd::bulk::Decompressor<'static>,
);

impl Codec for Zstd {
    fn new() -> io::Result<Zstd> {
        let compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        Ok(Zstd(compressor, zstd::bulk::Decompressor::new()?))
    }
    fn bound(&self) -> usize {
        zstd::zstd_safe::compress_bound(TEXT.len())
    }
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        self.0.compress_to_buffer(input, output)
    }
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
        self.1.decompress_to_buffer(input, output)
    }
}

pub(super) fn probes() -> Vec<Probe> {
    [
        both::<Snappy>(
            "codec.snappy_1K",
            "Snappy",
            "The snap crate, raw format; its table of places is the encoder's own and is cleared in each call.",
            "The 2012 list: \"Compress 1 KB with Zippy\", Google's name for what became Snappy; its text, its machine and its method are unknown. Ours is Rust's, on a kibibyte of English.",
        ),
        both::<Zstd>(
            "codec.zstd_1K",
            "zstd",
            "The zstd crate, which is the C library, level 3, with contexts that are kept from call to call.",
            "Ours, beside the row of Snappy.",
        ),
        both::<Lz4>(
            "codec.lz4_1K",
            "LZ4",
            "The lz4_flex crate, block format, with its checked decoder; its table of places is allocated and cleared in each call.",
            "Ours, beside the row of Snappy.",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The two rows of a compressor.
fn both<C: Codec>(id: &'static str, name: &str, library: &str, source: &'static str) -> [Probe; 2] {
    let method = format!(
        "{PLAIN} {library} The output's buffer was prepared. The text is the same each time, so that branches and caches know it; before the first sample compressing and decompressing must give it back."
    );
    [
        Probe {
            variants: vec!["".into()],
            title: format!("a kibibyte of text, compressed by {name}").into(),
            operation: format!("1024 bytes of plain English compressed by {name} into a buffer that is there; decompressing is /decompress.").into(),
            method: method.clone().into(),
            source: source.into(),
            make: Box::new(|_, _| compressing::<C>()),
            ..blank(id)
        },
        Probe {
            variants: vec!["decompress".into()],
            title: format!("a kibibyte of text, decompressed by {name}").into(),
            operation: format!("1024 bytes of plain English decompressed by {name} into a buffer that is there.").into(),
            method: method.into(),
            source: "Ours: the way back from what the row compresses.".into(),
            make: Box::new(|_, _| decompressing::<C>()),
            ..blank(id)
        },
    ]
}

/// A codec and the compressed text, from which it came back whole.
fn checked<C: Codec>() -> Result<(C, Vec<u8>), String> {
    let mut codec = C::new().map_err(|e| format!("a compressor can't be made: {e}"))?;
    let mut small = vec![0; codec.bound()];
    let length = codec.compress(TEXT, &mut small);
    small.truncate(length.map_err(|e| format!("compressing failed: {e}"))?);
    let mut back = [0; TEXT.len()];
    match codec.decompress(&small, &mut back) {
        Ok(length) if back[..length] == *TEXT => Ok((codec, small)),
        Ok(_) => Err("decompressing gives another text than was compressed".into()),
        Err(e) => Err(format!("decompressing failed: {e}")),
    }
}

fn size(small: &[u8]) -> String {
    format!("the text: {} bytes, compressed {}", TEXT.len(), small.len())
}

fn compressing<C: Codec>() -> Result<Box<dyn Work>, String> {
    let (mut codec, small) = checked::<C>()?;
    let mut output = vec![0; codec.bound()];
    let work = Repeated::new("compressing", move || {
        black_box(codec.compress(black_box(TEXT), &mut output)?);
        black_box(&output);
        Ok(())
    })?;
    Ok(Box::new(work.with_note(size(&small))))
}

fn decompressing<C: Codec>() -> Result<Box<dyn Work>, String> {
    let (mut codec, small) = checked::<C>()?;
    let note = size(&small);
    let mut output = vec![0; TEXT.len()];
    let work = Repeated::new("decompressing", move || {
        black_box(codec.decompress(black_box(&small), &mut output)?);
        black_box(&output);
        Ok(())
    })?;
    Ok(Box::new(work.with_note(note)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_text_gets_smaller_as_english_does() {
        let [snappy, lz4, zstd] = [
            checked::<Snappy>().expect("Snappy").1.len(),
            checked::<Lz4>().expect("LZ4").1.len(),
            checked::<Zstd>().expect("zstd").1.len(),
        ];
        // A kibibyte has little to refer back to.
        assert!((600..1000).contains(&snappy), "{snappy}");
        assert!((600..1000).contains(&lz4), "{lz4}");
        assert!((400..snappy.min(lz4)).contains(&zstd), "{zstd}");
    }

    #[test]
    fn each_row_says_both_sizes() {
        for row in ["codec.snappy_1K", "codec.snappy_1K/decompress"] {
            let notes = crate::smoke::run(&probes(), row).expect("it runs");
            let text = "the text: 1024 bytes, compressed ";
            let length = notes[0].strip_prefix(text).expect("the sizes");
            let real = checked::<Snappy>().expect("Snappy").1.len();
            assert_eq!(length, real.to_string());
        }
    }

    /// A compressor that loses the last byte, or all sense.
    struct Broken<const LENGTH: usize>;

    impl<const LENGTH: usize> Codec for Broken<LENGTH> {
        fn new() -> io::Result<Self> {
            Ok(Broken)
        }
        fn bound(&self) -> usize {
            TEXT.len()
        }
        fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
            output.copy_from_slice(input);
            Ok(LENGTH)
        }
        fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
            if input.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            output[..input.len()].copy_from_slice(input);
            Ok(input.len())
        }
    }

    /// Changes nothing, and counts its calls.
    struct Counting;
    static CALLS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

    impl Codec for Counting {
        fn new() -> io::Result<Counting> {
            Ok(Counting)
        }
        fn bound(&self) -> usize {
            TEXT.len()
        }
        fn compress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
            CALLS[0].fetch_add(1, Ordering::SeqCst);
            output.copy_from_slice(input);
            Ok(input.len())
        }
        fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<usize> {
            CALLS[1].fetch_add(1, Ordering::SeqCst);
            output.copy_from_slice(input);
            Ok(input.len())
        }
    }

    #[test]
    fn each_row_does_what_it_says() {
        let probes = both::<Counting>("codec.none_1K", "nothing", "None.", "None.");
        for (row, own) in [("codec.none_1K", 0), ("codec.none_1K/decompress", 1)] {
            CALLS
                .iter()
                .for_each(|calls| calls.store(0, Ordering::SeqCst));
            crate::smoke::run(&probes, row).expect("it runs");
            assert!(CALLS[own].load(Ordering::SeqCst) > 2, "{row}");
            // The check before the first sample.
            assert_eq!(CALLS[1 - own].load(Ordering::SeqCst), 1, "{row}");
        }
    }

    #[test]
    fn a_text_that_does_not_come_back_is_no_row() {
        for work in [
            compressing::<Broken<1023>>(),
            decompressing::<Broken<1023>>(),
        ] {
            let reason = work.err().expect("a byte is gone");
            assert_eq!(
                reason,
                "decompressing gives another text than was compressed"
            );
        }
        let reason = compressing::<Broken<0>>().err().expect("nothing is left");
        assert!(reason.starts_with("decompressing failed: "), "{reason}");
    }
}
