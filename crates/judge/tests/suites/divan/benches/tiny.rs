fn main() {
    divan::main();
}

#[divan::bench]
fn chain() -> u64 {
    tiny::chain(divan::black_box(1000))
}

#[divan::bench]
fn at() -> u64 {
    tiny::element(divan::black_box(&[1, 2, 3]), divan::black_box(1))
}

mod group {
    #[divan::bench(args = [10, 100])]
    fn sized(n: u64) -> u64 {
        tiny::chain(divan::black_box(n))
    }
}
