//! What a visit marks in a trace.

use super::OneVisit;
use crate::probe::Probe;
use crate::wire::{Reply, VariantSamples};
use model::stats;
use model::trace::row::{Marks, Spin};
use sys::clock::OnRaw;

/// Why a visit marks nothing.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoMarks {
    /// The row could not be measured.
    #[error("{0}")]
    Unavailable(String),
    #[error("no batch was made")]
    NoVisit,
    #[error("its samples are differences of two durations: none has a start and an end to draw")]
    Differences,
}

impl OneVisit {
    /// The stamps of a visit to this probe, in ns of CLOCK_MONOTONIC_RAW.
    pub fn marks(self, probe: &Probe) -> Result<Marks, NoMarks> {
        let (notes, medians_ns) = match self.reply {
            Reply::Visited { mut notes, contradiction, parts, ops_per_turn, .. } => {
                notes.extend(contradiction);
                let of = |part: VariantSamples| {
                    let figure = median_ns(&part, ops_per_turn, &self.on_raw)?;
                    Some((part.variant, figure))
                };
                (notes, parts.into_iter().filter_map(of).collect())
            }
            Reply::Unavailable { reason, .. } => return Err(NoMarks::Unavailable(reason)),
            Reply::Ready { .. } => return Err(NoMarks::NoVisit),
        };
        let spin = self.spun.map(|spun| {
            let detours = spun.detours.iter();
            let ns = |ticks| self.on_raw.ns(ticks);
            Spin {
                thread: sys::thread::current_id().unwrap_or(0),
                detours: detours.map(|&(from, to)| (ns(from), ns(to))).collect(),
                fault_ns: self.on_raw.length_ns(spun.fault_ticks).round() as u64,
                interrupts: spun.interrupts,
            }
        });
        let mut marks = Marks {
            spin,
            visit_ns: self.stretch_ns,
            error_ns: self.on_raw.error_ns(),
            notes,
            watch: self.watch,
            medians_ns,
            ..Marks::default()
        };
        for event in &self.events {
            let Some((place, thread)) = event.place.and_then(|place| Some((place, place.thread?)))
            else {
                continue;
            };
            let name = name_of(probe, event.series);
            let known = marks.names.iter().position(|known| *known == name);
            let at = known.unwrap_or_else(|| {
                marks.names.push(name);
                marks.names.len() - 1
            });
            // Where two threads race, the second stamp may be the earlier one.
            let (from, to) =
                (event.from_ticks.min(event.to_ticks), event.from_ticks.max(event.to_ticks));
            let ns = |ticks: u64| self.on_raw.ns(place.zero_ticks.wrapping_add(ticks));
            marks.marks.push((at as u32, ns(from), ns(to), thread));
        }
        for step in &self.steps {
            let known = marks.names.iter().position(|known| known == step.name);
            let at = known.unwrap_or_else(|| {
                marks.names.push(step.name.to_owned());
                marks.names.len() - 1
            });
            let [from, to] = [step.from_ticks, step.to_ticks].map(|ticks| self.on_raw.ns(ticks));
            marks.steps.push((at as u32, from, to, step.thread));
        }
        if let Some(first) = self.events.first()
            && self.events.iter().all(|event| event.ops == first.ops)
        {
            marks.counted = first.ops;
        }
        if marks.marks.is_empty() { Err(NoMarks::Differences) } else { Ok(marks) }
    }
}

fn median_ns(part: &VariantSamples, ops_per_turn: f64, on_raw: &OnRaw) -> Option<u64> {
    const TICKS: u64 = 1 << 30;
    let ns_per_tick = on_raw.length_ns(TICKS) / TICKS as f64;
    let samples = part.samples.iter();
    let ns = samples.map(|s| s.work_ticks() * ns_per_tick / (s.turns as f64 * ops_per_turn));
    let ns = stats::sorted(ns);
    ns.get(ns.len() / 2).map(|ns| ns.round().max(0.0) as u64)
}

/// What a stamped stretch is called: as its variant, of a visit to several.
fn name_of(probe: &Probe, series: usize) -> String {
    let variant = probe.variants.get(series).filter(|_| probe.together);
    let name = match variant.map(|variant| variant.as_ref()) {
        None | Some("") => probe.id.as_ref(),
        Some(variant) => variant,
    };
    let end = name.rsplit(['.', '/']).next();
    end.unwrap_or(name).to_owned()
}
