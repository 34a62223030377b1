//! Requests to a worker, and what it answers.

use super::Conductor;
use crate::cell_state::{PackFailure, VisitFailure};
use crate::observer::Observer;
use crate::pack;
use crate::run_remark::RunRemark;
use crate::schedule::Visit;
use crate::wire::{Reply, VisitRequest};
use crate::worker_pool::{PATIENCE, WorkerPool};
use model::run::Regime;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::role::{Loss, Lost, frame};

/// A worker may take this many times as long for a visit as it should.
const PATIENCE_FACTOR: f64 = 50.0;

impl<P: WorkerPool> Conductor<'_, P> {
    fn request(&self, visit: &Visit, is_extra: bool) -> VisitRequest {
        let number = visit.cell as usize;
        let cell = &self.plan.cells[number];
        // An extra visit waits for a quiet machine, which a distribution has
        // no use for: it describes the machine as it is. Where the gate knows no
        // quiet machine it is an ordinary one, whose readings may show one.
        let waits = is_extra && cell.regime == Regime::Gated && self.visits_made[number] > 0;
        let gate = self.context.as_ref().map(|context| &context.gate);
        VisitRequest {
            steps: false,
            cell: visit.cell,
            probe: cell.probe as u32,
            pack: cell.pack.clone(),
            variant: cell.variant.clone(),
            at: cell.at.clone(),
            regime: cell.regime,
            samples: self.pace.samples(self.plan, number),
            last_level_canary: cell.last_level_canary,
            wait_for_quiet: gate.filter(|gate| waits && gate.can_be_quiet()).cloned(),
        }
    }

    pub(super) fn carry_out(
        &mut self,
        batch: &[Visit],
        is_extra: bool,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) {
        // A cell may have been given up since the batch was made.
        let may = |visit: &&Visit| !self.cells[visit.cell as usize].given_up;
        let batch: Vec<Visit> = batch.iter().filter(may).copied().collect();
        let Some(&Visit { worker, cell }) = batch.first() else {
            return;
        };
        // A worker of a pack visits no other cells.
        let of_pack = self.plan.cells[cell as usize].pack.is_some();
        let requests: Vec<VisitRequest> = batch.iter().map(|v| self.request(v, is_extra)).collect();
        let costs_ns = batch.iter().map(|v| self.visit_ns(v.cell as usize));
        let dearest_ns = costs_ns.fold(0.0, f64::max);
        let (patience, factor) = match of_pack {
            true => (pack::PATIENCE, pack::PATIENCE_FACTOR),
            false => (PATIENCE, PATIENCE_FACTOR),
        };
        let patience = patience.max(Duration::from_nanos((dearest_ns * factor) as u64));
        let began = self.pool.elapsed();
        let (answers, lost) = self.pool.visit(worker, &requests, patience, stop);
        let took = self.pool.elapsed() - began;
        let kept = answers.len();
        let replies = answers.iter().map(|answer| frame::parse_body(answer));
        let replies: Vec<io::Result<Reply>> = replies.collect();
        let visited_ns = |reply: &io::Result<Reply>| match reply {
            Ok(Reply::Visited { wall_ns, .. }) => Some(*wall_ns),
            _ => None,
        };
        let within = Duration::from_nanos(replies.iter().filter_map(visited_ns).sum());
        let is_whole = lost.is_none() && replies.iter().all(|reply| visited_ns(reply).is_some());
        // What a visit that fails takes says nothing of the others.
        if is_whole {
            self.between.0 += took.as_nanos() as f64;
            self.between.1 += within.as_nanos() as f64;
        }
        let has_nothing = |visit: &Visit| self.cells[visit.cell as usize].samples.is_empty();
        let mut visits = replies.iter().zip(&batch);
        let refuses = of_pack
            && visits.any(|(reply, visit)| visited_ns(reply).is_none() && has_nothing(visit));
        if refuses && lost.is_none() {
            self.give_back(took.saturating_sub(within));
        }
        for (reply, request) in replies.into_iter().zip(&requests) {
            match reply {
                Ok(reply) => self.take_reply(reply, request, is_extra),
                Err(e) => self.remarks.push(RunRemark::Unreadable(e.to_string())),
            }
        }
        match lost {
            None => {}
            Some(Lost { how: Loss::Stopped, .. }) => self.interrupted = true,
            Some(loss) if of_pack => {
                self.lose_pack(&batch, kept, began, &loss, observer);
                self.carry_out(&batch[(kept + 1).min(batch.len())..], is_extra, observer, stop);
            }
            Some(loss) => self.lose(worker, batch.get(kept), &loss, observer),
        }
    }

    pub(super) fn take_reply(&mut self, reply: Reply, request: &VisitRequest, is_extra: bool) {
        match reply {
            Reply::Visited {
                cell,
                ops_per_turn,
                parts,
                modes,
                loops_alike,
                notes,
                contradiction,
                wall_ns,
            } => {
                let leader = cell as usize;
                if leader >= self.cells.len() {
                    return;
                }
                self.cells[leader].wall_ns += wall_ns;
                self.visits_done += 1;
                if parts.iter().all(|part| part.samples.is_empty()) {
                    // It waited in vain for a quiet machine.
                    return;
                }
                if !is_extra {
                    let planned = &self.plan.cells[leader];
                    self.pace.note_visit(leader, planned, request.samples, wall_ns);
                }
                for number in self.plan.together(leader) {
                    let state = &mut self.cells[number];
                    state.visits += 1;
                    if let Some(how) = &contradiction {
                        state.contradict(how);
                    }
                }
                for part in parts {
                    let together = self.plan.together(leader);
                    let Some(number) =
                        together.into_iter().find(|&n| self.plan.cells[n].variant == part.variant)
                    else {
                        // A variant that was not asked for.
                        continue;
                    };
                    let state = &mut self.cells[number];
                    state.ops_per_turn = ops_per_turn;
                    state.modes.clone_from(&modes);
                    state.loops_alike = loops_alike;
                    state.notes.extend(notes.iter().cloned());
                    self.readings.add_samples(&part.samples);
                    state.samples.extend(part.samples);
                    self.estimates[number] = None;
                }
                self.visits_made[leader] += 1;
                self.extra_made[leader] += u32::from(is_extra);
            }
            Reply::Unavailable { cell, reason } => {
                if cell as usize >= self.cells.len() {
                    return;
                }
                for number in self.plan.together(cell as usize) {
                    self.cells[number].fail(VisitFailure::Work(reason.clone()));
                }
                self.visits_done += 1;
            }
            Reply::Ready { .. } => {}
        }
    }

    /// Time that a fault of a pack took: the run goes on for as long.
    fn give_back(&mut self, took: Duration) {
        self.first += took;
        self.end += took;
        self.lost += took;
    }

    /// A worker of a pack is gone, and another takes its place: the row it was at is given up.
    fn lose_pack(
        &mut self,
        batch: &[Visit],
        kept: usize,
        began: Duration,
        loss: &Lost,
        observer: &mut dyn Observer,
    ) {
        let Some(visit) = batch.get(kept) else {
            return;
        };
        let number = visit.cell as usize;
        self.cells[number].lose_pack(loss);
        self.estimates[number] = None;
        self.pool.restart(visit.worker);
        self.give_back(self.pool.elapsed() - began);
        let remark = RunRemark::PackLost {
            row: self.plan.cells[number].cell_name(),
            failure: PackFailure::from(loss),
        };
        observer.warning(&remark);
        self.remarks.push(remark);
    }

    /// A worker is gone: its samples stay, the row it was at is marked.
    fn lose(&mut self, worker: u32, at: Option<&Visit>, loss: &Lost, observer: &mut dyn Observer) {
        self.pool.end_worker(worker);
        let cell = at.map(|visit| {
            for number in self.plan.together(visit.cell as usize) {
                self.cells[number].lose_worker(loss);
            }
            self.plan.cells[visit.cell as usize].cell_name()
        });
        let remark = RunRemark::WorkerLost { loss: loss.clone(), cell };
        observer.warning(&remark);
        self.remarks.push(remark);
    }
}
