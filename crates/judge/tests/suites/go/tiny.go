// Package tiny has what its benchmarks measure.
package tiny

// Chain multiplies n times, each time what came before.
func Chain(n int) uint64 {
	x := uint64(n) | 1
	for i := 0; i < n; i++ {
		x *= 6364136223846793005
	}
	return x
}
