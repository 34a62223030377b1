//! The allocator of a program that ends where there is no memory.

use std::alloc::{GlobalAlloc, Layout};
use sys::allocator::Allocator;

#[test]
fn what_cant_be_had_ends_with_its_size() {
    let allocator = Allocator(|bytes| panic!("{bytes}"));
    let few = Layout::new::<u64>();
    // Above what any address space has.
    let many = Layout::from_size_align(1 << 62, 8).expect("a layout");
    let failing: [&dyn Fn(); 3] = [
        &|| {
            // SAFETY: a size above 0; nothing comes back.
            let _ = unsafe { allocator.alloc(many) };
        },
        &|| {
            // SAFETY: as above.
            let _ = unsafe { allocator.alloc_zeroed(many) };
        },
        &|| {
            // SAFETY: a block of this allocator and layout, and a size above 0.
            let _ = unsafe { allocator.realloc(allocator.alloc(few), few, 1 << 62) };
        },
    ];
    for fails in failing {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails));
        let text = ended.expect_err("no memory").downcast::<String>();
        assert_eq!(*text.expect("a text"), (1_u64 << 62).to_string());
    }
    // SAFETY: a block, given back with its layout.
    unsafe {
        let block = allocator.realloc(allocator.alloc(few), few, 64);
        block.write_bytes(7, 64);
        allocator.dealloc(block, Layout::from_size_align(64, 8).expect("a layout"));
    }
}
