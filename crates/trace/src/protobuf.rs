//! Protocol buffers, as far as they are written: fields one after the other,
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

#[cfg(test)]
mod tests {
    use super::*;

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
