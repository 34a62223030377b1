//! Numbers of fields, below the message that they belong to.

pub(crate) mod trace {
    pub(crate) const PACKET: u32 = 1;
}
pub(crate) mod packet {
    pub(crate) const THREAD_DESCRIPTOR: u32 = 44;
    pub(crate) const DROPPED: u32 = 42;
    pub(crate) const CLEARED: u32 = 41;
    pub(crate) const CLOCK: u32 = 58;
    pub(crate) const ZSTD_COMPRESSED: u32 = 133;
    pub(crate) const FTRACE_EVENTS: u32 = 1;
    pub(crate) const PROCESS_TREE: u32 = 2;
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const SEQUENCE: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED_DATA: u32 = 12;
    pub(crate) const SEQUENCE_FLAGS: u32 = 13;
    pub(crate) const SYSTEM_INFO: u32 = 45;
    pub(crate) const COMPRESSED: u32 = 50;
    pub(crate) const DEFAULTS: u32 = 59;
    pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    pub(crate) const PERF_SAMPLE: u32 = 66;
}
pub(crate) mod defaults {
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const CLOCK: u32 = 58;
    /// Of those of track events.
    pub(crate) const TRACK: u32 = 11;
}
pub(crate) mod clocks {
    pub(crate) const UNIT_NS: u32 = 4;
    pub(crate) const CLOCK: u32 = 1;
    pub(crate) const PRIMARY: u32 = 2;
    pub(crate) const ID: u32 = 1;
    pub(crate) const TIMESTAMP: u32 = 2;
    pub(crate) const INCREMENTAL: u32 = 3;
}
pub(crate) mod system {
    pub(crate) const UTSNAME: u32 = 1;
    pub(crate) const SYSNAME: u32 = 1;
    pub(crate) const RELEASE: u32 = 3;
    pub(crate) const MACHINE: u32 = 4;
}
pub(crate) mod tree {
    pub(crate) const PROCESS: u32 = 1;
    pub(crate) const THREAD: u32 = 2;
    pub(crate) const PID: u32 = 1;
    pub(crate) const CMDLINE: u32 = 3;
    pub(crate) const TID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const TGID: u32 = 3;
}
pub(crate) mod bundle {
    pub(crate) const LOST: u32 = 3;
    pub(crate) const COMPACT: u32 = 4;
    pub(crate) const CPU: u32 = 1;
    pub(crate) const EVENT: u32 = 2;
    pub(crate) const CLOCK: u32 = 5;
}
pub(crate) mod ftrace {
    pub(crate) const PRINT: u32 = 3;
    pub(crate) const FLAGS: u32 = 5;
    pub(crate) const WAKEUP: u32 = 17;
    pub(crate) const NEW_WAKING: u32 = 114;
    pub(crate) const RENAME: u32 = 236;
    pub(crate) const EXIT: u32 = 238;
    pub(crate) const ENTER: u32 = 329;
    pub(crate) const RETURN: u32 = 330;
    pub(crate) const TIMER: u32 = 559;
    pub(crate) const IRQ: u32 = 36;
    pub(crate) const TIMESTAMP: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const SWITCH: u32 = 4;
    pub(crate) const WAKING: u32 = 20;
    pub(crate) const NEW_TASK: u32 = 235;
}
pub(crate) mod switch {
    pub(crate) const PREV_COMM: u32 = 1;
    pub(crate) const PREV_PID: u32 = 2;
    pub(crate) const PREV_STATE: u32 = 4;
    pub(crate) const NEXT_COMM: u32 = 5;
    pub(crate) const NEXT_PID: u32 = 6;
}
pub(crate) mod waking {
    pub(crate) const PID: u32 = 2;
    pub(crate) const TARGET_CPU: u32 = 5;
}
pub(crate) mod new_task {
    pub(crate) const PID: u32 = 1;
    pub(crate) const COMM: u32 = 2;
    pub(crate) const CLONE_FLAGS: u32 = 3;
}
pub(crate) mod descriptor {
    pub(crate) const UUID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const PROCESS: u32 = 3;
    pub(crate) const PROCESS_PID: u32 = 1;
    pub(crate) const THREAD: u32 = 4;
    pub(crate) const PARENT: u32 = 5;
    pub(crate) const THREAD_PID: u32 = 1;
    pub(crate) const THREAD_TID: u32 = 2;
    pub(crate) const THREAD_NAME: u32 = 5;
}
pub(crate) mod event {
    pub(crate) const LEGACY: u32 = 6;
    pub(crate) const NAME: u32 = 23;
    pub(crate) const LEGACY_NAME_IID: u32 = 1;
    pub(crate) const LEGACY_PHASE: u32 = 2;
    pub(crate) const LEGACY_DURATION_US: u32 = 3;
    pub(crate) const LEGACY_ID: u32 = 6;
    pub(crate) const LEGACY_LOCAL_ID: u32 = 10;
    pub(crate) const LEGACY_GLOBAL_ID: u32 = 11;
    pub(crate) const LEGACY_PID: u32 = 18;
    pub(crate) const LEGACY_TID: u32 = 19;
    pub(crate) const ANNOTATION: u32 = 4;
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const NAME_IID: u32 = 10;
    pub(crate) const TRACK: u32 = 11;
}
pub(crate) mod annotation {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const UINT: u32 = 3;
    pub(crate) const INT: u32 = 4;
}
pub(crate) mod interned {
    pub(crate) const EVENT_NAMES: u32 = 2;
    pub(crate) const ANNOTATION_NAMES: u32 = 3;
    pub(crate) const FUNCTION_NAMES: u32 = 5;
    pub(crate) const FRAMES: u32 = 6;
    pub(crate) const CALLSTACKS: u32 = 7;
    pub(crate) const MAPPING_PATHS: u32 = 17;
    pub(crate) const MAPPINGS: u32 = 19;
    pub(crate) const IID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
}
pub(crate) mod sample {
    pub(crate) const PID: u32 = 2;
    pub(crate) const TID: u32 = 3;
    pub(crate) const CALLSTACK: u32 = 4;
    pub(crate) const MODE: u32 = 5;
}
pub(crate) mod callstack {
    pub(crate) const IID: u32 = 1;
    pub(crate) const FRAMES: u32 = 2;
}
pub(crate) mod frame {
    pub(crate) const IID: u32 = 1;
    pub(crate) const FUNCTION: u32 = 2;
    pub(crate) const MAPPING: u32 = 3;
    pub(crate) const OFFSET: u32 = 4;
}
pub(crate) mod mapping {
    pub(crate) const IID: u32 = 1;
    pub(crate) const PATH: u32 = 7;
}
pub(crate) mod compact {
    pub(crate) const SWITCH_TIME: u32 = 1;
    pub(crate) const SWITCH_STATE: u32 = 2;
    pub(crate) const SWITCH_NEXT: u32 = 3;
    pub(crate) const NAMES: u32 = 5;
    pub(crate) const SWITCH_NAME: u32 = 6;
    pub(crate) const WAKING_TIME: u32 = 7;
    pub(crate) const WAKING_PID: u32 = 8;
    pub(crate) const WAKING_FLAGS: u32 = 12;
}
pub(crate) mod rename {
    pub(crate) const PID: u32 = 1;
    pub(crate) const NEW_COMM: u32 = 3;
}
pub(crate) mod exit {
    pub(crate) const PID: u32 = 2;
}
pub(crate) mod call {
    pub(crate) const ID: u32 = 1;
    pub(crate) const ARGUMENTS: u32 = 2;
    pub(crate) const RETURNED: u32 = 2;
}
pub(crate) mod print {
    pub(crate) const TEXT: u32 = 2;
}
