//! Probe packs: shared libraries that export `latlas_probe_pack()`, by the C header
//! `packs/include/latlas_probe.h`. A library is loaded only in a process that may be lost: what it does
//! there can't be checked.

use crate::clock::Counter;
use libloading::Library;
use std::collections::HashMap;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// Version of the header that is read here.
pub const VERSION: u32 = 1;

/// What a pack may have at most.
const MOST_PROBES: u32 = 4096;

/// Room for a reason of `setup`.
const REASON_BYTES: usize = 512;

/// `latlas_context`.
#[repr(C)]
struct CContext {
    context_bytes: u32,
    reserved: u32,
    directory: *const c_char,
    ticks: extern "C" fn() -> u64,
    reason: *mut c_char,
    reason_bytes: usize,
}

/// `latlas_stamp`: an operation between two readings of the counter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Before it.
    pub from_ticks: u64,
    /// After it.
    pub to_ticks: u64,
}

type SetupFn = unsafe extern "C" fn(*const CContext) -> *mut c_void;
type Run = unsafe extern "C" fn(*mut c_void, u64) -> u64;
type Stamped = unsafe extern "C" fn(*mut c_void, u32, *mut Stamp) -> u32;
type Teardown = unsafe extern "C" fn(*mut c_void);

/// `latlas_probe`.
#[repr(C)]
struct CProbe {
    id: *const c_char,
    title: *const c_char,
    operation: *const c_char,
    method: *const c_char,
    note: *const c_char,
    needs: *const c_char,
    flags: u32,
    ops_per_turn: u32,
    bytes_per_op: u64,
    about_ns: u64,
    disk_bytes: u64,
    setup: Option<SetupFn>,
    run: Option<Run>,
    stamped: Option<Stamped>,
    teardown: Option<Teardown>,
}

/// `latlas_pack`.
#[repr(C)]
struct CPack {
    version: u32,
    count: u32,
    probe_bytes: u32,
    reserved: u32,
    name: *const c_char,
    probes: *const u8,
    built_with: *const c_char,
}

/// Flags of a probe.
mod flag {
    pub(super) const CORE_CLOCK: u32 = 1;
    pub(super) const LONG: u32 = 2;
    pub(super) const FAULTS: u32 = 4;
}

/// Why a file is no pack.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum PackError {
    #[error("can't be loaded: {0}")]
    NotLoaded(String),
    #[error("is not a probe pack: it has no function latlas_probe_pack")]
    NoPack,
    #[error("is not a probe pack: latlas_probe_pack() returned NULL")]
    Null,
    #[error("is not a probe pack: {0}")]
    Damaged(String),
}

/// A loaded pack. It is never unloaded, since threads of it may run.
#[derive(Debug)]
pub struct Pack {
    /// Version of the header that it was built with.
    pub version: u32,
    /// Its name.
    pub name: String,
    /// Compiler and flags; empty if unknown, and in a pack of another version.
    pub built_with: String,
    /// Its probes; in a pack of another version, their ids and nothing else.
    pub probes: Vec<PackProbe>,
}

/// A probe of a pack.
#[derive(Debug, Default)]
pub struct PackProbe {
    /// Id of its row.
    pub id: String,
    /// A few words.
    pub title: String,
    /// What one operation is.
    pub operation: String,
    /// How it is performed.
    pub method: String,
    /// What a reader must know with the figure; empty for nothing.
    pub note: String,
    /// The CPU feature that it needs; empty for none.
    pub needs: String,
    /// Whether its time follows the core clock.
    pub core_clock: bool,
    /// Whether it is measured as a distribution.
    pub long: bool,
    /// Whether page faults are part of it.
    pub faults: bool,
    /// Operations in a turn.
    pub ops_per_turn: u32,
    /// Bytes that an operation moves, if the row is a bandwidth.
    pub bytes_per_op: u64,
    /// About what an operation takes, ns.
    pub about_ns: u64,
    /// Bytes that it keeps on disk.
    pub disk_bytes: u64,
    setup: Option<SetupFn>,
    run: Option<Run>,
    stamped: Option<Stamped>,
    teardown: Option<Teardown>,
}

/// Loads a pack, or gives the one that this process loaded from this path before.
pub fn load(path: &Path) -> Result<&'static Pack, PackError> {
    type Loaded = HashMap<PathBuf, Result<&'static Pack, PackError>>;
    static LOADED: OnceLock<Mutex<Loaded>> = OnceLock::new();
    let mut loaded = match LOADED.get_or_init(Mutex::default).lock() {
        Ok(loaded) => loaded,
        Err(poisoned) => poisoned.into_inner(),
    };
    let entry = loaded.entry(path.to_owned());
    entry.or_insert_with(|| load_new(path)).clone()
}

fn load_new(path: &Path) -> Result<&'static Pack, PackError> {
    // SAFETY: constructors of the library run, which is what loading it means; this process may be lost.
    let library = unsafe { Library::new(path) }.map_err(|error| {
        let why = error.source().map_or(error.to_string(), <_>::to_string);
        PackError::NotLoaded(why)
    })?;
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the header gives the function of this name this type.
    let function = unsafe {
        library
            .get::<unsafe extern "C" fn() -> *const CPack>(c"latlas_probe_pack".to_bytes_with_nul())
    };
    let function = function.map_err(|_| PackError::NoPack)?;
    // SAFETY: as above; the header has it return a pack that stays, or nothing.
    let pack = unsafe { function().as_ref() }.ok_or(PackError::Null)?;
    Ok(Box::leak(Box::new(read_pack(pack)?)))
}

