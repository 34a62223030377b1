// System calls as strace writes them: as many arguments as they have, numbers and addresses told apart,
// names of errors.

// How many arguments are theirs, where they are fewer than the three that are recorded.
const FEWER_ARGUMENTS = [
  "fork vfork getpid gettid getppid getuid geteuid getgid getegid getpgrp setsid sched_yield pause sync munlockall inotify_init restart_syscall rt_sigreturn",
  "close fsync fdatasync syncfs exit exit_group brk dup pipe chdir fchdir chroot rmdir unlink umask alarm time times uname sysinfo getpgid getsid epoll_create epoll_create1 eventfd inotify_init1 mlockall set_tid_address sched_getscheduler sched_get_priority_max sched_get_priority_min swapoff unshare",
  "munmap stat fstat lstat access rename mkdir creat link symlink chmod fchmod truncate ftruncate getcwd kill tkill nanosleep gettimeofday getrlimit setrlimit getrusage clock_gettime clock_getres clock_settime dup2 pipe2 listen shutdown mlock munlock getpriority utime statfs fstatfs set_robust_list sched_getparam sched_setparam rt_sigpending rt_sigsuspend sigaltstack eventfd2 timerfd_create timerfd_gettime timer_gettime setns memfd_create pkey_alloc flock",
].map((names) => new Set(names.split(" ")));
const FUTEX = ["WAIT", "WAKE", "FD", "REQUEUE", "CMP_REQUEUE", "WAKE_OP", "LOCK_PI", "UNLOCK_PI", "TRYLOCK_PI", "WAIT_BITSET", "WAKE_BITSET", "WAIT_REQUEUE_PI", "CMP_REQUEUE_PI", "LOCK_PI2"];
const ERRORS = {
  1: "EPERM", 2: "ENOENT", 3: "ESRCH", 4: "EINTR", 5: "EIO", 6: "ENXIO", 7: "E2BIG", 9: "EBADF", 10: "ECHILD", 11: "EAGAIN", 12: "ENOMEM", 13: "EACCES", 14: "EFAULT", 16: "EBUSY", 17: "EEXIST",
  18: "EXDEV", 19: "ENODEV", 20: "ENOTDIR", 21: "EISDIR", 22: "EINVAL", 23: "ENFILE", 24: "EMFILE", 25: "ENOTTY", 26: "ETXTBSY", 27: "EFBIG", 28: "ENOSPC", 29: "ESPIPE", 30: "EROFS", 31: "EMLINK",
  32: "EPIPE", 34: "ERANGE", 36: "ENAMETOOLONG", 38: "ENOSYS", 39: "ENOTEMPTY", 40: "ELOOP", 61: "ENODATA", 62: "ETIME", 75: "EOVERFLOW", 88: "ENOTSOCK", 95: "EOPNOTSUPP", 98: "EADDRINUSE",
  103: "ECONNABORTED", 104: "ECONNRESET", 105: "ENOBUFS", 106: "EISCONN", 107: "ENOTCONN", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 113: "EHOSTUNREACH", 114: "EALREADY", 115: "EINPROGRESS", 125: "ECANCELED",
  512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 516: "ERESTART_RESTARTBLOCK",
};

// A number: small ones as such, AT_FDCWD by its name, the rest is an address or a set of bits.
function numberText(value) {
  const signed = [64, 32].map((bits) => BigInt.asIntN(bits, value)).find((one) => one < 0n && one > -4096n);
  if (signed !== undefined && (value >> 32n === 0n || value >> 32n === 0xffffffffn)) return signed === -100n ? "AT_FDCWD" : String(signed);
  return value <= 0xffffffn ? String(value) : hex(value);
}
function argumentTexts(name, all) {
  const own = FEWER_ARGUMENTS.findIndex((names) => names.has(name));
  const texts = all.slice(0, own < 0 ? all.length : own).map(numberText);
  const operation = FUTEX[Number(all[1] & 127n)];
  if (name === "futex" && operation) texts[1] = `FUTEX_${operation}${all[1] & 128n ? "_PRIVATE" : ""}${all[1] & 256n ? "|FUTEX_CLOCK_REALTIME" : ""}`;
  return texts;
}
// The kernel's codes of errors are small negative numbers, addresses large ones.
function returnedText(value) {
  if (value > 0xffffffn) return hex(value);
  const error = value < 0n && ERRORS[-value];
  return error ? `${value} (${error})` : String(value);
}
