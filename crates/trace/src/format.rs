//! The kernel's description of a tracepoint's fields (`events/*/*/format` of
//! tracefs): where each lies is read from there and never assumed.

use std::collections::BTreeMap;

/// A tracepoint's id and fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its number: `config` of the event, and `common_type` of its samples.
    pub id: u64,
    fields: BTreeMap<String, Field>,
}

/// Where a field lies in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
    signed: bool,
}

/// Why a description can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("the description of a tracepoint has no ID")]
    NoId,
    #[error("the tracepoint has no field {0}")]
    NoField(&'static str),
}

impl Format {
    /// Reads a description.
    ///
    /// # Errors
    /// If there is no id in it. Lines that describe no field are passed over.
    pub fn parse(text: &str) -> Result<Format, FormatError> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        let id = id.and_then(|id| id.trim().parse().ok());
        Ok(Format {
            id: id.ok_or(FormatError::NoId)?,
            fields: text.lines().filter_map(field).collect(),
        })
    }

    pub fn field(&self, name: &'static str) -> Result<Field, FormatError> {
        let field = self.fields.get(name).copied();
        field.ok_or(FormatError::NoField(name))
    }
}

/// `field:char prev_comm[16]; offset:8; size:16; signed:0;`
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let mut field = Field { offset: 0, size: 0, signed: false };
    for part in parts {
        match part.split_once(':') {
            Some(("offset", at)) => field.offset = at.parse().ok()?,
            Some(("size", size)) => field.size = size.parse().ok()?,
            Some(("signed", signed)) => field.signed = signed == "1",
            _ => {}
        }
    }
    let name = declared.rsplit([' ', '*']).next()?;
    let name = name.split('[').next()?;
    Some((name.to_owned(), field))
}

impl Field {
    pub fn bytes(self, sample: &[u8]) -> Option<&[u8]> {
        sample.get(self.offset..)?.get(..self.size)
    }

    /// Its value as a number, extended with its sign.
    pub fn number(self, sample: &[u8]) -> Option<i64> {
        let bytes = self.bytes(sample)?;
        Some(match (bytes.len(), self.signed) {
            (1, false) => bytes[0].into(),
            (1, true) => bytes[0].cast_signed().into(),
            (2, false) => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
            (2, true) => i16::from_ne_bytes(bytes.try_into().ok()?).into(),
            (4, false) => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
            (4, true) => i32::from_ne_bytes(bytes.try_into().ok()?).into(),
            (8, _) => i64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }

    /// The words of an array, as many as `N`.
    pub fn words<const N: usize>(self, sample: &[u8]) -> Option<[u64; N]> {
        let bytes = self.bytes(sample)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(size_of::<usize>())) {
            *word = usize::from_ne_bytes(bytes.try_into().ok()?) as u64;
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_kernel_says() {
        let format = Format::parse(include_str!("../tests/formats/sched_switch.txt"));
        let format = format.expect("a description");
        let field = |offset, size, signed| Field { offset, size, signed };
        assert_eq!(format.field("prev_comm"), Ok(field(8, 16, false)));
        assert_eq!(format.field("prev_state"), Ok(field(32, 8, true)));
        assert_eq!(format.field("next_pid"), Ok(field(56, 4, true)));
        assert_eq!(format.field("none"), Err(FormatError::NoField("none")));
        // Another kernel: the same fields elsewhere.
        let moved = "ID: 7\n\tfield:int prev_pid;\toffset:2;\tsize:2;\tsigned:1;\n";
        let moved = Format::parse(moved).expect("a description");
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
        assert_eq!(Format::parse("name: x"), Err(FormatError::NoId));
    }

    #[test]
    fn pointers_and_arrays_have_their_names() {
        let text = "ID: 1\n\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\
                    \tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
        let format = Format::parse(text).expect("a description");
        assert!(format.field("filename").is_ok());
        let args = format.field("args").expect("there");
        let mut sample = vec![0; 16];
        (1..=6_usize).for_each(|n| sample.extend(n.to_ne_bytes()));
        assert_eq!(args.words::<3>(&sample), Some([1, 2, 3]));
    }
}
