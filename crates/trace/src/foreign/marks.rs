//! Spans and moments that programs marked: as Android's atrace writes them to `trace_marker`, and as
//! slices of Perfetto.

use super::Note;
use crate::signposts::Mark;
use model::trace::Thread;
use std::collections::HashMap;

/// More different names than this are no names.
const MOST_NAMES: usize = 1 << 16;
/// A name is cut off here.
const LONGEST_NAME: usize = 200;

const MOST_LANES: u32 = 1_000;

/// A thread by its process, 0 where that is not known, and its number; or a lane.
pub(super) type Owner = (u32, u32);

/// What spans lie on, one within the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Nest {
    /// What a thread writes.
    Thread(Owner),
    /// A track of Perfetto, by its number.
    Track(u64),
    /// What programs name by a number of their own (asynchronous), on its lane.
    Request(Owner, u64),
}

/// Marks of all threads.
#[derive(Debug, Default)]
pub(super) struct Marks {
    names: HashMap<String, u32>,
    /// Begun, the innermost last: whose, place of the name, since when.
    open: HashMap<Nest, Vec<(Owner, u32, u64)>>,
    /// By thread or lane.
    done: HashMap<Owner, Vec<Mark>>,
    /// Lanes by process and name.
    lanes: HashMap<(u32, String), u32>,
    asynchronous: u64,
    without_begin: u64,
    without_name: u64,
    count: usize,
}

impl Marks {
    /// A text of `trace_marker`, by the conventions of Android's atrace; any other text is a moment.
    /// Whether the text says to which process the thread belongs: that one.
    pub(super) fn add_text(&mut self, at_ns: u64, thread: u32, text: &[u8]) -> Option<u32> {
        let end = text.iter().position(|byte| matches!(byte, 0 | b'\n')).unwrap_or(text.len());
        let text = String::from_utf8_lossy(&text[..end]);
        let (kind, rest) = text.split_once('|').unwrap_or((&text, ""));
        let (process, name) = rest.split_once('|').unwrap_or((rest, ""));
        let process = process.parse().ok();
        let owner = (0, thread);
        match (kind, process) {
            ("B", Some(_)) => self.begin(at_ns, Nest::Thread(owner), owner, name),
            ("E", _) => self.end(at_ns, Nest::Thread(owner)),
            ("I", Some(_)) => self.moment(at_ns, owner, name),
            ("S" | "F" | "G" | "H" | "N", Some(process)) => {
                self.add_request(at_ns, kind, process, name);
            }
            // Values of counters.
            ("C", Some(_)) => {}
            _ if text.trim().is_empty() => {}
            _ => self.moment(at_ns, owner, &text),
        }
        process.filter(|_| ["B", "E", "I"].contains(&kind))
    }

    /// What is not of a thread, as atrace writes it: `S|1|name|cookie`, `F|1|name|cookie`; on a track of its own
    /// `G|1|track|name|cookie`, `H|1|track|cookie`, `N|1|track|name`.
    fn add_request(&mut self, at_ns: u64, kind: &str, process: u32, text: &str) {
        let (lane, rest) = match kind {
            "S" | "F" => text.rsplit_once('|').unwrap_or((text, "")),
            _ => text.split_once('|').unwrap_or((text, "")),
        };
        let (name, cookie) = match kind {
            "S" | "F" => (lane, rest),
            "G" => rest.rsplit_once('|').unwrap_or((rest, "")),
            _ => (rest, rest),
        };
        let is_end = matches!(kind, "F" | "H");
        let Some(owner) = self.lane(process, lane, is_end) else {
            return;
        };
        let nest = Nest::Request(owner, cookie.parse::<i64>().unwrap_or(0).cast_unsigned());
        match kind {
            "N" => self.moment(at_ns, owner, name),
            _ if is_end => self.end(at_ns, nest),
            _ => self.begin(at_ns, nest, owner, name),
        }
    }

    /// The lane of this name, in place of a thread. None is made for an end alone. `None`, and that is counted once
    /// for each span, if there are too many.
    pub(super) fn lane(&mut self, process: u32, name: &str, is_end: bool) -> Option<Owner> {
        let name = shortened(name);
        let key = (process, name.to_owned());
        if let Some(&known) = self.lanes.get(&key) {
            return Some((process, known));
        }
        let count = self.lanes.len() as u32;
        match (is_end, count < MOST_LANES) {
            (true, true) => self.without_begin += 1,
            (true, false) => {}
            (false, false) => self.asynchronous += 1,
            (false, true) => {
                self.lanes.insert(key, Thread::FIRST_LANE + count);
                return Some((process, Thread::FIRST_LANE + count));
            }
        }
        None
    }

    /// What the lanes are called.
    pub(super) fn take_lanes(&mut self) -> impl Iterator<Item = (Owner, String)> + use<> {
        let lanes = std::mem::take(&mut self.lanes).into_iter();
        lanes.map(|((process, name), number)| ((process, number), name))
    }

