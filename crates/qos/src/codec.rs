//! Compressing and decompressing one block.

use model::qos::Codec;
use std::io;

/// One thread's compressor with its buffers: memory is bounded by the size of a
/// block, whatever the size of the file.
pub struct Compressor {
    codec: Inner,
    compressed: Vec<u8>,
    decompressed: Vec<u8>,
    /// Byte of each compressed block that a test damages.
    #[cfg(test)]
    pub(crate) damaged: Option<usize>,
}

enum Inner {
    Zstd(zstd::bulk::Compressor<'static>),
    Lz4,
}

impl Compressor {
    /// For blocks of at most so many bytes.
    pub fn new(codec: Codec, block_bytes: usize) -> io::Result<Compressor> {
        let (codec, most) = match codec {
            Codec::Zstd(level) => (
                Inner::Zstd(zstd::bulk::Compressor::new(level)?),
                zstd::zstd_safe::compress_bound(block_bytes),
            ),
            Codec::Lz4 => (Inner::Lz4, lz4_flex::block::get_maximum_output_size(block_bytes)),
        };
        Ok(Compressor {
            codec,
            compressed: vec![0; most],
            decompressed: Vec::new(),
            #[cfg(test)]
            damaged: None,
        })
    }

    /// Compresses a block; the compressed size.
    pub fn compress(&mut self, block: &[u8]) -> io::Result<usize> {
        match &mut self.codec {
            Inner::Zstd(zstd) => zstd.compress_to_buffer(block, &mut self.compressed[..]),
            Inner::Lz4 => lz4_flex::block::compress_into(block, &mut self.compressed)
                .map_err(io::Error::other),
        }
    }

    /// Compresses a block, decompresses it again and compares; the compressed
    /// size.
    ///
    /// # Errors
    /// What the library says, or that other bytes came back.
    pub fn verify(&mut self, block: &[u8]) -> io::Result<usize> {
        let size = self.compress(block)?;
        #[cfg(test)]
        if let Some(byte) = self.damaged {
            self.compressed[byte] ^= 1;
        }
        self.check_block(size, block)?;
        Ok(size)
    }

    /// Decompresses so many compressed bytes and compares them with the block.
    fn check_block(&mut self, size: usize, block: &[u8]) -> io::Result<()> {
        let compressed = &self.compressed[..size];
        self.decompressed.resize(block.len(), 0);
        let length = match &self.codec {
            Inner::Zstd(_) => {
                zstd::bulk::decompress_to_buffer(compressed, &mut self.decompressed[..])?
            }
            Inner::Lz4 => lz4_flex::block::decompress_into(compressed, &mut self.decompressed)
                .map_err(io::Error::other)?,
        };
        match self.decompressed.get(..length) == Some(block) {
            true => Ok(()),
            false => Err(io::Error::other("not the same after decompression")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back() {
        let block: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        for codec in [Codec::Zstd(3), Codec::Zstd(1), Codec::Lz4] {
            let mut compressor = Compressor::new(codec, block.len()).expect("a level");
            let size = compressor.verify(&block).expect("the same");
            assert!(size < block.len() / 10, "{codec:?}: {size}");
            assert_eq!(compressor.compress(&block).expect("again"), size);
            // Random bytes grow.
            let mut random = fastrand::Rng::with_seed(1);
            let noise: Vec<u8> = (0..1000).map(|_| random.u8(..)).collect();
            assert!(compressor.verify(&noise).expect("the same") > noise.len());
        }
    }

    #[test]
    fn a_damaged_block_is_found() {
        // Random bytes are stored as they are: the last one of the compressed block
        // is one of them.
        let mut random = fastrand::Rng::with_seed(1);
        let block: Vec<u8> = (0..1000).map(|_| random.u8(..)).collect();
        for codec in [Codec::Zstd(3), Codec::Lz4] {
            let mut compressor = Compressor::new(codec, block.len()).expect("a level");
            let size = compressor.compress(&block).expect("a block");
            compressor.check_block(size, &block).expect("the same");
            compressor.compressed[size - 1] ^= 1;
            let error = compressor.check_block(size, &block).expect_err("damaged");
            assert_eq!(error.to_string(), "not the same after decompression");
            // A length that does not fit is found by the library itself.
            assert!(compressor.check_block(size - 1, &block).is_err(), "{codec:?}");
        }
    }
}
