//! latlas_probe.h, version 1. SPDX-License-Identifier: MIT OR Apache-2.0

pub const core_clock: u32 = 1;
pub const long: u32 = 2;
pub const faults: u32 = 4;

pub const Context = extern struct {
    context_bytes: u32,
    reserved: u32,
    directory: ?[*:0]const u8,
    ticks: *const fn () callconv(.c) u64,
    reason: [*]u8,
    reason_bytes: usize,
};

pub const Stamp = extern struct { from_ticks: u64, to_ticks: u64 };

pub const Probe = extern struct {
    id: [*:0]const u8,
    title: ?[*:0]const u8 = null,
    operation: ?[*:0]const u8 = null,
    method: ?[*:0]const u8 = null,
    note: ?[*:0]const u8 = null,
    needs: ?[*:0]const u8 = null,
    flags: u32 = 0,
    ops_per_turn: u32 = 1,
    bytes_per_op: u64 = 0,
    about_ns: u64 = 0,
    disk_bytes: u64 = 0,
    setup: ?*const fn (*const Context) callconv(.c) ?*anyopaque = null,
    run: ?*const fn (?*anyopaque, u64) callconv(.c) u64 = null,
    stamped: ?*const fn (?*anyopaque, u32, [*]Stamp) callconv(.c) u32 = null,
    teardown: ?*const fn (?*anyopaque) callconv(.c) void = null,
};

pub const Pack = extern struct {
    version: u32 = 1,
    count: u32,
    probe_bytes: u32 = @sizeOf(Probe),
    reserved: u32 = 0,
    name: [*:0]const u8,
    probes: [*]const Probe,
    built_with: ?[*:0]const u8 = null,
};
