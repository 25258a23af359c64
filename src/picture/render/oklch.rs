//! Conversion of OKLCH colours (Björn Ottosson, 2020) to sRGB bytes. Equal steps in OKLCH look equal.

/// A colour in OKLCH: lightness (0 black to 1 white), chroma (0 grey, 0.2 vivid) and hue in degrees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oklch {
    pub(crate) lightness: f64,
    pub(crate) chroma: f64,
    pub(crate) hue_degrees: f64,
}

impl Oklch {
    /// Converts to opaque sRGB bytes. If sRGB cannot represent the colour, chroma is reduced. Lightness and hue are
    /// preserved, because they carry the meaning.
    pub(crate) fn to_rgba(self) -> [u8; 4] {
        let (mut shown, mut beyond) = (0.0, self.chroma);
        if is_in_gamut(self.to_linear_rgb()) {
            shown = self.chroma;
        } else {
            // 12 halvings are more precise than a byte.
            for _ in 0..12 {
                let chroma = (shown + beyond) / 2.0;
                if is_in_gamut(Oklch { chroma, ..self }.to_linear_rgb()) {
                    shown = chroma;
                } else {
                    beyond = chroma;
                }
            }
        }
        let [red, green, blue] = Oklch { chroma: shown, ..self }.to_linear_rgb().map(encode);
        [red, green, blue, u8::MAX]
    }

    fn to_linear_rgb(self) -> [f64; 3] {
        let (sine, cosine) = sine_cosine(self.hue_degrees);
        let (a, b) = (self.chroma * cosine, self.chroma * sine);
        let cube = |root: f64| root * root * root;
        let long = cube(self.lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
        let medium = cube(self.lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
        let short = cube(self.lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
        ]
    }
}

/// Returns sine and cosine of an angle, to 11 digits. The standard library's functions handle huge numbers with a
/// table, which would add 10 kB of wasm.
fn sine_cosine(degrees: f64) -> (f64, f64) {
    // Half the angle is at most π, for which twelve terms of the series are enough. Then the angle is doubled.
    let half = (degrees % 360.0).to_radians() / 2.0;
    let series = |first: f64| {
        let term = |(sum, term): (f64, f64), k: u8| {
            let k = 2.0 * f64::from(k) + first;
            let next = -term * half * half / (k * (k + 1.0));
            (sum + next, next)
        };
        (1..=12).fold((1.0, 1.0), term).0
    };
    let (sine, cosine) = (half * series(0.0), series(-1.0));
    (2.0 * sine * cosine, cosine * cosine - sine * sine)
}

fn is_in_gamut(linear: [f64; 3]) -> bool {
    linear.iter().all(|channel| (-1e-4..=1.0001).contains(channel))
}

/// Applies the transfer function of sRGB (IEC 61966-2-1) and scales the result to a byte.
fn encode(linear: f64) -> u8 {
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/oklch.rs"]
mod tests;
