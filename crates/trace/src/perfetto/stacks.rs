//! Stacks with which threads left their CPU, as samples of a profiler.

use super::field::{callstack, frame, interned, mapping, packet, sample};
use super::{NEEDS_STATE, SEQUENCE, Writer};
use crate::protobuf::Message;
use std::collections::HashSet;
use std::io;

/// `Profiling.CpuMode`.
const MODE_USER: u64 = 2;

/// What is given already: each is given once, with the first sample that has it.
#[derive(Default)]
struct Given {
    stacks: HashSet<u32>,
    frames: HashSet<u32>,
    /// Places from 1 on; 0 is no file.
    modules: HashSet<u64>,
}

impl Writer<'_> {
    /// All stacks, in a sequence of their own.
    pub(super) fn stacks(&mut self) -> io::Result<()> {
        if self.trace.stacks.is_empty() {
            return Ok(());
        }
        let sequence = SEQUENCE + 1 + self.trace.threads.len() as u64;
        self.clear_sequence(sequence)?;
        let mut given = Given::default();
        for thread in &self.trace.threads {
            for left in &thread.left {
                let new = self.new_stack(left.stack, &mut given);
                let mut one = Message::default();
                one.number(sample::PID, thread.process.into())
                    .number(sample::TID, thread.id.into())
                    .number(sample::CALLSTACK, iid(left.stack))
                    .number(sample::MODE, MODE_USER);
                let at_ns = self.raw_ns(left.at_ns);
                self.packet
                    .number(packet::TIMESTAMP, at_ns)
                    .number(packet::SEQUENCE, sequence)
                    .number(packet::SEQUENCE_FLAGS, NEEDS_STATE)
                    .message(packet::PERF_SAMPLE, &one);
                if !new.bytes().is_empty() {
                    self.packet.message(packet::INTERNED_DATA, &new);
                }
                self.send()?;
            }
        }
        Ok(())
    }

    /// What a stack is made of, as far as it is new.
    fn new_stack(&self, stack: u32, given: &mut Given) -> Message {
        let mut new = Message::default();
        if !given.stacks.insert(stack) {
            return new;
        }
        let stacks = &self.trace.stacks;
        let mut frames: Vec<u32> = stacks.frame_places(stack).collect();
        // The outermost first.
        frames.reverse();
        let mut all = Message::default();
        all.number(callstack::IID, iid(stack));
        for &place in &frames {
            all.number(callstack::FRAMES, iid(place));
            let Some(of) = stacks.frames.get(place as usize).filter(|_| given.frames.insert(place))
            else {
                continue;
            };
            // 1: of no file.
            let module = of.module.map_or(1, |module| iid(module) + 1);
            if given.modules.insert(module) {
                let path = of.module.and_then(|module| stacks.modules.get(module as usize));
                let mut text = Message::default();
                text.number(interned::IID, module)
                    .text(interned::NAME, path.map_or("unknown", String::as_str));
                let mut one = Message::default();
                one.number(mapping::IID, module).number(mapping::PATH, module);
                new.message(interned::MAPPING_PATHS, &text).message(interned::MAPPINGS, &one);
            }
            let mut name = Message::default();
            name.number(interned::IID, iid(place)).text(interned::NAME, &stacks.frame_name(of));
            let mut one = Message::default();
            one.number(frame::IID, iid(place))
                .number(frame::FUNCTION, iid(place))
                .number(frame::MAPPING, module)
                .number(frame::OFFSET, of.offset.unwrap_or(0));
            new.message(interned::FUNCTION_NAMES, &name).message(interned::FRAMES, &one);
        }
        new.message(interned::CALLSTACKS, &all);
        new
    }
}

/// Numbers begin at 1.
fn iid(place: u32) -> u64 {
    u64::from(place) + 1
}
