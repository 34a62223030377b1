//! `sched_{get,set}affinity(2)` with a mask of our own: `cpu_set_t` ends at
//! CPU 1023 and then the call fails on larger machines.

use std::io;

/// CPUs the mask can hold: the largest NR_CPUS a kernel can be built with.
const MOST_CPUS: usize = 8192;
const WORD: usize = 64;
type MaskWords = [u64; MOST_CPUS / WORD];

/// A set of CPUs as the kernel takes it.
#[derive(Clone, Debug)]
pub(crate) struct Mask(MaskWords);

impl Mask {
    /// Makes it the set of a task (0: the calling thread). One system call,
    /// which reads the mask.
    pub(crate) fn apply(&self, task: libc::pid_t) -> io::Result<()> {
        // SAFETY: the kernel only reads `size_of::<Words>()` bytes.
        match unsafe {
            libc::sched_setaffinity(task, size_of::<MaskWords>(), self.0.as_ptr().cast())
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The set of a task; 0 is the calling thread.
pub(crate) fn allowed_to(pid: libc::pid_t) -> io::Result<Vec<u32>> {
    let mut mask: MaskWords = [0; MOST_CPUS / WORD];
    // SAFETY: the kernel writes at most `size_of_val(&mask)` bytes to `mask`,
    // which is larger than a `cpu_set_t` and at least as aligned.
    let status = unsafe {
        libc::sched_getaffinity(
            pid,
            size_of_val(&mask),
            mask.as_mut_ptr().cast::<libc::cpu_set_t>(),
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((0..MOST_CPUS as u32)
        .filter(|&cpu| mask[cpu as usize / WORD] >> (cpu as usize % WORD) & 1 == 1)
        .collect())
}

/// The set of these CPUs; `EINVAL` for one that Linux can't have.
pub(crate) fn mask(cpus: &[u32]) -> io::Result<Mask> {
    let mut mask: MaskWords = [0; MOST_CPUS / WORD];
    for &cpu in cpus {
        let Some(word) = mask.get_mut(cpu as usize / WORD) else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        *word |= 1 << (cpu as usize % WORD);
    }
    Ok(Mask(mask))
}

/// The CPU the calling thread is on at this moment; about 20 ns on x86-64,
/// without a system call.
#[inline]
pub fn current_cpu() -> Option<u32> {
    u32::try_from(rustix::thread::sched_getcpu()).ok()
}
