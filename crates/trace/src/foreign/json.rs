//! The JSON of Chrome, Node.js, VizTracer and others: an array of events, or an object with
//! `traceEvents`. It has spans and moments of threads, and nothing of the kernel.

use super::import::Importer;
use super::marks::{Marks, Nest, Owner};
use super::{About, ForeignError, ForeignTrace, Part, TraceInput};
use model::trace::Thread;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufReader, Read};

/// Events that are kept until they are sorted.
const MOST_EVENTS: usize = 4 << 20;

/// Whether the first bytes are such a file. Runs of latlas are objects, too.
pub(super) fn is_trace(first: &[u8]) -> bool {
    let text = first.trim_ascii_start();
    let has = |key: &[u8]| first.windows(key.len()).any(|part| part == key);
    match text.first() {
        Some(b'{') => has(b"\"traceEvents\""),
        Some(b'[') => has(b"\"ph\""),
        _ => false,
    }
}

/// An event as it is written.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(default, borrow)]
    ph: Cow<'a, str>,
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    ts: Option<Time>,
    #[serde(default)]
    dur: Option<Time>,
    #[serde(default)]
    pid: Option<Number>,
    #[serde(default)]
    tid: Option<Number>,
    #[serde(default)]
    args: Option<Arguments>,
    #[serde(default, borrow)]
    cat: Option<Cow<'a, str>>,
    #[serde(default)]
    id: Option<Number>,
    #[serde(default)]
    id2: Option<Number2>,
}

/// The number of what is not of a thread, which may be one of its process only.
#[derive(Default, Deserialize)]
struct Number2 {
    #[serde(default)]
    local: Option<Number>,
    #[serde(default)]
    global: Option<Number>,
}

/// Of the arguments only the name that metadata gives to a thread or process.
#[derive(Default)]
struct Arguments(Option<String>);

/// A number of a thread or process, or a text in its place.
enum Number {
    Number(u32),
    Text(String),
}

