//! The kernel's description of a tracepoint's fields (`events/*/*/format` of
//! tracefs): where each lies is read from there and never assumed.

use crate::endian::Endian;
use std::collections::BTreeMap;

/// A tracepoint's id and fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracepointFormat {
    /// Its number: `config` of the event, and `common_type` of its samples.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The bit of `prev_state` that says that a thread was preempted in the kernel, where the text that
    /// prints it names the bit.
    pub preempted: Option<u32>,
    fields: BTreeMap<String, Field>,
}

/// Where a field lies in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: u32,
    size: u32,
    signed: bool,
    /// Of an array; 1 of all others.
    items: u32,
    endian: Endian,
}

/// Why a description can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("the description of a tracepoint has no ID")]
    NoId,
    #[error("the tracepoint has no field {0}")]
    NoField(&'static str),
}

impl TracepointFormat {
    /// Reads a description.
    ///
    /// # Errors
    /// If there is no id in it. Lines that describe no field are passed over.
    pub fn parse(text: &str, endian: Endian) -> Result<TracepointFormat, FormatError> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        Ok(TracepointFormat {
            id: value("ID:").and_then(|id| id.parse().ok()).ok_or(FormatError::NoId)?,
            name: value("name:").unwrap_or_default().to_owned(),
            preempted: value("print fmt:").and_then(preempted),
            fields: text.lines().filter_map(|line| field(line, endian)).collect(),
        })
    }

    /// The field of a system call's number in its own event, and of its first arguments.
    pub fn call_fields(&self) -> Option<(Field, Field)> {
        let number = *self.fields.get("__syscall_nr")?;
        let long = number.size.max(size_of::<u64>() as u32);
        let later = self.fields.values().filter(|field| field.offset > number.offset);
        let later = later.filter(|field| field.size == long);
        let first = later.clone().map(|field| field.offset).min().unwrap_or(u32::MAX);
        let items = u32::try_from(later.count()).unwrap_or(0);
        Some((number, Field { offset: first, size: items.saturating_mul(long), items, ..number }))
    }

    pub fn field(&self, name: &'static str) -> Result<Field, FormatError> {
        let field = self.fields.get(name).copied();
        field.ok_or(FormatError::NoField(name))
    }
}

/// Kernels before 4.14 name the bit as a number: `REC->prev_state & 2048 ? "+" : ""`.
fn preempted(print: &str) -> Option<u32> {
    let before = print.split("? \"+\"").next().filter(|before| before.len() < print.len())?;
    before.trim_end().rsplit(['&', ' ']).next()?.parse().ok()
}

/// `field:char prev_comm[16]; offset:8; size:16; signed:0;`
fn field(line: &str, endian: Endian) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let mut field = Field { offset: 0, size: 0, signed: false, items: 1, endian };
    for part in parts {
        match part.split_once(':') {
            Some(("offset", at)) => field.offset = at.parse().ok()?,
            Some(("size", size)) => field.size = size.parse().ok()?,
            Some(("signed", signed)) => field.signed = signed == "1",
            _ => {}
        }
    }
    let name = declared.rsplit([' ', '*']).next()?;
    let (name, items) = name.split_once('[').unwrap_or((name, ""));
    field.items = items.trim_end_matches(']').parse().unwrap_or(1).max(1);
    Some((name.to_owned(), field))
}

impl Field {
    pub fn bytes(self, sample: &[u8]) -> Option<&[u8]> {
        sample.get(self.offset as usize..)?.get(..self.size as usize)
    }

    /// From where it begins to the end of the sample: a text of any length.
    pub fn rest(self, sample: &[u8]) -> Option<&[u8]> {
        sample.get(self.offset as usize..)
    }

    /// Its value as a number, extended with its sign.
    pub fn number(self, sample: &[u8]) -> Option<i64> {
        let bytes = self.bytes(sample)?;
        let endian = self.endian;
        Some(match (bytes.len(), self.signed) {
            (1, false) => bytes[0].into(),
            (1, true) => bytes[0].cast_signed().into(),
            (2, false) => endian.u16(bytes.try_into().ok()?).into(),
            (2, true) => endian.u16(bytes.try_into().ok()?).cast_signed().into(),
            (4, false) => endian.u32(bytes.try_into().ok()?).into(),
            (4, true) => endian.u32(bytes.try_into().ok()?).cast_signed().into(),
            (8, _) => endian.u64(bytes.try_into().ok()?).cast_signed(),
            _ => return None,
        })
    }

