//! CPU features beyond an architecture's baseline.

/// Whether this CPU, and the system on it, has a feature; by the name that
/// `std::arch`'s detection macros take (`popcnt`, `avx2`, `neon`). `None` for a
/// name that is not known on this architecture.
pub fn is_present(feature: &str) -> Option<bool> {
    /// Asks a detection macro of `std::arch` for each of these names.
    #[allow(unused_macros, reason = "other architectures have no list")]
    macro_rules! detect {
        ($detected:ident: $($name:tt)+) => {
            match feature {
                $($name => Some(std::arch::$detected!($name)),)+
                _ => None,
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    return detect!(is_x86_feature_detected: "aes" "avx" "avx2" "avx512f" "bmi1" "bmi2" "fma"
        "lzcnt" "pclmulqdq" "popcnt" "rdrand" "sha" "sse3" "sse4.1" "sse4.2" "ssse3" "vaes");
    #[cfg(target_arch = "aarch64")]
    return detect!(is_aarch64_feature_detected: "aes" "crc" "dotprod" "fp16" "lse" "neon" "pmull"
        "rand" "sha2" "sha3" "sve" "sve2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = feature;
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_baseline_is_present_and_an_unknown_name_is_not() {
        #[cfg(target_arch = "aarch64")]
        assert_eq!(super::is_present("neon"), Some(true));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            super::is_present("popcnt"),
            Some(std::arch::is_x86_feature_detected!("popcnt"))
        );
        assert_eq!(super::is_present("popcount"), None);
    }
}
