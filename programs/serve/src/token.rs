//! The token that clients must send.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Fewer could be guessed.
const MIN_CHARACTERS: usize = 16;
/// Of fewer distinct ones, too. 16 random hexadecimal digits have as many but
/// for one time in a hundred, 32 always.
const MIN_DISTINCT: usize = 8;

/// Why a text can't be the token.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenError {
    #[error(
        "the token has {0} characters, at least {MIN_CHARACTERS} are needed: make one with \
         `openssl rand -hex 32`"
    )]
    TooShort(usize),
    #[error(
        "the token has {0} distinct characters, at least {MIN_DISTINCT} are needed: make one with \
         `openssl rand -hex 32`"
    )]
    TooUniform(usize),
    #[error("the token may only have letters, digits and -._~+/= (RFC 6750)")]
    Characters,
}

/// A token; only its hash is kept.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// The token in a text, without white space around it.
    ///
    /// # Errors
    /// If it is too short or too uniform, or has characters that a `Bearer`
    /// header may not (RFC 6750, 2.1).
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !text.chars().all(allowed) {
            return Err(TokenError::Characters);
        }
        if text.len() < MIN_CHARACTERS {
            return Err(TokenError::TooShort(text.len()));
        }
        let distinct = text.bytes().collect::<BTreeSet<u8>>().len();
        if distinct < MIN_DISTINCT {
            return Err(TokenError::TooUniform(distinct));
        }
        Ok(Token(hash(text.as_bytes())))
    }

    /// Whether an `Authorization` header holds it: as `Bearer`, or as the
    /// password of `Basic` (RFC 7617) with any name, which browsers ask for.
    pub(crate) fn is_in(&self, authorization: &[u8]) -> bool {
        let text = std::str::from_utf8(authorization).unwrap_or("");
        let Some((scheme, credentials)) = text.split_once(' ') else {
            return false;
        };
        let credentials = credentials.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return self.is(credentials.as_bytes());
        }
        let decoded = STANDARD.decode(credentials).unwrap_or_default();
        let password = decoded.splitn(2, |&byte| byte == b':').nth(1);
        scheme.eq_ignore_ascii_case("basic") && password.is_some_and(|guess| self.is(guess))
    }

    /// Compares all bytes of the hashes: the time tells nothing about a guess.
    fn is(&self, guess: &[u8]) -> bool {
        let pairs = self.0.iter().zip(hash(guess));
        let differences = pairs.fold(0, |all, (own, other)| all | (own ^ other));
        std::hint::black_box(differences) == 0
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
        for bad in ["with a space in it here", "with:colon-0123456789", "ünïcode-0123456789"] {
            assert_eq!(Token::new(bad).err(), Some(TokenError::Characters), "{bad}");
        }
        assert!(Token::new(&format!(" {SECRET}\r\n")).is_ok());
        let of = |text: &str| Token::new(text).err();
        assert_eq!(of("aaaaaaaaaaaaaaaa"), Some(TokenError::TooUniform(1)));
        assert_eq!(of("abababababababab"), Some(TokenError::TooUniform(2)));
        assert_eq!(of(&"passwor".repeat(9)), Some(TokenError::TooUniform(6)));
        assert_eq!(of("0123012301234567"), None, "8 different ones");
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
