//! What Apple systems say of how fast they want to be. Elsewhere these things
//! are files, and whoever wants them reads those.

use model::machine::Fact;

use crate::platform;

/// How fast an Apple system wants to be, and this thread with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// Quality of service of the calling thread: which cores it gets.
    pub qos: Fact<String>,
    /// Low Power Mode: `on` or `off`.
    pub low_power: Fact<String>,
    /// How hot the system says it is: `nominal` to `critical`.
    pub thermal: Fact<String>,
}

/// It now; `None` where the system is not one of Apple.
pub fn power() -> Option<Power> {
    platform::power::power()
}
