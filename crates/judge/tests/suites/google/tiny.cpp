#include <benchmark/benchmark.h>
#include <cstdint>

template <class T> static T chain(int n) {
  T x = T(n) | 1;
  for (int i = 0; i < n; i++) {
    x *= T(6364136223846793005u);
    benchmark::DoNotOptimize(x);
  }
  return x;
}

template <class T> static void BM_Chain(benchmark::State &state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(chain<T>(int(state.range(0))));
}
BENCHMARK_TEMPLATE(BM_Chain, uint64_t)->Arg(100)->Arg(1000);
BENCHMARK_TEMPLATE(BM_Chain, uint32_t)->Arg(100);
BENCHMARK_MAIN();
