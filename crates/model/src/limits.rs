//! How much the JSON of a document may hold. A few bytes of text become many bytes of
//! memory and of a page, so it is counted before anything is made of it.

/// What a kind of document may hold.
#[derive(Clone, Copy, Debug)]
pub struct DocumentLimits {
    /// Entries of a list or an object, unless it is among `own`.
    pub entries: usize,
    /// Lists by name that have a limit of their own.
    pub own: &'static [(&'static str, usize)],
    /// Objects and lists in which there are numbers only, by name, and entries of each list
    /// in them.
    pub columns: &'static [(&'static str, usize)],
    /// Bytes of a text.
    pub text_bytes: usize,
    /// Bytes of JSON for each text, list and object outside of `columns`.
    pub bytes_per_value: u64,
    /// How many of them there may be in all.
    pub values: u64,
    /// An object by name that has limits of its own, and is not counted in these.
    pub inner: Option<(&'static str, &'static DocumentLimits)>,
}

/// No document is near as large; whatever is larger is not one, or was made to fill the memory.
pub const MOST_BYTES: u64 = 256 << 20;

/// A run: real ones have up to 10,000 rows, 65,536 points of a map, and 40 bytes or more
/// for each value. A sample says in a byte of which of its row's modes it is.
pub const RUN: DocumentLimits = DocumentLimits {
    entries: 16_384,
    own: &[
        ("rows", 1 << 17),
        ("cells", 1 << 17),
        ("points", 1 << 17),
        ("modes", 1 << 8),
        ("ends_ns", 1 << 17),
    ],
    columns: &[("samples", 1 << 22), ("ticks", 1 << 17)],
    text_bytes: 1 << 20,
    bytes_per_value: 16,
    values: 1 << 24,
    inner: Some(("trace", &TRACE)),
};

/// A trace in a run: events are lists of a few numbers. In memory so many take less than 1 GiB.
pub const TRACE: DocumentLimits = DocumentLimits {
    entries: 1 << 24,
    own: &[],
    columns: &[],
    text_bytes: 1 << 20,
    bytes_per_value: 4,
    values: 1 << 24,
    inner: None,
};

/// What a campaign's directory holds: a million hosts at most.
pub const CAMPAIGN: DocumentLimits = DocumentLimits {
    entries: 1 << 20,
    own: &[],
    columns: &[],
    text_bytes: 1 << 20,
    bytes_per_value: 4,
    values: 1 << 21,
    inner: None,
};

/// What a child tells of a probe pack: a few lines of text for each of its probes.
pub const PACK: DocumentLimits = DocumentLimits {
    entries: 1 << 12,
    own: &[],
    columns: &[],
    text_bytes: 1 << 16,
    bytes_per_value: 4,
    values: 1 << 18,
    inner: None,
};

/// How many bytes a compressed document of this size may unpack to, of `most` bytes that it may have at all. Runs
/// and traces unpack to 3 to 7 times their size, those of a few rows or events to more.
pub fn unpacked_bytes(packed: usize, most: u64) -> u64 {
    const ANY: u64 = 16 << 20;
    const FACTOR: u64 = 64;
    ANY.saturating_add(FACTOR.saturating_mul(packed as u64)).min(most)
}

/// Values that any document may have, however short it is.
const FREE_VALUES: u64 = 1 << 14;
/// Lists and objects in each other.
const DEPTH: usize = 64;
/// Bytes of a name that are kept.
const NAME_BYTES: usize = 64;

/// What a document holds too much of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Excess {
    #[error("its list {name:?} has more than {limit} entries")]
    Entries { name: String, limit: usize },
    #[error("a text in {name:?} has more than {limit} bytes")]
    Text { name: String, limit: usize },
    #[error("lists in {0:?} are nested more than {DEPTH} deep")]
    Depth(String),
    #[error("too many values up to {0:?} for a document of its size")]
    Values(String),
}

/// Counts what JSON holds, piece by piece. What is no JSON is for the parser to say.
pub struct Counter<'l> {
    limits: &'l DocumentLimits,
    open: Vec<Open>,
    bytes: u64,
    values: u64,
    /// Those around the object with limits of its own and the depth of that, and the values that are counted
    /// apart: of it, or around it.
    around: Option<(&'l DocumentLimits, usize)>,
    apart: u64,
    text: Option<OpenText>,
    /// The last text, where it may be the name of what follows.
    name: String,
}