    pub(super) fn begin(&mut self, at_ns: u64, nest: Nest, owner: Owner, name: &str) {
        // Without a name, it still has an end.
        let name = self.name_place(name).unwrap_or(u32::MAX);
        self.open.entry(nest).or_default().push((owner, name, at_ns));
    }

    pub(super) fn end(&mut self, at_ns: u64, nest: Nest) {
        match self.open.get_mut(&nest).and_then(Vec::pop) {
            Some((owner, name, from_ns)) => {
                self.add(owner, name, from_ns, Some(at_ns.max(from_ns)));
            }
            None => self.without_begin += 1,
        }
    }

    pub(super) fn moment(&mut self, at_ns: u64, owner: Owner, name: &str) {
        let name = self.name_place(name).unwrap_or(u32::MAX);
        self.add(owner, name, at_ns, None);
    }

    pub(super) fn span(&mut self, (from_ns, to_ns): (u64, u64), owner: Owner, name: &str) {
        let name = self.name_place(name).unwrap_or(u32::MAX);
        self.add(owner, name, from_ns, Some(to_ns));
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn kept_bytes(&self) -> usize {
        self.count * size_of::<Mark>()
    }

    /// Forgets what ended before.
    pub(super) fn forget(&mut self) {
        self.done.clear();
        self.count = 0;
    }

    fn add(&mut self, owner: Owner, name: u32, from_ns: u64, to_ns: Option<u64>) {
        if name != u32::MAX {
            self.count += 1;
            self.done.entry(owner).or_default().push(Mark::of_signpost(name, from_ns, to_ns));
        }
    }

    fn name_place(&mut self, name: &str) -> Option<u32> {
        let name = shortened(name);
        if let Some(&known) = self.names.get(name) {
            return Some(known);
        }
        if self.names.len() >= MOST_NAMES {
            self.without_name += 1;
            return None;
        }
        let number = self.names.len() as u32;
        self.names.insert(name.to_owned(), number);
        Some(number)
    }

    /// All of them with their names, those without an end included, and what was left out.
    pub(super) fn into_marks(mut self) -> (Vec<String>, HashMap<Owner, Vec<Mark>>, Vec<Note>) {
        for (owner, name, from_ns) in std::mem::take(&mut self.open).into_values().flatten() {
            if name != u32::MAX {
                let unfinished = Mark::unfinished(name, from_ns);
                self.done.entry(owner).or_default().push(unfinished);
            }
        }
        let mut names = vec![String::new(); self.names.len()];
        for (name, at) in self.names {
            names[at as usize] = name;
        }
        let notes = [
            (self.asynchronous, Note::Asynchronous(self.asynchronous)),
            (self.without_begin, Note::Ends(self.without_begin)),
            (self.without_name, Note::Names(self.without_name)),
        ];
        let notes = notes.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note);
        (names, self.done, notes.collect())
    }
}

fn shortened(name: &str) -> &str {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => &name[..end],
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_no_thread_lies_on_lanes() {
        let mut marks = Marks::default();
        let texts = [
            "S|5|load|1",
            "S|5|load|2",
            "F|5|load|1",
            "F|5|load|2",
            "G|5|frames|draw|7",
            "N|5|frames|late",
            "H|5|frames|7",
            "F|5|never|3",
            "S|6|a|b|-4",
            "F|6|a|b|-4",
        ];
        for (at, text) in texts.iter().enumerate() {
            assert_eq!(marks.add_text(at as u64, 50, text.as_bytes()), None);
        }
        let lanes: HashMap<Owner, String> = marks.take_lanes().collect();
        let (names, done, notes) = marks.into_marks();
        let done = done.into_iter().flat_map(|(owner, all)| {
            let lane = lanes[&owner].clone();
            all.into_iter().map(move |mark| (owner.0, lane.clone(), mark))
        });
        let mut done: Vec<_> = done.collect();
        done.sort_by_key(|(process, lane, mark)| (*process, lane.clone(), format!("{mark:?}")));
        let mark = |name: &str, from, to| {
            let place = names.iter().position(|known| known == name).expect("named") as u32;
            Mark::of_signpost(place, from, to)
        };
        let expected = [
            (5, "frames", mark("draw", 4, Some(6))),
            (5, "frames", mark("late", 5, None)),
            (5, "load", mark("load", 0, Some(2))),
            (5, "load", mark("load", 1, Some(3))),
            (6, "a|b", mark("a|b", 8, Some(9))),
        ];
        assert_eq!(done, expected.map(|(process, lane, mark)| (process, lane.to_owned(), mark)));
        assert_eq!(notes, [Note::Ends(1)]);
    }

    #[test]
    fn lanes_are_limited() {
        let mut marks = Marks::default();
        for at in 0..1_500 {
            marks.add_text(at, 50, format!("S|5|{at}|1").as_bytes());
            marks.add_text(at, 50, format!("F|5|{at}|1").as_bytes());
        }
        let (_, done, notes) = marks.into_marks();
        assert_eq!((done.len(), notes), (1_000, vec![Note::Asynchronous(500)]));
    }
}