fn read_pack(pack: &CPack) -> Result<Pack, PackError> {
    let damaged = |what: String| Err(PackError::Damaged(what));
    let is_ours = pack.version == VERSION;
    let least = match is_ours {
        true => size_of::<CProbe>(),
        // The id.
        false => size_of::<*const c_char>(),
    };
    if (pack.probe_bytes as usize) < least {
        return damaged(format!("a probe has {} bytes", pack.probe_bytes));
    }
    if pack.count > MOST_PROBES || pack.probes.is_null() && pack.count > 0 {
        return damaged(format!("it has {} probes", pack.count));
    }
    let probe = |number: u32| {
        let offset = number as usize * pack.probe_bytes as usize;
        // SAFETY: the header has `count` probes of `probe_bytes` bytes here.
        let at = unsafe { pack.probes.add(offset) };
        match is_ours {
            // SAFETY: one of this version, whose size was checked; packs are aligned as C does it.
            true => probe_from_c(unsafe { &*at.cast::<CProbe>() }),
            false => PackProbe {
                // SAFETY: the id is at the start of a probe in all versions.
                id: c_string(unsafe { *at.cast::<*const c_char>() }),
                ..PackProbe::default()
            },
        }
    };
    Ok(Pack {
        version: pack.version,
        name: c_string(pack.name),
        built_with: if is_ours { c_string(pack.built_with) } else { String::new() },
        probes: (0..pack.count).map(probe).collect(),
    })
}

fn probe_from_c(probe: &CProbe) -> PackProbe {
    let has = |flag: u32| probe.flags & flag != 0;
    PackProbe {
        id: c_string(probe.id),
        title: c_string(probe.title),
        operation: c_string(probe.operation),
        method: c_string(probe.method),
        note: c_string(probe.note),
        needs: c_string(probe.needs),
        core_clock: has(flag::CORE_CLOCK),
        long: has(flag::LONG),
        faults: has(flag::FAULTS),
        ops_per_turn: probe.ops_per_turn.max(1),
        bytes_per_op: probe.bytes_per_op,
        about_ns: probe.about_ns,
        disk_bytes: probe.disk_bytes,
        setup: probe.setup,
        run: probe.run,
        stamped: probe.stamped,
        teardown: probe.teardown,
    }
}

/// A string of C; empty for NULL.
fn c_string(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: the header has zero-terminated strings that stay.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_string_lossy().into_owned()
}

impl PackProbe {
    /// Whether it stamps its operations.
    pub fn stamps(&self) -> bool {
        self.stamped.is_some()
    }

    /// Whether it has anything to run.
    pub fn has_work(&self) -> bool {
        self.run.is_some() || self.stamped.is_some()
    }

    /// Sets it up. `directory` is for its files.
    pub fn set_up(&'static self, directory: Option<&Path>) -> Result<Ready, String> {
        let Some(setup) = self.setup else {
            let state = std::ptr::null_mut();
            return Ok(Ready { probe: self, state });
        };
        let directory = directory.map(|path| CString::new(path.as_os_str().as_bytes()));
        let directory = directory.transpose().map_err(|error| error.to_string())?;
        let mut reason = [0 as c_char; REASON_BYTES];
        let context = CContext {
            context_bytes: size_of::<CContext>() as u32,
            reserved: 0,
            directory: directory.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
            ticks,
            reason: reason.as_mut_ptr(),
            reason_bytes: REASON_BYTES,
        };
        // SAFETY: the function of the header; the context lives until it returns.
        let state = unsafe { setup(&context) };
        if !state.is_null() {
            return Ok(Ready { probe: self, state });
        }
        let written = reason.iter().take(REASON_BYTES - 1).take_while(|&&c| c != 0);
        let written: Vec<u8> = written.map(|&c| c as u8).collect();
        match written.is_empty() {
            true => Err("its setup() failed and gave no reason".to_owned()),
            false => Err(String::from_utf8_lossy(&written).into_owned()),
        }
    }
}

extern "C" fn ticks() -> u64 {
    static COUNTER: OnceLock<Counter> = OnceLock::new();
    COUNTER.get_or_init(Counter::best).stop()
}

/// A probe that is set up; torn down when dropped.
#[derive(Debug)]
pub struct Ready {
    probe: &'static PackProbe,
    state: *mut c_void,
}

impl Ready {
    /// Performs so many turns. Gives how many it says it performed.
    #[inline]
    pub fn perform(&mut self, turns: u64) -> u64 {
        match self.probe.run {
            // SAFETY: the function of the header, with the state that `setup` gave.
            Some(run) => unsafe { run(self.state, turns) },
            None => 0,
        }
    }

    /// Performs and stamps up to so many operations.
    ///
    /// # Errors
    /// How many it says it performed, if that is more.
    pub fn stamped(&mut self, operations: u32) -> Result<Vec<Stamp>, u32> {
        let Some(stamped) = self.probe.stamped else {
            return Ok(Vec::new());
        };
        let mut stamps = vec![Stamp::default(); operations as usize];
        // SAFETY: as above; there is room for as many stamps.
        let made = unsafe { stamped(self.state, operations, stamps.as_mut_ptr()) };
        if made > operations {
            return Err(made);
        }
        stamps.truncate(made as usize);
        Ok(stamps)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if let Some(teardown) = self.probe.teardown {
            // SAFETY: as above, once and last.
            unsafe { teardown(self.state) }
        }
    }
}
