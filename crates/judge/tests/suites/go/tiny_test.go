package tiny

import (
	"fmt"
	"testing"
)

var sink uint64

func BenchmarkChain(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += Chain(1000)
	}
}

func BenchmarkSizes(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("p(%d)*/a b-16", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				sink += Chain(n)
			}
		})
	}
}

func TestPlain(t *testing.T) {}
