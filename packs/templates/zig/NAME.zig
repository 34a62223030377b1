const latlas = @import("latlas_probe.zig");

var cell: u64 = 1;

fn increment(_: ?*anyopaque, turns: u64) callconv(.c) u64 {
    const value: *volatile u64 = &cell;
    var turn: u64 = 0;
    while (turn < turns) : (turn += 1) value.* +%= 1;
    return turns;
}

const probes = [_]latlas.Probe{.{
    .id = "@NAME@.increment",
    .title = "increment in memory",
    .operation = "One load, add and store of the same 64-bit number.",
    .flags = latlas.core_clock,
    .run = increment,
}};

const pack = latlas.Pack{
    .count = probes.len,
    .name = "@NAME@",
    .probes = &probes,
    .built_with = "zig -O ReleaseFast",
};

export fn latlas_probe_pack() callconv(.c) *const latlas.Pack {
    return &pack;
}