/// A list or an object that has not ended.
struct Open {
    is_object: bool,
    /// The next text is a name.
    expects_name: bool,
    name: String,
    entries: usize,
    limit: usize,
    /// Entries of lists in it, where it, or what it is in, is of columns.
    columns: Option<usize>,
}

/// A text that has not ended.
#[derive(Default)]
struct OpenText {
    bytes: usize,
    escaped: bool,
    is_name: bool,
}

impl<'l> Counter<'l> {
    /// Nothing read yet.
    pub fn new(limits: &'l DocumentLimits) -> Counter<'l> {
        Counter {
            limits,
            open: Vec::new(),
            bytes: 0,
            values: 0,
            around: None,
            apart: 0,
            text: None,
            name: String::new(),
        }
    }

    /// How much was counted, bytes.
    pub fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// How many texts, lists and objects were counted.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Counts what follows.
    ///
    /// # Errors
    /// At the first excess.
    pub fn feed(&mut self, json: &[u8]) -> Result<(), Excess> {
        for &byte in json {
            self.bytes += 1;
            if let Some(text) = &mut self.text {
                match byte {
                    _ if text.escaped => text.escaped = false,
                    b'\\' => text.escaped = true,
                    b'"' => {
                        self.text = None;
                        continue;
                    }
                    _ => {}
                }
                text.bytes += 1;
                if text.is_name && self.name.len() < NAME_BYTES && byte.is_ascii_graphic() {
                    self.name.push(char::from(byte));
                }
                if text.bytes > self.limits.text_bytes {
                    return Err(Excess::Text {
                        name: self.innermost_name(),
                        limit: self.limits.text_bytes,
                    });
                }
                continue;
            }
            match byte {
                b'"' => self.begin_text()?,
                b'[' | b'{' => self.begin_container(byte == b'{')?,
                b']' | b'}' => self.end_container(),
                b',' => self.next_entry()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn begin_text(&mut self) -> Result<(), Excess> {
        let is_name = match self.open.last_mut() {
            Some(open) => std::mem::take(&mut open.expects_name),
            None => false,
        };
        self.text = Some(OpenText { is_name, ..OpenText::default() });
        if is_name {
            self.name.clear()
        } else {
            self.value()?
        }
        Ok(())
    }

    fn begin_container(&mut self, is_object: bool) -> Result<(), Excess> {
        let outer = self.open.last();
        let in_columns = outer.and_then(|outer| outer.columns);
        // Lists in lists have no name of their own.
        let name = match outer {
            Some(outer) if !outer.is_object => outer.name.clone(),
            _ => std::mem::take(&mut self.name),
        };
        match self.limits.inner {
            Some((inner, limits)) if is_object && inner == name && self.around.is_none() => {
                self.around = Some((self.limits, self.open.len()));
                self.limits = limits;
                std::mem::swap(&mut self.values, &mut self.apart);
            }
            _ => {}
        }
        let mut own = self.limits.own.iter();
        let own = own.find(|(own, _)| !is_object && *own == name);
        let columns = self.limits.columns.iter().find(|(own, _)| *own == name);
        let columns = in_columns.or(columns.map(|(_, most)| *most));
        let limit = match (in_columns, own, columns) {
            (Some(most), ..) => most,
            (_, Some((_, limit)), _) => *limit,
            (_, _, Some(most)) if !is_object => most,
            _ => self.limits.entries,
        };
        if in_columns.is_none() {
            self.value()?;
        }
        if self.open.len() >= DEPTH {
            return Err(Excess::Depth(self.innermost_name()));
        }
        self.open.push(Open {
            is_object,
            expects_name: is_object,
            columns,
            name,
            entries: 1,
            limit,
        });
        Ok(())
    }

    fn end_container(&mut self) {
        self.open.pop();
        if let Some((limits, depth)) = self.around
            && self.open.len() == depth
        {
            self.limits = limits;
            self.around = None;
            std::mem::swap(&mut self.values, &mut self.apart);
        }
    }

    fn next_entry(&mut self) -> Result<(), Excess> {
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        open.entries += 1;
        open.expects_name = open.is_object;
        let limit = open.limit;
        match open.entries > limit {
            true => Err(Excess::Entries {
                name: first_repeated(self.open.iter().rev().map(|open| &open.name)),
                limit,
            }),
            false => Ok(()),
        }
    }

    /// A text, list or object more.
    fn value(&mut self) -> Result<(), Excess> {
        self.values += 1;
        let most = FREE_VALUES + self.bytes / self.limits.bytes_per_value;
        match self.values > most.min(self.limits.values) {
            true => Err(Excess::Values(self.innermost_name())),
            false => Ok(()),
        }
    }

    /// The innermost name around.
    fn innermost_name(&self) -> String {
        let names = self.open.iter().rev().map(|open| &open.name);
        let own = Some(&self.name).filter(|_| self.open.last().is_none_or(|open| open.is_object));
        first_repeated(own.into_iter().chain(names))
    }
}

/// The first name that is one.
fn first_repeated<'n>(mut names: impl Iterator<Item = &'n String>) -> String {
    let name = names.find(|name| !name.is_empty());
    name.map_or_else(|| "document".to_owned(), String::clone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use serde_json::{Value, json};

    const SMALL: DocumentLimits = DocumentLimits {
        entries: 3,
        own: &[("rows", 5), ("modes", 2)],
        columns: &[("samples", 6)],
        text_bytes: 8,
        bytes_per_value: 16,
        values: 1 << 24,
        inner: None,
    };

    fn counted(json: &str) -> Result<(), String> {
        // Byte by byte, as a reader may have it.
        let mut counter = Counter::new(&SMALL);
        let mut bytes = json.bytes();
        let all = bytes.try_for_each(|byte| counter.feed(&[byte]));
        all.map_err(|excess| excess.to_string())
    }

    #[test]
    fn lists_texts_and_depth_have_limits() {
        let over =
            |name: &str, limit| Err(format!("its list {name:?} has more than {limit} entries"));
        for (json, expected) in [
            (r#"{"cpus":[1,2,3],"rows":[1,2,3,4,5],"samples":{"a":[1,2,3,4,5,6]}}"#, Ok(())),
            (r#"{"cpus":[1,2,3,4]}"#, over("cpus", 3)),
            (r#"{"rows":[1,2,3,4,5,6]}"#, over("rows", 5)),
            (r#"{"modes":[1,2,3]}"#, over("modes", 2)),
            (r#"{"samples":{"modes":[1,2,3,4]}}"#, Ok(())),
            (r#"{"rows":[{"a":[[],[],[],[]]}]}"#, over("a", 3)),
            (r#"{"samples":{"a":[1,2,3,4,5,6,7]}}"#, over("a", 6)),
            (r#"{"a,b":"[,,,","c":"\"[[["}"#, Ok(())),
            (r#"{"a":1,"b":2,"c":3,"d":4}"#, over("document", 3)),
            (r#"{"t":"123456789"}"#, Err("a text in \"t\" has more than 8 bytes".into())),
        ] {
            assert_eq!(counted(json), expected, "{json}");
        }
        let deep = counted(&"[".repeat(65)).expect_err("deep");
        assert!(deep.contains("more than 64 deep"), "{deep}");
    }

    #[test]
    fn many_tiny_values_are_refused_and_those_of_columns_are_not_counted() {
        let texts = |count: usize| format!("[{}1]", r#"["",""],"#.repeat(count));
        let limits = DocumentLimits { entries: usize::MAX, ..SMALL };
        let count = |json: &str| Counter::new(&limits).feed(json.as_bytes());
        assert_eq!(count(&texts(1000)), Ok(()));
        assert!(matches!(count(&texts(1 << 16)), Err(Excess::Values(_))));
        let columns = format!(r#"{{"samples":{{"a":{}}}}}"#, "[[1,2],[1,2],[1,2]]");
        let columns = format!("[{}1]", (columns + ",").repeat(1 << 14));
        assert_eq!(count(&columns), Ok(()));
    }

    #[test]
    fn an_object_with_limits_of_its_own_is_counted_apart() {
        const INNER: DocumentLimits =
            DocumentLimits { entries: 6, values: 40_000, bytes_per_value: 1, ..SMALL };
        const OUTER: DocumentLimits = DocumentLimits {
            entries: usize::MAX,
            values: 20_000,
            inner: Some(("trace", &INNER)),
            ..SMALL
        };
        let count = |json: &str| Counter::new(&OUTER).feed(json.as_bytes());
        let lists = |of: usize| vec!["[[],[],[],[],[]]"; of].join(",");
        let traces = |of: usize| vec![r#"{"trace":{"a":[[],[],[],[],[]]}}"#; of].join(",");
        // A list of six would be too long elsewhere; seven are too many here.
        assert_eq!(count(r#"{"trace":{"a":[1,2,3,4,5,6]},"b":[1]}"#), Ok(()));
        assert!(matches!(
            Counter::new(&SMALL).feed(br#"{"trace":{"a":[1,2,3,4,5,6]}}"#),
            Err(Excess::Entries { .. })
        ));
        let over = |name: &str, limit| Err(Excess::Entries { name: name.into(), limit });
        assert_eq!(count(r#"{"trace":{"a":[1,2,3,4,5,6,7]}}"#), over("a", 6));
        // Afterwards those around it hold again; only an object of the name has others.
        assert_eq!(count(&format!("[{},{}]", traces(1), lists(2_800))), Ok(()));
        assert!(matches!(count(&format!("[{}]", lists(3_400))), Err(Excess::Values(_))));
        // All of them together have one number of values.
        assert_eq!(count(&format!("[{}]", traces(5_000))), Ok(()));
        assert!(matches!(count(&format!("[{}]", traces(6_000))), Err(Excess::Values(_))));
    }

    #[test]
    fn a_row_has_no_more_modes_than_a_sample_can_name() {
        let modes = |count: usize| {
            let json = format!(r#"{{"modes":[{}1]}}"#, "1,".repeat(count - 1));
            Counter::new(&RUN).feed(json.as_bytes())
        };
        assert_eq!(modes(usize::from(u8::MAX) + 1), Ok(()));
        let why = modes(usize::from(u8::MAX) + 2).expect_err("one more");
        assert_eq!(why.to_string(), "its list \"modes\" has more than 256 entries");
    }

    #[test]
    fn a_small_file_unpacks_to_little() {
        const MOST: u64 = 1 << 30;
        let mib = [0, 1 << 20, 8 << 20, 64 << 20].map(|packed| unpacked_bytes(packed, MOST) >> 20);
        assert_eq!(mib, [16, 80, 528, 1024]);
        assert_eq!(unpacked_bytes(0, 1 << 20), 1 << 20);
    }

    /// Every list of a run, however deep.
    fn lists(value: &Value, place: &mut Vec<String>, found: &mut Vec<String>) {
        match value {
            Value::Array(all) => {
                found.push(format!("/{}", place.join("/")));
                if let Some(first) = all.first() {
                    place.push("0".into());
                    lists(first, place, found);
                    place.pop();
                }
            }
            Value::Object(all) => {
                for (key, value) in all {
                    place.push(key.clone());
                    lists(value, place, found);
                    place.pop();
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_list_of_a_run_is_limited_and_real_runs_pass() {
        let run = synthetic::run();
        let json = serde_json::to_value(&run).expect("JSON");
        let bytes = serde_json::to_vec(&run).expect("JSON");
        assert_eq!(Counter::new(&RUN).feed(&bytes), Ok(()));
        let mut found = Vec::new();
        lists(&json, &mut Vec::new(), &mut found);
        assert!(found.len() > 30, "{found:?}");
        const MOST: usize = 20_000;
        let limits = DocumentLimits {
            entries: MOST,
            own: &[],
            columns: &[("samples", MOST), ("ticks", MOST)],
            ..RUN
        };
        for place in found {
            let mut json = json.clone();
            let list = json.pointer_mut(&place).expect("the list");
            let first = list.get(0).filter(|first| first.is_number()).cloned();
            let first = first.unwrap_or(json!(1));
            *list = Value::Array(vec![first; MOST + 1]);
            let bytes = serde_json::to_vec(&json).expect("JSON");
            let why = Counter::new(&limits).feed(&bytes).expect_err(&place);
            let name = place.rsplit('/').find(|part| part.parse::<u32>().is_err());
            let why = why.to_string();
            assert!(why.contains(&format!("{:?}", name.expect("a name"))), "{place}: {why}");
        }
    }
}
