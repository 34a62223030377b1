//! The terminal's keys, each at once: for what is drawn anew in place.

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcsetattr,
};
use std::io;

/// Ctrl-C, which is a key as long as keys come at once.
pub const CTRL_C: u8 = 3;

/// Whether there is a terminal at both ends of this process: one that shows, and one that has keys.
pub fn is_interactive() -> bool {
    isatty(rustix::stdio::stdin()) && isatty(rustix::stdio::stdout())
}

/// As long as it lives, keys come without waiting for a line's end, are not shown, and end or stop
/// nothing.
pub struct KeysAtOnce {
    before: Termios,
}

impl KeysAtOnce {
    /// From here on.
    ///
    /// # Errors
    /// If standard input is no terminal.
    pub fn begin() -> io::Result<KeysAtOnce> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut at_once = before.clone();
        at_once.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        // A read returns what is there, if anything.
        at_once.special_codes[SpecialCodeIndex::VMIN] = 0;
        at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &at_once)?;
        Ok(KeysAtOnce { before })
    }

    /// The keys pressed since the last call.
    ///
    /// # Errors
    /// What `read(2)` says: the terminal is gone.
    pub fn pressed(&self) -> io::Result<Vec<u8>> {
        let mut keys = [0; 64];
        let read = rustix::io::read(rustix::stdio::stdin(), &mut keys)?;
        Ok(keys[..read].to_vec())
    }
}

impl Drop for KeysAtOnce {
    fn drop(&mut self) {
        // Nothing is left to be done where the terminal is gone.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &self.before);
    }
}
