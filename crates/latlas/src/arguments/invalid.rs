//! Why the value of an option is refused; clap prints it after the value.

/// An invalid value.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
pub(crate) enum InvalidValue {
    /// Not a time.
    #[error("{0}; give a time with its unit, such as 30s or 2m")]
    Time(#[from] humantime::DurationError),
    /// A time that no measurement takes.
    #[error("give at most 24h")]
    LongTime,
    /// An idle time of 0.
    #[error("0 would close every connection; give at least 1ms")]
    NoIdleTime,
    /// A time limit of 0.
    #[error("0 would kill every run; give at least 1ms")]
    NoTimeLimit,
    /// A trace of no length.
    #[error("0 would record nothing; give at least 1ms")]
    NoTraceTime,
    /// Not an interval of a recording of CPUs.
    #[error("give 20ms to 1h, such as 100ms")]
    CpuInterval,
    /// Not a size of a trace's buffer.
    #[error("give a size from 1MiB to 4GiB, such as 256MiB")]
    TraceBuffer,
    /// Not a way to find stacks.
    #[error("give fp, dwarf, or dwarf,SIZE with a multiple of 8 from 256 to 32KiB")]
    Stacks,
    /// More operations of a traced row than a trace can hold, or none.
    #[error("give a number from 1 to 200000")]
    Operations,
    /// A measurement of noise that is too short or too long.
    #[error("give 100ms to 10m")]
    NoiseSpan,
    /// A job of an experiment that is too short or too long.
    #[error("give 1ms to 5s")]
    JobTime,
    /// Not a size of the file that is compressed.
    #[error("give a size from 1MiB to 1024GiB, such as 256MiB or 10GB")]
    QosSize,
    /// Not a size of a block.
    #[error("give a size from 4KiB to 64MiB, such as 256KiB")]
    QosBlock,
    /// Neither the name of a level nor a number.
    #[error("levels are background, utility, default, user-initiated, user-interactive or numbers")]
    QosLevel,
    /// Not an address.
    #[error("give host and port, such as 192.0.2.7:7411 or [2001:db8::7]:7411")]
    Address,
    /// Not the name of a command's row.
    #[error("a name has 1 to 64 letters, digits, -, _ and +")]
    Name,
    /// Not a CPU; `latlas exec --pin ls` forgets the `--`.
    #[error("give a CPU number, or put -- before the command")]
    Cpu,
    /// Not a list of CPUs.
    #[error("give CPUs such as 1, 2-3 or 0,4-5")]
    Cpus,
    /// Not a point of a curve.
    #[error("give a number or a size, such as 4 or 16KiB")]
    Point,
    /// Not a date.
    #[error("give a date such as 2026-11-01, or how long ago, such as 30d")]
    Date,
    /// Not a factor of a picture's size.
    #[error("give a factor from 0.1 to 10")]
    Scale,
    /// Not a length.
    #[error("give a number with mm, cm, in, pt or px, such as 85mm; without a unit it is px")]
    Length,
    /// A width at which text does not fit, or that no picture has.
    #[error("give a width from 60mm, or 320px, to 10000px")]
    Width,
    /// A height at which nothing is seen, or that no picture has.
    #[error("give a height from 36mm to 20000px")]
    Height,
    /// Not a size of an upload.
    #[error("give a size from 1KiB to 256MiB, such as 64MiB")]
    UploadSize,
    /// Not exit codes of a failure.
    #[error("give exit codes from 1 to 255, such as 1,2")]
    ExitCodes,
    /// Not a share.
    #[error("give a percentage above 0 and up to 1000, such as 10%")]
    Percent,
}
