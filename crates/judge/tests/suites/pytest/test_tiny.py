import pytest
from tiny import chain


def test_plain():
    assert chain(0) == 1


@pytest.mark.parametrize("n", [10, 100])
def test_chain(benchmark, n):
    benchmark(chain, n)


def test_few(benchmark):
    benchmark.pedantic(chain, args=(1000,), rounds=5, iterations=2)