    /// The words of an array, as many as `N`.
    pub fn words<const N: usize>(self, sample: &[u8]) -> Option<[u64; N]> {
        let item = self.size / self.items.max(1);
        let mut words = [0; N];
        for (at, word) in (0..self.items).zip(&mut words) {
            let one = Field {
                offset: self.offset.checked_add(at.checked_mul(item)?)?,
                size: item,
                ..self
            };
            *word = Field { signed: false, ..one }.number(sample)?.cast_unsigned();
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVE: Endian = Endian::NATIVE;

    #[test]
    fn fields_lie_where_the_kernel_says() {
        let format =
            TracepointFormat::parse(include_str!("../tests/formats/sched_switch.txt"), NATIVE);
        let format = format.expect("a description");
        let field =
            |offset, size, signed, items| Field { offset, size, signed, items, endian: NATIVE };
        assert_eq!(format.field("prev_comm"), Ok(field(8, 16, false, 16)));
        assert_eq!(format.field("prev_state"), Ok(field(32, 8, true, 1)));
        assert_eq!(format.field("next_pid"), Ok(field(56, 4, true, 1)));
        assert_eq!(format.field("none"), Err(FormatError::NoField("none")));
        // Another kernel: the same fields elsewhere.
        let moved = "ID: 7\n\tfield:int prev_pid;\toffset:2;\tsize:2;\tsigned:1;\n";
        let moved = TracepointFormat::parse(moved, NATIVE).expect("a description");
        let field = moved.field("prev_pid").expect("there");
        let mut sample = [0, 0].to_vec();
        sample.extend((-5_i16).to_ne_bytes());
        assert_eq!(field.number(&sample), Some(-5));
        assert_eq!(field.number(&sample[..3]), None, "cut off");
        let wider = Field { size: 4, ..field };
        sample.extend([0xff; 2]);
        assert_eq!(wider.number(&sample), Some(-5));
        let unsigned = Field { signed: false, ..wider };
        assert_eq!(unsigned.number(&sample), Some(0xffff_fffb));
        assert_eq!(TracepointFormat::parse("name: x", NATIVE), Err(FormatError::NoId));
    }

    #[test]
    fn pointers_and_arrays_have_their_names() {
        let text = "ID: 1\n\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\
                    \tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
        let format = TracepointFormat::parse(text, NATIVE).expect("a description");
        assert!(format.field("filename").is_ok());
        let args = format.field("args").expect("there");
        let mut sample = vec![0; 16];
        (1..=6_u64).for_each(|n| sample.extend(n.to_ne_bytes()));
        assert_eq!(args.words::<3>(&sample), Some([1, 2, 3]));
        assert_eq!(args.words::<3>(&sample[..32]), None, "cut off");
    }

    #[test]
    fn another_machine_has_its_order_of_bytes_and_its_words() {
        let text = "name: sys_enter\nID: 1\n\tfield:unsigned long args[6];\toffset:4;\tsize:24;\tsigned:0;\n\
                    \tfield:short low;\toffset:0;\tsize:2;\tsigned:1;\n";
        let format = TracepointFormat::parse(text, Endian::Big).expect("a description");
        let mut sample = vec![0xff, 0xfe, 0, 0];
        (1..=6_u32).for_each(|n| sample.extend((n << 24).to_be_bytes()));
        assert_eq!(format.name, "sys_enter");
        let field = |name| format.field(name).expect("there");
        assert_eq!(field("low").number(&sample), Some(-2));
        assert_eq!(field("args").words::<3>(&sample), Some([1 << 24, 2 << 24, 3 << 24]));
    }

    #[test]
    fn a_call_of_its_own_event_has_as_many_arguments_as_it_takes() {
        let text = "ID: 9\n\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\
                    \tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n\
                    \tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n";
        let format = TracepointFormat::parse(text, NATIVE).expect("a description");
        let (number, arguments) = format.call_fields().expect("a call");
        let mut sample = vec![0; 8];
        [257_u64, 5, 6].iter().for_each(|n| sample.extend(n.to_ne_bytes()));
        assert_eq!(number.number(&sample), Some(257));
        assert_eq!(arguments.words::<3>(&sample), Some([5, 6, 0]));
        let none = "ID: 9\n\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";
        let format = TracepointFormat::parse(none, NATIVE).expect("a description");
        let (_, arguments) = format.call_fields().expect("a call");
        assert_eq!(arguments.words::<3>(&sample), Some([0; 3]));
    }

    #[test]
    fn older_kernels_have_another_bit_for_preemption() {
        let bit = |print: &str| {
            let text = format!("ID: 1\nprint fmt: {print}\n");
            TracepointFormat::parse(&text, NATIVE).expect("a description").preempted
        };
        let old =
            r#""%s%s", REC->prev_state & (2048-1) ? "S" : "R", REC->prev_state & 2048 ? "+" : """#;
        assert_eq!(bit(old), Some(2048));
        let new = r#"REC->prev_state & (((0x00000001 | 0x00000002) + 1) << 1) ? "+" : "", REC->next_comm"#;
        assert_eq!(bit(new), None);
        assert_eq!(bit("\"%d\", REC->pid"), None);
    }
}
