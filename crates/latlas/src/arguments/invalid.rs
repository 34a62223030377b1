//! Why the value of an option is refused; clap prints it after the value.

/// An invalid value.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
pub enum InvalidValue {
    #[error("{0}; give a time with its unit, such as 30s or 2m")]
    Time(#[from] humantime::DurationError),
    #[error("give at most 24h")]
    LongTime,
    #[error("0 would close every connection; give at least 1ms")]
    NoIdleTime,
    #[error("0 would kill every run; give at least 1ms")]
    NoTimeLimit,
    #[error("0 would record nothing; give at least 1ms")]
    NoTraceTime,
    #[error("give 20ms to 1h, such as 100ms")]
    CpuInterval,
    #[error("give a percentile such as p99, or a time such as 5ms")]
    Percentile,
    #[error("give a size from 1MiB to 4GiB, such as 256MiB")]
    TraceBuffer,
    #[error("give a size above 0, such as 64KiB")]
    HeapSize,
    #[error("give fp, dwarf, or dwarf,SIZE with a multiple of 8 from 256 to 32KiB")]
    Stacks,
    #[error("give a number from 1 to 200000")]
    Operations,
    #[error("give 100ms to 10m")]
    NoiseSpan,
    #[error("give 1ms to 5s")]
    JobTime,
    #[error("give a size from 1MiB to 1024GiB, such as 256MiB or 10GB")]
    QosSize,
    #[error("give a size from 4KiB to 64MiB, such as 256KiB")]
    QosBlock,
    #[error("levels are background, utility, default, user-initiated, user-interactive or numbers")]
    QosLevel,
    #[error("give host and port, such as 192.0.2.7:7411 or [2001:db8::7]:7411")]
    Address,
    #[error("a name has 1 to 64 letters, digits, -, _ and +")]
    Name,
    /// Not a CPU; `latlas exec --pin ls` forgets the `--`.
    #[error("give a CPU number, or put -- before the command")]
    Cpu,
    #[error("give CPUs such as 1, 2-3 or 0,4-5")]
    Cpus,
    #[error("give a number or a size, such as 4 or 16KiB")]
    Point,
    #[error("give a date such as 2026-11-01, or how long ago, such as 30d")]
    Date,
    #[error("give a factor from 0.1 to 10")]
    Scale,
    #[error("give a number with mm, cm, in, pt or px, such as 85mm; without a unit it is px")]
    Length,
    #[error("give a width from 60mm, or 320px, to 10000px")]
    Width,
    #[error("give a height from 36mm to 20000px")]
    Height,
    #[error("give a size from 1KiB to 256MiB, such as 64MiB")]
    UploadSize,
    #[error("give a FILE, or end the command line with | cat")]
    OutputPipe,
    #[error("give exit codes from 1 to 255, such as 1,2")]
    ExitCodes,
    #[error("give a percentage above 0 and up to 1000, such as 10%")]
    Percent,
}
