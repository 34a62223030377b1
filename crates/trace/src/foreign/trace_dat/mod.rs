//! trace-cmd's `trace.dat`, versions 6 and 7: `trace-cmd.dat.v6(5)`, `trace-cmd.dat.v7(5)`.

mod head;
mod pages;

use super::in_order::{CpuEvents, first_ns, tell_in_order};
use super::{About, ForeignError, ForeignTrace, Importer, Note, Part, TraceInput};
use head::{Buffer, FileHead};
use pages::CpuPages;
use std::cmp::Reverse;

/// The first bytes of each such file.
pub(super) const MAGIC: [u8; 10] = *b"\x17\x08\x44tracing";

/// How times of the file become ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Ns,
    /// Ticks of a counter, by a factor and a shift.
    Ticks {
        factor: u32,
        shift: u32,
    },
}

impl Scale {
    fn ns(self, at: u64) -> u64 {
        match self {
            Scale::Ns => at,
            Scale::Ticks { factor, shift } => {
                let product = u128::from(at) * u128::from(factor);
                u64::try_from(product.checked_shr(shift).unwrap_or(0)).unwrap_or(u64::MAX)
            }
        }
    }
}

pub(super) fn read_trace_dat(
    input: &TraceInput,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    let head = FileHead::parse_head(input)?;
    let (buffer, notes) = used_buffer(&head)?;
    let scale = head.scale(&buffer.clock)?;
    let mut cpus = Vec::new();
    let mut unread_bytes = 0;
    for cpu in &buffer.cpus {
        let mut pages = CpuPages::new(input, &head, buffer, cpu, scale);
        if pages.advance()? {
            cpus.push(pages);
        } else {
            unread_bytes += pages.unread_bytes;
        }
    }
    let first_ns = first_ns(&cpus).ok_or(ForeignError::Empty)?;
    let mut importer = Importer::new(first_ns, part, head.yield_call());
    for (thread, name) in &head.names {
        importer.add_name(*thread, name.as_bytes());
    }
    tell_in_order(&mut cpus, &mut importer)?;
    unread_bytes += cpus.iter().map(|pages| pages.unread_bytes).sum::<u64>();
    let about = About {
        name: name.to_owned(),
        recorder: head.recorder(),
        kernel: head.kernel.clone(),
        architecture: head.architecture.clone(),
        cpu_count: u32::try_from(buffer.cpus.len()).unwrap_or(u32::MAX),
        began: head.began(&buffer.clock, first_ns),
        unread_bytes,
        is_cut_off: cpus.iter().any(|pages| pages.is_cut_off) || buffer.is_cut_off(input.length()),
    };
    importer.finish(about, notes)
}

/// The buffer with the most data: of the same events each has its own times.
fn used_buffer(head: &FileHead) -> Result<(&Buffer, Vec<Note>), ForeignError> {
    let used = head
        .buffers
        .iter()
        .enumerate()
        .max_by_key(|(at, buffer)| (buffer.byte_count(), Reverse(*at)));
    let (place, used) =
        used.filter(|(_, buffer)| buffer.byte_count() > 0).ok_or(ForeignError::Empty)?;
    let name = |buffer: &Buffer| match buffer.name.as_str() {
        "" => "top".to_owned(),
        name => name.to_owned(),
    };
    let others = head.buffers.iter().enumerate();
    let others = others.filter(|(at, buffer)| *at != place && buffer.byte_count() > 0);
    let others: Vec<String> = others.map(|(_, buffer)| name(buffer)).collect();
    let note = Note::Buffers { used: name(used), others };
    let is_alone = matches!(&note, Note::Buffers { others, .. } if others.is_empty());
    Ok((used, if is_alone { Vec::new() } else { vec![note] }))
}
