//! Bars, lines, triangles and texts around a picture, as one list that is drawn on the canvas, in PNG files and in SVG
//! files.

// Letter widths relative to the font size, for a font like `system-ui`. Text widths are estimated, so that every output
// places and truncates text alike, even one that cannot measure it.
const NARROW: f64 = 0.36;
const MIDDLE: f64 = 0.63;
const BROAD: f64 = 0.95;
const FULL: f64 = 1.05;

/// A picture with the axes, labels and marks around it. Sizes are in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub size: [u32; 2],
    /// Upper left corner of the picture.
    pub origin: [u32; 2],
    /// Width and height of the picture.
    pub plot: [u32; 2],
    /// Pixels per CSS pixel.
    pub scale: f64,
    /// Title for screen readers.
    pub title: String,
    /// Shapes around and above the picture, back to front.
    pub shapes: Vec<Shape>,
}

/// A shape around a picture. Positions are pixels from the left and top of the sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Bar {
        x: [f64; 2],
        y: [f64; 2],
        tint: Tint,
        /// Opacity from 0 to 1.
        opacity: f64,
    },
    /// A dashed horizontal line. Dashes and gaps have equal length.
    Dashes {
        x: [f64; 2],
        y: [f64; 2],
        dash: f64,
        tint: Tint,
        /// Opacity from 0 to 1.
        opacity: f64,
    },
    Triangle {
        corners: [[f64; 2]; 3],
        tint: Tint,
    },
    Line {
        points: Vec<[f64; 2]>,
        /// Alternating lengths of dashes and gaps. Empty for a solid line.
        dash: Vec<f64>,
        thick: f64,
        tint: Tint,
    },
    Text(Text),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Content. It may come from a file and is not escaped.
    pub text: String,
    /// Position of the anchor on the baseline.
    pub at: [f64; 2],
    pub anchor: Anchor,
    pub size: f64,
    pub tint: Tint,
    pub style: FontStyle,
}

/// Horizontal anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FontStyle {
    Plain,
    /// Plain text with an outline in the background colour, for text inside the picture.
    Outlined,
    Bold,
    Mono,
}

/// Role of a colour. The theme defines the colour itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    Muted,
    Strong,
    /// The background colour, for text on a filled label.
    Ground,
    Line,
    /// The peak, and other prominent marks.
    Peak,
    Accent,
    Reserved,
    ReservedEdge,
    /// The line of allocated bytes.
    Allocated,
    /// The colour of a palette slot.
    Slot(u32),
}

/// A rectangle that is hatched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    pub x: [f64; 2],
    pub y: [f64; 2],
}

impl Band {
    /// Returns the part inside of another rectangle. `None` if there is none.
    pub fn clipped(self, x: [f64; 2], y: [f64; 2]) -> Option<Band> {
        let clip = |one: [f64; 2], other: [f64; 2]| [one[0].max(other[0]), one[1].min(other[1])];
        let band = Band { x: clip(self.x, x), y: clip(self.y, y) };
        (band.x[0] < band.x[1] && band.y[0] < band.y[1]).then_some(band)
    }

    /// Returns diagonal lines over the rectangle, from its lower left to its upper right if y grows downwards. Lines of
    /// adjacent rectangles continue each other. `gap` is their horizontal distance in pixels, at least 1.
    pub fn hatching(self, gap: f64) -> Vec<[[f64; 2]; 2]> {
        let (Band { x: [left, right], y: [top, bottom] }, gap) = (self, gap.max(1.0));
        let (first, last) = (((left + top) / gap).ceil() as i64, ((right + bottom) / gap).floor() as i64);
        // The sum of both coordinates is the same everywhere on a line.
        let line = |number: i64| {
            let sum = number as f64 * gap;
            let [from, to] = [left.max(sum - bottom), right.min(sum - top)];
            [[from, sum - from], [to, sum - to]]
        };
        (first..=last).map(line).collect()
    }
}

impl Text {
    /// Creates a plain label that starts at `at`.
    pub fn label(text: String, at: [f64; 2], size: f64) -> Text {
        Text { text, at, anchor: Anchor::Start, size, tint: Tint::Muted, style: FontStyle::Plain }
    }
}

/// Returns the estimated width of a text in a font of this size. The estimate errs on the high side.
pub fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter_width).sum::<f64>()
}

/// Truncates a text to `room` pixels and appends `…` if anything is cut. Returns an empty string if not even one letter
/// and `…` fit.
pub fn truncated(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - size * FULL;
    let fits = |letter: &char| {
        left -= size * letter_width(*letter);
        left >= 0.0
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    if !kept.is_empty() {
        kept.truncate(kept.trim_end().len());
        kept.push('…');
    }
    kept
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | ' ' | '.' | ',' | ':' | ';' | '!' | '|' | '(' | ')' | '[' | ']'
        | '\'' | '/' | '·' => NARROW,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '#' => BROAD,
        'A'..='Z' => 0.72,
        ' '..='\u{2ff}' => MIDDLE,
        _ => FULL,
    }
}

#[cfg(test)]
#[path = "../../tests/units/picture/shapes.rs"]
mod tests;
