//! Performance hints of Apple systems. On Linux these are files, which callers
//! read themselves.

use model::machine::Fact;

/// QoS, Low Power Mode and thermal state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// QoS class of the calling thread, which decides what cores it gets.
    pub qos: Fact<String>,
    /// Low Power Mode: `on` or `off`.
    pub low_power: Fact<String>,
    /// Thermal pressure: `nominal` to `critical`.
    pub thermal: Fact<String>,
}

/// The current state; `None` on systems other than Apple's.
pub fn power() -> Option<Power> {
    #[cfg(target_vendor = "apple")]
    return Some(crate::platform::power::power());
    #[cfg(not(target_vendor = "apple"))]
    None
}
