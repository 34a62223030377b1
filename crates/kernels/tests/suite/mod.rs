//! Every kernel against plain Rust. A module of `functional.rs` for the loops
//! that ship and of `portable.rs` for the fallback; both provide `kernels`.

use crate::kernels::*;

/// Not a good generator, but enough to make every value distinct.
fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 16
}

fn random_bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..count).map(|_| noise(&mut state) as u8).collect()
}

fn random_words(count: usize, seed: u64) -> Vec<u32> {
    let mut state = seed;
    (0..count).map(|_| noise(&mut state) as u32).collect()
}

/// A cycle of `cells` pointers in random order; also the order as indices.
/// The pointers are stored as numbers with their provenance exposed.
fn cycle(cells: usize, seed: u64) -> (Vec<*const u8>, Vec<usize>) {
    let mut order: Vec<usize> = (0..cells).collect();
    let mut state = seed;
    for last in (1..cells).rev() {
        order.swap(last, (noise(&mut state) as usize) % (last + 1));
    }
    let mut memory = vec![std::ptr::null::<u8>(); cells];
    let base = memory.as_mut_ptr();
    for (step, &cell) in order.iter().enumerate() {
        let next = order[(step + 1) % cells];
        // The pointers alias the vector's buffer, which is not reallocated.
        memory[cell] = base.wrapping_add(next).cast();
    }
    (memory, order)
}

fn element_at(memory: &[*const u8], index: usize) -> *const u8 {
    (&raw const memory[index]).cast()
}

#[test]
fn a_chase_arrives_where_it_should() {
    // More cells than loads, so that every count ends in a cell of its own.
    let (memory, order) = cycle(1009, 1);
    for kernel in [chase, chase_on_stack] {
        for loads in [0, 1, 63, 64, 65, 128, 129, 640, 1000] {
            // SAFETY: every cell holds the address of a cell.
            let reached = unsafe { kernel(element_at(&memory, order[0]), loads) };
            let rounded = loads.next_multiple_of(CHASE_UNROLL) as usize;
            assert_eq!(reached, element_at(&memory, order[rounded % order.len()]), "{loads}");
        }
    }
}

#[test]
fn a_chase_carries_on() {
    let (memory, order) = cycle(1009, 2);
    let mut p = element_at(&memory, order[0]);
    for sample in 1..50 {
        // SAFETY: every cell holds the address of a cell.
        p = unsafe { chase(p, 64) };
        assert_eq!(p, element_at(&memory, order[sample * 64 % order.len()]));
    }
}

#[test]
fn parallel_chases_are_single_chases() {
    let (memory, order) = cycle(1009, 3);
    for &count in PARALLEL_CHASES {
        for loads in [0u64, 1, 16, 17, 160] {
            // Each chase starts somewhere else.
            let mut reached: Vec<_> =
                (0..count).map(|chase| element_at(&memory, order[chase * 71])).collect();
            // SAFETY: every cell holds the address of a cell.
            unsafe { chase_parallel(&mut reached, loads) };
            let rounded = loads.next_multiple_of(PARALLEL_CHASE_UNROLL) as usize;
            for (chase, &p) in reached.iter().enumerate() {
                let end = order[(chase * 71 + rounded) % order.len()];
                assert_eq!(p, element_at(&memory, end), "chase {chase} of {count}, {loads}");
            }
        }
    }
}

#[test]
fn numbers_of_chases_without_a_loop_are_refused() {
    let (memory, _) = cycle(16, 4);
    for count in (0..16).filter(|count| !PARALLEL_CHASES.contains(count)) {
        let mut starts = vec![element_at(&memory, 0); count];
        // SAFETY: every cell holds the address of a cell.
        let run = std::panic::AssertUnwindSafe(|| unsafe { chase_parallel(&mut starts, 1) });
        assert!(std::panic::catch_unwind(run).is_err(), "{count}");
    }
}

#[test]
fn scalar_reads_sum() {
    let words = random_words(4 * 320, 5);
    for elements in [0, 32, 64, 96, 320] {
        let sum = |step: usize| {
            words
                .iter()
                .step_by(step)
                .take(elements)
                .fold(0u32, |sum, &word| sum.wrapping_add(word))
        };
        // SAFETY: the vector holds four times as many elements.
        unsafe {
            assert_eq!(read_sequential(words.as_ptr(), elements), sum(1));
            assert_eq!(read_every_4th(words.as_ptr(), elements), sum(4));
        }
    }
}

