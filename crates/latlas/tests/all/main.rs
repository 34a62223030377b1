//! The program `latlas` as its users run it: command lines in, text, documents and
//! exit codes out. Shapes and promises are asserted, never times.
#![allow(clippy::disallowed_methods)]

mod support;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_latlas");

mod atlas;
#[cfg(target_os = "linux")]
mod bad_days;
#[cfg(target_os = "linux")]
mod ci;
mod citation;
mod compare;
mod config;
#[cfg(target_os = "linux")]
mod controls;
#[cfg(target_os = "linux")]
mod dispatch;
mod echo;
mod exchange;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod exit_codes;
#[cfg(unix)]
mod fit;
mod history;
#[cfg(target_os = "linux")]
mod judge;
mod lock;
#[cfg(target_os = "linux")]
mod named_files;
#[cfg(target_os = "linux")]
mod noise;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod pack;
mod pages;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod plan_time;
mod plot;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod qos;
mod recorded;
mod refused;
mod report;
mod rows;
mod shell;
mod show;
mod standard_output;
#[cfg(target_os = "linux")]
mod store_helper;
mod table;
#[cfg(target_os = "linux")]
mod tails;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod trace_heap;
#[cfg(target_os = "linux")]
mod trace_stacks;
#[cfg(target_os = "linux")]
mod trace_usdt;
mod untouched;
