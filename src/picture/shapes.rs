//! Bars, dashes, triangles and texts: all there is around a picture, in one list that canvas, PNG and SVG draw alike.

/// Widths of letters in parts of the font's size, for a face like those of `system-ui`: what a text needs is estimated, so that
/// every medium places and cuts it alike, also one that can't measure.
const NARROW: f64 = 0.36;
const MIDDLE: f64 = 0.63;
const BROAD: f64 = 0.95;
const FULL: f64 = 1.05;

/// A picture with everything around it, in its pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub size: [u32; 2],
    /// The upper left corner of the picture.
    pub origin: [u32; 2],
    pub plot: [u32; 2],
    /// Pixels to a CSS pixel.
    pub scale: f64,
    /// The title, for those who do not see the picture.
    pub title: String,
    /// Everything around the picture and above it, from back to front.
    pub shapes: Vec<Shape>,
}

/// Something drawn around a picture. Positions are pixels from the left and the top of the figure, downwards.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Bar {
        x: [f64; 2],
        y: [f64; 2],
        tint: Tint,
        /// From 0 to 1.
        opacity: f64,
    },
    /// A dashed line: bars as long as the gaps between them.
    Dashes {
        x: [f64; 2],
        y: [f64; 2],
        dash: f64,
        tint: Tint,
        /// From 0 to 1.
        opacity: f64,
    },
    Triangle {
        corners: [[f64; 2]; 3],
        tint: Tint,
    },
    Line {
        points: Vec<[f64; 2]>,
        /// Dashes and gaps in turn; none where it is drawn through.
        dash: Vec<f64>,
        thick: f64,
        tint: Tint,
    },
    Text(Text),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What it says. It may come from a file.
    pub text: String,
    /// Where its baseline is anchored.
    pub at: [f64; 2],
    pub anchor: Anchor,
    pub size: f64,
    pub tint: Tint,
    pub face: Face,
}

/// A point of a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The face of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    Plain,
    /// Plain, on a rim of the ground's colour: it stands in the picture.
    Rimmed,
    Bold,
    Mono,
}

/// What a colour is for; the theme says which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    Soft,
    Strong,
    /// What is behind everything: text on a filled label.
    Ground,
    Line,
    /// The peak, and what is as loud.
    Peak,
    Accent,
    Reserved,
    ReservedEdge,
    /// The line of allocated bytes.
    Allocated,
    /// What a slot of the palette stands for.
    Slot(u32),
}

impl Text {
    /// A plain label that starts at a point.
    pub fn label(text: String, at: [f64; 2], size: f64) -> Text {
        Text { text, at, anchor: Anchor::Start, size, tint: Tint::Soft, face: Face::Plain }
    }
}

/// About how wide a text is in a font of this size: rather too wide than too narrow.
pub fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(part).sum::<f64>()
}

/// The text as far as there is room for it, in a font of this size; what is cut ends in `…`, and where not even that has room there
/// is nothing.
pub fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - size * FULL;
    let fits = |letter: &char| {
        left -= size * part(*letter);
        left >= 0.0
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    if !kept.is_empty() {
        kept.truncate(kept.trim_end().len());
        kept.push('…');
    }
    kept
}

fn part(letter: char) -> f64 {
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