#[test]
fn scalar_writes_write_what_they_should_and_nothing_else() {
    type Kernel = unsafe fn(*mut u32, usize);
    type Expected = fn(u32) -> u32;
    let kernels: [(Kernel, usize, Expected); 4] = [
        (write_sequential, 1, |_| 1),
        (write_every_4th, 4, |_| 1),
        (read_write_sequential, 1, |old| old.wrapping_mul(2)),
        (read_write_every_4th, 4, |old| old.wrapping_mul(2)),
    ];
    for (index, (kernel, step, new)) in kernels.into_iter().enumerate() {
        for elements in [0, 32, 64, 160] {
            // With a margin, where nothing may change.
            let before = random_words(4 * 160 + 64, 6);
            let mut after = before.clone();
            // SAFETY: the vector is longer than four times the elements.
            unsafe { kernel(after.as_mut_ptr(), elements) };
            for (i, (&old, &now)) in before.iter().zip(&after).enumerate() {
                let touched = i % step == 0 && i / step < elements;
                let expected = if touched { new(old) } else { old };
                assert_eq!(now, expected, "kernel {index}, {elements}, element {i}");
            }
        }
    }
}

#[test]
fn part_of_a_turn_is_refused() {
    let mut words = random_words(4096, 7);
    let p = words.as_mut_ptr();
    let q = p.cast::<u8>();
    // SAFETY: the vector is longer than anything asked for here.
    let calls: [&dyn Fn(); 8] = unsafe {
        [
            &|| assert_eq!(read_sequential(p, 33), 0),
            &|| assert_eq!(read_every_4th(p, 31), 0),
            &|| write_sequential(p, 1),
            &|| write_every_4th(p, 63),
            &|| read_write_sequential(p, 16),
            &|| read_write_every_4th(p, 48),
            &|| assert_eq!(read_vector(q, 255), 0),
            &|| assert_eq!(read_stride(q, 15, 8), 0),
        ]
    };
    for (index, call) in calls.into_iter().enumerate() {
        let run = std::panic::AssertUnwindSafe(call);
        assert!(std::panic::catch_unwind(run).is_err(), "call {index}");
    }
}

/// A buffer aligned to 16 bytes, which `read_vector` asks for.
#[repr(C, align(16))]
struct Aligned([u8; 256 * 5]);

#[test]
fn vector_reads_fold_every_word() {
    let mut buffer = Aligned([0; 256 * 5]);
    buffer.0.copy_from_slice(&random_bytes(256 * 5, 8));
    for bytes in [0, 256, 512, 256 * 5] {
        let expected = buffer.0[..bytes]
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
            .fold(0, |folded, word| folded ^ word);
        // SAFETY: the buffer is that long, and aligned.
        let folded = unsafe { read_vector(buffer.0.as_ptr(), bytes) };
        assert_eq!(folded, expected, "{bytes}");
    }
}

#[test]
fn strided_reads_sum_the_words_at_the_stride() {
    let bytes = random_bytes(8192, 9);
    for stride in [8, 16, 24, 64, 100] {
        for touches in [0, 16, 32, 80] {
            let expected = (0..touches)
                .map(|k| &bytes[k * stride..k * stride + 8])
                .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
                .fold(0u64, u64::wrapping_add);
            // SAFETY: 79 * 100 + 8 bytes are within the vector.
            let sum = unsafe { read_stride(bytes.as_ptr(), touches, stride) };
            assert_eq!(sum, expected, "{touches} at {stride}");
        }
    }
}

#[test]
fn naive_and_vectorised_xor_agree_with_rust() {
    let bytes = random_bytes(1000, 10);
    // Odd starts: the vectorised loop may not assume alignment.
    for start in [0, 1, 7] {
        for count in [0, 1, 2, 15, 63, 64, 65, 127, 128, 200, 900] {
            let slice = &bytes[start..start + count];
            let expected = slice.iter().fold(0, |folded, byte| folded ^ byte);
            // SAFETY: the pointer and length of a slice.
            let (naive, vector) = unsafe {
                (xor_bytes(slice.as_ptr(), count), xor_bytes_vector(slice.as_ptr(), count))
            };
            assert_eq!((naive, vector), (expected, expected), "{start} {count}");
        }
    }
}

