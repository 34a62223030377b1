//! The one secret that a server may ask for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Fewer characters could be guessed.
const LEAST_CHARACTERS: usize = 16;
/// Of fewer different ones, too. Random hexadecimal digits have as many: 16 of
/// them all but one time in a hundred, 32 always.
const LEAST_DIFFERENT: usize = 8;

/// Why a text can't be the token.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenError {
    /// Too short to be a secret.
    #[error(
        "the token has {0} characters and needs {LEAST_CHARACTERS} at least: \
         `openssl rand -hex 32` makes one"
    )]
    TooShort(usize),
    /// Too easily guessed.
    #[error(
        "the token has {0} different characters and needs {LEAST_DIFFERENT} at least: \
         `openssl rand -hex 32` makes one"
    )]
    TooUniform(usize),
    /// It would not get through a header.
    #[error("the token may have letters, digits and -._~+/= only (RFC 6750)")]
    Characters,
}

/// A token, of which only a hash is kept.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// The token in a text, spaces and line ends around it left out.
    ///
    /// # Errors
    /// If it is too short, has too few different characters, or has other characters than a `Bearer` header may
    /// hold (RFC 6750, 2.1).
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !text.chars().all(allowed) {
            return Err(TokenError::Characters);
        }
        if text.len() < LEAST_CHARACTERS {
            return Err(TokenError::TooShort(text.len()));
        }
        let different = text.bytes().collect::<BTreeSet<u8>>().len();
        if different < LEAST_DIFFERENT {
            return Err(TokenError::TooUniform(different));
        }
        Ok(Token(hash(text.as_bytes())))
    }

    /// Whether an `Authorization` header holds it: as `Bearer`, or as the
    /// password of `Basic` (RFC 7617) under any name, which is what browsers
    /// can ask for by themselves.
    pub(crate) fn is_in(&self, authorization: &[u8]) -> bool {
        let Some((scheme, rest)) = std::str::from_utf8(authorization)
            .ok()
            .and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        let rest = rest.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return self.is(rest.as_bytes());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return false;
        }
        let Ok(decoded) = STANDARD.decode(rest) else {
            return false;
        };
        match decoded.iter().position(|&byte| byte == b':') {
            Some(colon) => self.is(&decoded[colon + 1..]),
            None => false,
        }
    }

    /// Compares hashes, all of their bytes: the time taken tells nothing of
    /// how much of a guess is right.
    fn is(&self, guess: &[u8]) -> bool {
        let differing = self
            .0
            .iter()
            .zip(hash(guess))
            .fold(0, |all, (own, other)| all | (own ^ other));
        std::hint::black_box(differing) == 0
    }
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef-secret";

    #[test]
    fn what_can_not_be_a_token_is_refused() {
        assert_eq!(Token::new("short").err(), Some(TokenError::TooShort(5)));
        assert_eq!(Token::new("").err(), Some(TokenError::TooShort(0)));
        for bad in [
            "with a space in it here",
            "with:colon-0123456789",
            "ünïcode-0123456789",
        ] {
            assert_eq!(Token::new(bad).err(), Some(TokenError::Characters), "{bad}");
        }
        assert!(Token::new(&format!(" {SECRET}\r\n")).is_ok());
    }

    #[test]
    fn a_token_of_few_different_characters_is_refused_with_the_way_to_make_one() {
        let of = |text: &str| Token::new(text).err();
        assert_eq!(of("aaaaaaaaaaaaaaaa"), Some(TokenError::TooUniform(1)));
        assert_eq!(of("abababababababab"), Some(TokenError::TooUniform(2)));
        assert_eq!(of(&"passwor".repeat(9)), Some(TokenError::TooUniform(6)));
        assert_eq!(of("0123012301234567"), None, "8 different ones");
        let line = TokenError::TooUniform(1).to_string();
        assert!(
            line.contains("has 1 different characters and needs 8"),
            "{line}"
        );
        assert!(line.contains("openssl rand -hex 32"), "{line}");
    }

    #[test]
    fn both_ways_of_giving_it_are_known_and_nothing_else() {
        let token = Token::new(SECRET).expect("a token");
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for good in [
            format!("Bearer {SECRET}"),
            format!("bearer  {SECRET} "),
            basic(&format!("me:{SECRET}")),
            basic(&format!(":{SECRET}")),
        ] {
            assert!(token.is_in(good.as_bytes()), "{good}");
        }
        for bad in [
            SECRET.to_owned(),
            format!("Digest {SECRET}"),
            format!("Bearer {SECRET}x"),
            format!("Bearer {}", &SECRET[1..]),
            "Bearer ".to_owned(),
            basic(SECRET),
            basic(&format!("{SECRET}:")),
            basic(&format!("a:b:{SECRET}")),
            "Basic ????".to_owned(),
        ] {
            assert!(!token.is_in(bad.as_bytes()), "{bad}");
        }
        assert!(!token.is_in(b"Bearer \xff\xfe"));
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
