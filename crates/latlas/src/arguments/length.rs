//! Lengths of pictures: on a screen, or on paper.

use super::InvalidValue;
use view::chart::svg::Unit;

/// A length of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    pt: f64,
    /// Given in a unit of paper.
    on_paper: bool,
}

/// Units with their length in pt.
const UNITS: [(&str, f64, bool); 5] = [
    ("px", 0.75, false),
    ("pt", 1.0, true),
    ("mm", 72.0 / 25.4, true),
    ("cm", 72.0 / 2.54, true),
    ("in", 72.0, true),
];

impl Length {
    fn parse(text: &str) -> Option<Length> {
        let known = UNITS.iter().find(|(name, ..)| text.ends_with(name));
        let (name, pt, on_paper) = *known.unwrap_or(&("", 0.75, false));
        let number: f64 = text.strip_suffix(name)?.trim_end().parse().ok()?;
        let pt = number * pt;
        pt.is_finite().then_some(Length { pt, on_paper })
    }

    /// What a picture of this width is measured in.
    pub fn unit(self) -> Unit {
        if self.on_paper { Unit::Paper } else { Unit::Pixel }
    }

    /// So many of these units.
    pub fn units(self, unit: Unit) -> f64 {
        self.pt / unit.pt()
    }
}

/// A width at which text has its size.
pub(super) fn width(text: &str) -> Result<Length, InvalidValue> {
    let length = Length::parse(text).ok_or(InvalidValue::Length)?;
    let least_pt = if length.on_paper { 170.0 } else { 240.0 };
    match (least_pt..=7500.0).contains(&length.pt) {
        true => Ok(length),
        false => Err(InvalidValue::Width),
    }
}

/// A height.
pub(super) fn height(text: &str) -> Result<Length, InvalidValue> {
    let length = Length::parse(text).ok_or(InvalidValue::Length)?;
    match (100.0..=15_000.0).contains(&length.pt) {
        true => Ok(length),
        false => Err(InvalidValue::Height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_a_unit_or_is_px() {
        let pt = |text| Length::parse(text).map(|length| (length.pt * 100.0).round() / 100.0);
        assert_eq!(pt("85mm"), Some(240.94));
        assert_eq!(pt("8.5 cm"), Some(240.94));
        assert_eq!(pt("3.35in"), Some(241.2));
        assert_eq!(pt("241pt"), Some(241.0));
        assert_eq!(pt("860px"), Some(645.0));
        assert_eq!(pt("860"), Some(645.0));
        for wrong in ["", "mm", "85 miles", "85m", "1e999mm", "NaN"] {
            assert_eq!(pt(wrong), None, "{wrong}");
        }
        let of = |text| Length::parse(text).expect("a length").unit();
        assert_eq!([of("85mm"), of("860")], [Unit::Paper, Unit::Pixel]);
        assert!(width("59mm").is_err() && width("60mm").is_ok() && width("320").is_ok());
    }
}
