/// Multiplies n times, each time what came before.
pub fn chain(n: u64) -> u64 {
    (0..n).fold(n | 1, |x, _| std::hint::black_box(x.wrapping_mul(6364136223846793005)))
}

/// Panics beyond the end, and says where.
pub fn element(list: &[u64], place: usize) -> u64 {
    list[place]
}
