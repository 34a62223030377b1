//! The program `latlas` as its users run it: command lines in, text, documents and
//! exit codes out. Shapes and promises are asserted, never times.
#![allow(clippy::disallowed_methods)]

mod support;

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
#[cfg(target_os = "linux")]
mod fleet;
mod fleet_report;
mod history;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(target_os = "linux")]
mod named_files;
#[cfg(target_os = "linux")]
mod noise;
#[cfg(target_os = "linux")]
mod pack;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod plan_time;
mod plot;
#[cfg(target_os = "linux")]
mod qos;
mod recorded;
mod refused;
mod report;
mod rows;
mod serve;
mod shell;
mod show;
mod standard_output;
mod table;
#[cfg(target_os = "linux")]
mod tails;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod trace_stacks;
#[cfg(target_os = "linux")]
mod trace_usdt;
mod untouched;
