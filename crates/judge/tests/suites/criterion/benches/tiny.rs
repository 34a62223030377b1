use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn all(c: &mut Criterion) {
    c.bench_function("chain", |b| b.iter(|| tiny::chain(black_box(1000))));
    c.bench_function("at", |b| b.iter(|| tiny::at(black_box(&[1, 2, 3]), black_box(1))));
    let mut group = c.benchmark_group("grp (x)");
    for n in [10, 100] {
        group.bench_with_input(BenchmarkId::new("f/[a]", n), &n, |b, &n| b.iter(|| tiny::chain(n)));
    }
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
