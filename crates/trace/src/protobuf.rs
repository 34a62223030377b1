//! Protocol buffers, as far as they are written and read: fields one after the other,
//! each with its number (<https://protobuf.dev/programming-guides/encoding>).

/// The fields of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

/// How a field's value is written.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A number; one that is negative by its two's complement in 64 bits.
    pub(crate) fn number(&mut self, field: u32, value: u64) -> &mut Message {
        self.varint(u64::from(field) << 3 | VARINT);
        self.varint(value);
        self
    }

    pub(crate) fn text(&mut self, field: u32, text: &str) -> &mut Message {
        self.field(field, text.as_bytes())
    }

    /// Bytes that say themselves what they are.
    pub(crate) fn block(&mut self, field: u32, bytes: &[u8]) -> &mut Message {
        self.field(field, bytes)
    }

    pub(crate) fn message(&mut self, field: u32, message: &Message) -> &mut Message {
        self.field(field, &message.0)
    }

    /// No field.
    pub(crate) fn clear(&mut self) -> &mut Message {
        self.0.clear();
        self
    }

    fn field(&mut self, field: u32, bytes: &[u8]) -> &mut Message {
        self.varint(u64::from(field) << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A field's value as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue<'b> {
    /// A number, also one of fixed length.
    Number(u64),
    /// A text, a message or packed numbers.
    Bytes(&'b [u8]),
}

impl<'b> FieldValue<'b> {
    pub(crate) fn number(self) -> u64 {
        match self {
            FieldValue::Number(number) => number,
            FieldValue::Bytes(_) => 0,
        }
    }

    pub(crate) fn bytes(self) -> &'b [u8] {
        match self {
            FieldValue::Number(_) => &[],
            FieldValue::Bytes(bytes) => bytes,
        }
    }

    pub(crate) fn text(self) -> std::borrow::Cow<'b, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// A number of 32 bits; none of one that is negative or larger.
    pub(crate) fn id(self) -> Option<u32> {
        match self {
            FieldValue::Number(number) => u32::try_from(number).ok(),
            FieldValue::Bytes(_) => None,
        }
    }
}

/// The fields of a message one after the other; they end where it is damaged.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'b>(pub(crate) &'b [u8]);

impl<'b> Fields<'b> {
    /// The value of a field; the last one if it occurs several times.
    pub(crate) fn last(self, field: u32) -> Option<FieldValue<'b>> {
        self.filter(|(number, _)| *number == field).last().map(|(_, value)| value)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u32, FieldValue<'b>);

    fn next(&mut self) -> Option<(u32, FieldValue<'b>)> {
        const FIXED_64: u64 = 1;
        const FIXED_32: u64 = 5;
        let Fields(rest) = self;
        let tag = read_varint(rest)?;
        let value = match tag & 7 {
            VARINT => FieldValue::Number(read_varint(rest)?),
            FIXED_64 => FieldValue::Number(u64::from_le_bytes(*taken(rest, 8)?.first_chunk()?)),
            FIXED_32 => {
                FieldValue::Number(u32::from_le_bytes(*taken(rest, 4)?.first_chunk()?).into())
            }
            BYTES => {
                let length = usize::try_from(read_varint(rest)?).ok()?;
                FieldValue::Bytes(taken(rest, length)?)
            }
            _ => return None,
        };
        Some((u32::try_from(tag >> 3).ok()?, value))
    }
}

/// The first bytes, which are taken away.
fn taken<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (first, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(first)
}

/// The number at the beginning, which is taken away.
pub(crate) fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    // Most are small.
    if let [byte @ ..0x80, after @ ..] = rest {
        *rest = after;
        return Some((*byte).into());
    }
    let mut value = 0;
    for (at, &byte) in rest.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return Some(value);
        }
    }
    None
}

/// Packed numbers one after the other.
pub(crate) fn packed(mut bytes: &[u8]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || read_varint(&mut bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut message = Message::default();
        message.number(1, 150).text(2, "testing").number(300, u64::MAX);
        let expected = [
            (1, FieldValue::Number(150)),
            (2, FieldValue::Bytes(b"testing")),
            (300, FieldValue::Number(u64::MAX)),
        ];
        assert_eq!(Fields(message.bytes()).collect::<Vec<_>>(), expected);
        assert_eq!(
            Fields(message.bytes()).last(2).map(|value| value.text()),
            Some("testing".into())
        );
        let fixed = b"\x09\x01\0\0\0\0\0\0\0\x15\x02\0\0\0";
        let expected = [(1, FieldValue::Number(1)), (2, FieldValue::Number(2))];
        assert_eq!(Fields(fixed).collect::<Vec<_>>(), expected);
        assert_eq!(packed(b"\x01\x96\x01").collect::<Vec<_>>(), [1, 150]);
        // Cut off anywhere, it has the fields before.
        for end in 0..message.bytes().len() {
            let fields = Fields(&message.bytes()[..end]).count();
            assert!(fields < 3, "{end}");
        }
        assert_eq!(Fields(&[0x80; 20]).count(), 0);
        assert_eq!(Fields(b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").count(), 0);
    }

    #[test]
    fn as_in_the_documentation() {
        let mut message = Message::default();
        message.number(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear().text(2, "testing");
        assert_eq!(message.bytes(), *b"\x12\x07testing");
        let mut inner = Message::default();
        inner.number(1, 150);
        message.clear().message(3, &inner);
        assert_eq!(message.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        message.clear().number(1, (-2_i64).cast_unsigned());
        let wanted = [[0x08, 0xfe].as_slice(), &[0xff; 8], &[0x01]].concat();
        assert_eq!(message.bytes(), wanted);
    }
}