/// µs in ns.
#[derive(Clone, Copy)]
struct Time(i64);

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time in µs")
    }

    fn visit_u64<E: serde::de::Error>(self, us: u64) -> Result<Time, E> {
        i64::try_from(us)
            .ok()
            .and_then(|us| us.checked_mul(1_000))
            .map(Time)
            .ok_or_else(|| E::custom("a time is too large"))
    }

    fn visit_i64<E: serde::de::Error>(self, us: i64) -> Result<Time, E> {
        us.checked_mul(1_000).map(Time).ok_or_else(|| E::custom("a time is too large"))
    }

    fn visit_f64<E: serde::de::Error>(self, us: f64) -> Result<Time, E> {
        let ns = (us * 1e3).round();
        match ns.abs() < 9e18 {
            true => Ok(Time(ns as i64)),
            false => Err(E::custom("a time is too large")),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
        text.trim().parse::<f64>().map_err(E::custom).and_then(|us| self.visit_f64(us))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        from.deserialize_any(TimeVisitor)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Number(number) => number.fmt(f),
            Number::Text(text) => f.write_str(text),
        }
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of a thread or process")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        let fits =
            u32::try_from(number).ok().filter(|&number| number < Thread::FIRST_WITHOUT_NUMBER);
        Ok(fits.map_or_else(|| Number::Text(number.to_string()), Number::Number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        let fits =
            u32::try_from(number).ok().filter(|&number| number < Thread::FIRST_WITHOUT_NUMBER);
        Ok(fits.map_or_else(|| Number::Text(number.to_string()), Number::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        Ok(Number::Text(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Number, E> {
        let number = text.parse().ok().filter(|&number| number < Thread::FIRST_WITHOUT_NUMBER);
        Ok(number.map_or_else(|| Number::Text(text.to_owned()), Number::Number))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::Number(0))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        from.deserialize_any(NumberVisitor)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = Arguments;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Arguments, A::Error> {
        let mut name = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key == "name" {
                true => name = map.next_value::<Loose>()?.0,
                false => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(Arguments(name))
    }

    fn visit_unit<E>(self) -> Result<Arguments, E> {
        Ok(Arguments(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Arguments, E> {
        Ok(Arguments(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Arguments, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Arguments(None))
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Arguments, D::Error> {
        from.deserialize_any(ArgumentsVisitor)
    }
}

/// A text, or something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrOther {
    Text(String),
    Other(IgnoredAny),
}

struct Loose(Option<String>);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Loose, D::Error> {
        Ok(Loose(match TextOrOther::deserialize(from)? {
            TextOrOther::Text(text) => Some(text),
            TextOrOther::Other(_) => None,
        }))
    }
}

/// What an event marks.
#[derive(Clone, Copy)]
enum Marked {
    Begin(u32),
    End,
    Span {
        name: u32,
        length_ns: u64,
    },
    Moment(u32),
    /// Of no thread: which one it is.
    RequestBegin {
        name: u32,
        request: u32,
    },
    RequestEnd {
        name: u32,
        request: u32,
    },
}

/// What was read of the file.
#[derive(Default)]
struct Events {
    /// Time, thread, and what.
    all: Vec<(i64, Owner, Marked)>,
    names: Vec<String>,
    by_name: HashMap<String, u32>,
    threads: HashMap<Owner, String>,
    processes: HashMap<u32, String>,
    /// Numbers for what has none.
    numbers: HashMap<String, u32>,
    /// By what names them.
    requests: HashMap<String, u32>,
    is_full: bool,
    /// Only the first time is looked for,
    only_first: bool,
    first_ns: Option<i64>,
    /// or this part of the file.
    part_ns: Option<(i64, i64)>,
}

impl Events {
    /// Whether it lies in the part. Begins and ends before it may be of spans that reach into it.
    fn wants(&self, at_ns: i64, marked: Marked) -> bool {
        let Some((from_ns, to_ns)) = self.part_ns else {
            return true;
        };
        let last_ns = match marked {
            Marked::Moment(_) => at_ns,
            Marked::Span { length_ns, .. } => at_ns.saturating_add_unsigned(length_ns),
            _ => to_ns,
        };
        last_ns >= from_ns && at_ns <= to_ns
    }

    fn number(&mut self, number: Option<Number>) -> (u32, Option<String>) {
        match number {
            None => (0, None),
            Some(Number::Number(number)) => (number, None),
            Some(Number::Text(text)) => {
                let next = Thread::FIRST_WITHOUT_NUMBER + self.numbers.len() as u32;
                let number = *self.numbers.entry(text.clone()).or_insert(next);
                (number, Some(text))
            }
        }
    }

    fn name_place(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), number);
        number
    }

    /// The number of a request: requests of a process differ in category or number.
    fn request(
        &mut self,
        category: Option<Cow<'_, str>>,
        id: Option<Number>,
        id2: Option<Number2>,
    ) -> u32 {
        let Number2 { local, global } = id2.unwrap_or_default();
        let id = id.or(local).or(global).map_or_else(String::new, |id| id.to_string());
        let next = self.requests.len() as u32;
        *self.requests.entry(format!("{} {id}", category.unwrap_or_default())).or_insert(next)
    }

    /// Reads a file; whether it is cut off.
    fn take_file(&mut self, input: &TraceInput) -> Result<bool, ForeignError> {
        let stream = BufReader::with_capacity(1 << 20, Stream { input, at: 0 });
        let mut json = serde_json::Deserializer::from_reader(stream);
        match Document(self).deserialize(&mut json) {
            Ok(()) => Ok(false),
            Err(error) if error.is_io() => Err(ForeignError::Read(error.into())),
            // Chrome writes no end of the array if it is ended itself.
            Err(error) if error.is_eof() => Ok(true),
            Err(_) => Err(ForeignError::Damaged("it is not the JSON of a trace")),
        }
    }

    fn add(&mut self, event: Written<'_>) {
        let (process, _) = self.number(event.pid);
        let (thread, text) = self.number(event.tid);
        let owner = (process, thread);
        let name = event.name.as_deref().unwrap_or("");
        if event.ph == "M" {
            let given = event.args.and_then(|arguments| arguments.0);
            match (name, given) {
                ("thread_name", Some(given)) => _ = self.threads.insert(owner, given),
                ("process_name", Some(given)) => _ = self.processes.insert(process, given),
                _ => {}
            }
            return;
        }
        if let Some(text) = text {
            self.threads.entry(owner).or_insert(text);
        }
        let marked = match event.ph.as_ref() {
            "B" => Marked::Begin(self.name_place(name)),
            "E" => Marked::End,
            "X" => {
                let length_ns = event.dur.map_or(0, |Time(ns)| u64::try_from(ns).unwrap_or(0));
                Marked::Span { name: self.name_place(name), length_ns }
            }
            "i" | "I" | "R" => Marked::Moment(self.name_place(name)),
            "b" | "S" | "e" | "F" => {
                let name = self.name_place(name);
                let request = self.request(event.cat, event.id, event.id2);
                match event.ph.as_ref() {
                    "b" | "S" => Marked::RequestBegin { name, request },
                    _ => Marked::RequestEnd { name, request },
                }
            }
            _ => return,
        };
        let Some(Time(at_ns)) = event.ts.filter(|Time(at_ns)| self.wants(*at_ns, marked)) else {
            return;
        };
        self.first_ns = Some(self.first_ns.map_or(at_ns, |first_ns| first_ns.min(at_ns)));
        match self.all.len() >= MOST_EVENTS {
            _ if self.only_first => {}
            true => self.is_full = true,
            false => self.all.push((at_ns, owner, marked)),
        }
    }
}

/// Reads the events one by one, whatever is around them.
struct Document<'e>(&'e mut Events);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("events, or an object with traceEvents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(OneEvent(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key == "traceEvents" {
                true => map.next_value_seed(Document(self.0))?,
                false => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

struct OneEvent<'e>(&'e mut Events);

impl<'de> DeserializeSeed<'de> for OneEvent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.add(Written::deserialize(from)?);
        Ok(())
    }
}

/// A file as a stream.
struct Stream<'f> {
    input: &'f TraceInput,
    at: u64,
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read_at(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

pub(super) fn read_json(
    input: &TraceInput,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    let mut events = Events::default();
    // Events stand in any order: of a part it must be known first when the file begins.
    if part.from_ns.is_some() || part.to_ns.is_some() {
        let mut first = Events { only_first: true, ..Events::default() };
        first.take_file(input)?;
        let first_ns = first.first_ns.ok_or(ForeignError::Empty)?;
        let [from_ns, to_ns] = [part.from_ns.unwrap_or(0), part.to_ns.unwrap_or(u64::MAX)]
            .map(|ns| first_ns.saturating_add_unsigned(ns));
        events.part_ns = Some((from_ns, to_ns));
        events.first_ns = Some(first_ns);
    }
    let is_cut_off = events.take_file(input)?;
    // What begins together stays in the order of the file.
    events.all.sort_by_key(|(at_ns, ..)| *at_ns);
    let first_ns = events.first_ns.ok_or(ForeignError::Empty)?;
    let mut marks = Marks::default();
    let mut last_ns = first_ns;
    // Times may lie before the beginning of the clock.
    let shifted = |at_ns: i64| (i128::from(at_ns) - i128::from(first_ns.min(0))) as u64;
    for (at_ns, owner, marked) in std::mem::take(&mut events.all) {
        let name = |at: u32| events.names[at as usize].as_str();
        let at = shifted(at_ns);
        let nest = Nest::Thread(owner);
        last_ns = last_ns.max(at_ns);
        match marked {
            Marked::Begin(of) => marks.begin(at, nest, owner, name(of)),
            Marked::End => marks.end(at, nest),
            Marked::Moment(of) => marks.moment(at, owner, name(of)),
            Marked::RequestBegin { name: of, request } => {
                if let Some(lane) = marks.lane(owner.0, name(of), false) {
                    marks.begin(at, Nest::Request(lane, request.into()), lane, name(of));
                }
            }
            Marked::RequestEnd { name: of, request } => {
                if let Some(lane) = marks.lane(owner.0, name(of), true) {
                    marks.end(at, Nest::Request(lane, request.into()));
                }
            }
            Marked::Span { name: of, length_ns } => {
                let to_ns = at_ns.saturating_add_unsigned(length_ns);
                last_ns = last_ns.max(to_ns);
                marks.span((at, shifted(to_ns)), owner, name(of));
            }
        }
    }
    let mut importer = Importer::new(shifted(first_ns), part, None);
    for (owner, name) in events.threads {
        importer.describe(owner, name);
    }
    for (process, name) in events.processes {
        importer.describe_main((process, process), name);
    }
    importer.set_marks(marks, shifted(last_ns));
    if events.is_full {
        importer.set_full();
    }
    let about = About {
        name: name.to_owned(),
        recorder: "trace events in JSON".into(),
        is_cut_off,
        ..About::default()
    };
    importer.finish(about, Vec::new())
}
