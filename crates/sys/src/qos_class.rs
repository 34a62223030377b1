//! Quality-of-service classes of Apple systems (<sys/qos.h>): what a thread asks
//! for, by which the system chooses its priority and kind of core.

use std::io;

/// A class, with the number that the system has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QosClass {
    /// None.
    Unspecified = 0x00,
    /// Work that the user does not see, such as backups.
    Background = 0x09,
    /// Work with a progress bar.
    Utility = 0x11,
    /// What a thread without a class has.
    Default = 0x15,
    /// Work that the user waits for.
    UserInitiated = 0x19,
    /// What the user sees at once.
    UserInteractive = 0x21,
}

impl QosClass {
    /// All of them.
    pub const ALL: [QosClass; 6] = [
        QosClass::Unspecified,
        QosClass::Background,
        QosClass::Utility,
        QosClass::Default,
        QosClass::UserInitiated,
        QosClass::UserInteractive,
    ];

    /// The one with this number.
    pub fn of_number(number: u32) -> Option<QosClass> {
        QosClass::ALL.into_iter().find(|&class| class as u32 == number)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            QosClass::Unspecified => "unspecified",
            QosClass::Background => "background",
            QosClass::Utility => "utility",
            QosClass::Default => "default",
            QosClass::UserInitiated => "user initiated",
            QosClass::UserInteractive => "user interactive",
        }
    }
}

/// Number of the calling thread's class; `None` on systems other than Apple's.
/// The system may lower it (App Nap).
pub fn current() -> Option<u32> {
    #[cfg(target_vendor = "apple")]
    return Some(crate::platform::qos_class::current());
    #[cfg(not(target_vendor = "apple"))]
    None
}

/// Gives the calling thread the class with this number. A thread that
/// `pthread_setschedparam` was called for can't have one.
///
/// # Errors
/// What `pthread_set_qos_class_self_np(3)` says: `InvalidInput` (EINVAL) for a
/// number that is no class; `Unsupported` on systems other than Apple's.
#[cfg_attr(not(target_vendor = "apple"), allow(unused_variables))]
pub fn set(number: u32) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return crate::platform::qos_class::set(number);
    #[cfg(not(target_vendor = "apple"))]
    Err(io::Error::new(io::ErrorKind::Unsupported, "QoS classes exist on Apple systems only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        let numbers = QosClass::ALL.map(|class| class as u32);
        assert_eq!(numbers, [0, 9, 17, 21, 25, 33]);
        assert_eq!(QosClass::of_number(33), Some(QosClass::UserInteractive));
        assert_eq!(QosClass::of_number(32), None);
    }
}