#[test]
fn branches_count_odd_bytes() {
    let bytes = random_bytes(1000, 11);
    for count in [0, 1, 2, 3, 100, 1000] {
        let odd = bytes[..count].iter().filter(|&&byte| byte & 1 == 1).count();
        // SAFETY: the vector is that long.
        let counted = unsafe { branches(bytes.as_ptr(), count) };
        assert_eq!(counted, odd as u64, "{count}");
    }
}

#[test]
fn copy_and_fill_do_their_bytes_and_no_more() {
    for count in [0, 1, 16, 100, 1023] {
        let source = random_bytes(1024, 12);
        let mut copied = random_bytes(1024, 13);
        let untouched = copied.clone();
        // SAFETY: two vectors of more bytes than asked for.
        unsafe { copy(copied.as_mut_ptr(), source.as_ptr(), count) };
        assert_eq!(copied[..count], source[..count]);
        assert_eq!(copied[count..], untouched[count..]);
        // SAFETY: a vector of more bytes than asked for.
        unsafe { fill(copied.as_mut_ptr(), 0xA5, count) };
        assert!(copied[..count].iter().all(|&byte| byte == 0xA5));
        assert_eq!(copied[count..], untouched[count..]);
    }
}

#[test]
fn pages_are_touched_and_read_once_each() {
    for (pages, page_bytes) in [(0, 64), (1, 64), (3, 64), (7, 100)] {
        let mut memory = random_bytes(1024, 14);
        let sum: u64 = (0..pages).map(|k| u64::from(memory[k * page_bytes])).sum();
        // SAFETY: seven pages of 100 bytes are within the vector.
        let read = unsafe { read_pages(memory.as_ptr(), pages, page_bytes) };
        assert_eq!(read, sum);
        let before = memory.clone();
        // SAFETY: as above.
        unsafe { touch_pages(memory.as_mut_ptr(), pages, page_bytes) };
        for (i, (&old, &now)) in before.iter().zip(&memory).enumerate() {
            let touched = i % page_bytes == 0 && i / page_bytes < pages;
            assert_eq!(now, if touched { 1 } else { old }, "byte {i} of {pages}");
        }
    }
}

#[test]
fn every_pair_runs_any_number_of_turns() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let present = |feature| cpu.split_whitespace().any(|flag| flag == feature);
    for pair in cpu::pairs().filter(|pair| pair.needs.is_none_or(present)) {
        for turns in [0, 1, 2, 3, 1000] {
            (pair.single)(turns);
            (pair.double)(turns);
        }
    }
}

#[test]
fn divisions_as_ash_run_and_refuse_zero() {
    for turns in [0, 1, 3, 1000] {
        ash_div_u64_single(1, turns);
        ash_div_u64_double(99_999_999, turns);
    }
    assert!(std::panic::catch_unwind(|| ash_div_u64_single(0, 1)).is_err());
    assert!(std::panic::catch_unwind(|| ash_div_u64_double(u64::MAX, 1)).is_err());
}

#[test]
fn canaries_run_any_number_of_turns() {
    for turns in [0, 1, 2, 1001] {
        taken_branches(turns);
        dependent_adds(turns);
        dependent_multiplies(turns);
    }
    assert_eq!(ADDS_PER_TURN, 32);
}

#[test]
fn calls_run_any_number_of_turns() {
    for pair in [&CALL_DIRECT, &CALL_POINTER, &CALL_SHARED_LIBRARY] {
        for turns in [0, 1, 2, 1000] {
            (pair.single)(turns);
            (pair.double)(turns);
        }
    }
}

#[test]
fn objects_and_closures_are_called_as_often_as_stated() {
    struct CallCounter(std::cell::Cell<u64>);
    impl Method for CallCounter {
        fn method(&self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let object = CallCounter(std::cell::Cell::new(0));
    let closure = || {
        object.method();
        7
    };
    let unroll = u64::from(UNROLL);
    let called = || object.0.take();
    for turns in [0, 1, 2, 1000] {
        call_dyn_trait_single(&object, turns);
        assert_eq!(called(), unroll * turns);
        call_dyn_trait_double(&object, turns);
        assert_eq!(called(), 2 * unroll * turns);
        call_closure_single(&closure, turns);
        assert_eq!(called(), unroll * turns);
        call_closure_double(&closure, turns);
        assert_eq!(called(), 2 * unroll * turns);
    }
}
