package main

// #include <stdint.h>
import "C"
import "unsafe"

//export pingPong
func pingPong(_ unsafe.Pointer, turns C.uint64_t) C.uint64_t {
	there, back := make(chan int), make(chan int)
	go func() {
		for value := range there {
			back <- value
		}
	}()
	for turn := C.uint64_t(0); turn < turns; turn++ {
		there <- 1
		<-back
	}
	close(there)
	return turns
}

func main() {}
