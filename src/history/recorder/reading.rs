//! Parsing of the data that recorders add to a snapshot.

use super::data::{CROP_KEY, RecorderData, Tensor, clipped};
use super::observed_reading::each_dict;
use super::tree::{Token, Tokens, ValueTree};
use base::sorted::{signed_key, sorted_numbers, two_part_key};

// Maximum numbers of rows in each table. The recorder writes at most `MAX_TENSORS` tensors, and far fewer facts, steps
// and sources than allowed here.
const MAX_FACTS: usize = 4_000;
const MAX_TENSORS: usize = 400_000;
const MAX_STEPS: usize = 20_000;
const MAX_SOURCES: usize = 5_000;
/// Maximum nesting depth of facts. The recorder writes three levels.
const MAX_DEPTH: u32 = 6;

/// Parses the recorder data in `tree` into tables. Invalid and unknown values are skipped.
pub fn parse_recorder(tree: ValueTree) -> RecorderData {
    let mut found = RecorderData::default();
    let mut tokens = tree.tokens(0);
    if tokens.next() == Some(Token::Dict) {
        while let Some((key, value)) = tokens.next_pair() {
            match (key, value) {
                (b"memscape", Token::Dict) => found.parse_memscape(&mut tokens),
                (b"source_code", Token::Dict) => found.parse_source_files(&mut tokens),
                (b"shape_data", Token::List) => {
                    while let Some(item) = tokens.next_item() {
                        match item {
                            Token::Dict => found.parse_shapes(&mut tokens),
                            other => tokens.skip_value(other),
                        }
                    }
                }
                (key, value) => {
                    found.is_crop |= key == CROP_KEY.as_bytes();
                    tokens.skip_value(value);
                }
            }
        }
    }
    // Sorted as numbers, because each further type that is sorted adds to the page's wasm.
    let keys =
        found.tensors.iter().map(|tensor| two_part_key(signed_key(tensor.device), tensor.address)).zip(0..).collect();
    let order = sorted_numbers(keys);
    found.tensors = order.iter().filter_map(|&index| found.tensors.get(index as usize).copied()).collect();
    found.observed.sort();
    RecorderData { tree, ..found }
}

impl RecorderData {
    fn parse_memscape(&mut self, tokens: &mut Tokens<'_>) {
        while let Some((key, value)) = tokens.next_pair() {
            match (key, value) {
                (b"tensors", Token::List) => {
                    for place in 0.. {
                        match tokens.next_item() {
                            Some(Token::Dict) => self.parse_tensor(place, tokens),
                            Some(other) => tokens.skip_value(other),
                            None => break,
                        }
                    }
                }
                (b"steps", Token::List) => {
                    while let Some(item) = tokens.next_item() {
                        match item {
                            Token::List => self.parse_step(tokens),
                            other => tokens.skip_value(other),
                        }
                    }
                }
                (b"holders", Token::Dict) => self.observed.parse_holders(tokens),
                (b"paused", Token::List) => self.observed.parse_paused(tokens),
                (b"samples", Token::Dict) => self.observed.parse_samples(tokens),
                (b"samples", Token::List) => each_dict(tokens, |tokens| self.observed.parse_samples(tokens)),
                // Of an unknown form. As facts, they would be thousands of lines.
                (b"holders" | b"paused" | b"samples", value) => tokens.skip_value(value),
                (b"source", Token::Dict) => self.parse_source_files(tokens),
                (key, value) => self.flatten(&clipped(key), value, tokens, 0),
            }
        }
    }

    /// Adds a value as one or more facts, whose dotted keys start with `key`.
    fn flatten(&mut self, key: &str, value: Token<'_>, tokens: &mut Tokens<'_>, depth: u32) {
        let is_over = self.facts.len() >= MAX_FACTS || depth >= MAX_DEPTH;
        let text = match value {
            Token::List | Token::Dict if is_over => return tokens.skip_rest(),
            Token::Dict => {
                while let Some((name, value)) = tokens.next_pair() {
                    self.flatten(&[key, ".", &clipped(name)].concat(), value, tokens, depth + 1);
                }
                return;
            }
            Token::List => {
                let mut index = 0u32;
                while let Some(item) = tokens.next_item() {
                    self.flatten(&[key, ".", &index.to_string()].concat(), item, tokens, depth + 1);
                    index += 1;
                }
                return;
            }
            Token::End | Token::None => return,
            Token::Bool(value) => (if value { "True" } else { "False" }).to_owned(),
            Token::Int(number) => number.to_string(),
            Token::Float(number) => number.to_string(),
            Token::Text(text) => clipped(text),
        };
        if !is_over {
            self.facts.push((key.to_owned(), text));
        }
    }

    fn parse_tensor(&mut self, place: u32, tokens: &mut Tokens<'_>) {
        let (mut address, mut bytes, mut device) = (None, None, 0);
        let mut places = [0; 4];
        loop {
            let position = value_position(tokens);
            let Some((key, value)) = tokens.next_pair() else { break };
            let text = match key {
                b"name" => Some(0),
                b"kind" => Some(1),
                b"dtype" => Some(2),
                b"shape" => Some(3),
                _ => None,
            };
            if let Some(slot) = text.and_then(|text| places.get_mut(text)) {
                *slot = position;
            }
            if let Token::Int(number) = value {
                match key {
                    b"addr" => address = u64::try_from(number).ok(),
                    b"bytes" => bytes = u64::try_from(number).ok(),
                    b"device" => device = number,
                    _ => {}
                }
            }
            tokens.skip_value(value);
        }
        if let (Some(address), Some(bytes @ 1..), true) = (address, bytes, self.tensors.len() < MAX_TENSORS) {
            let [name, kind, dtype, shape] = places;
            self.tensors.push(Tensor { device, address, bytes, index: Some(place), name, kind, dtype, shape });
        }
    }

    fn parse_step(&mut self, tokens: &mut Tokens<'_>) {
        let mut numbers = [0; 3];
        let mut count = 0;
        while let Some(item) = tokens.next_item() {
            match item {
                Token::Int(number) => {
                    numbers.get_mut(count).into_iter().for_each(|slot| *slot = number);
                    count += 1;
                }
                other => tokens.skip_value(other),
            }
        }
        let [_, begin, end] = numbers;
        if count == 3 && begin <= end && self.steps.len() < MAX_STEPS {
            self.steps.push(numbers);
        }
    }

    fn parse_source_files(&mut self, tokens: &mut Tokens<'_>) {
        loop {
            let path = tokens.offset();
            let text = value_position(tokens);
            let Some((_, value)) = tokens.next_pair() else { break };
            if matches!(value, Token::Text(_)) && self.sources.len() < MAX_SOURCES {
                self.sources.push([path, text]);
            }
            tokens.skip_value(value);
        }
    }

    /// Parses torch-snapkit's `shape_data`. For each hexadecimal address, it lists the operations that wrote there,
    /// with shape and dtype. Only the last operation is used. The device is not recorded and is assumed to be 0.
    fn parse_shapes(&mut self, tokens: &mut Tokens<'_>) {
        while let Some((key, value)) = tokens.next_pair() {
            let address = parse_address(key);
            let mut newest = None;
            match value {
                Token::List => {
                    while let Some(item) = tokens.next_item() {
                        match item {
                            Token::List => newest = parse_operation(tokens).or(newest),
                            other => tokens.skip_value(other),
                        }
                    }
                }
                other => tokens.skip_value(other),
            }
            if let (Some(address), Some((bytes, dtype, shape)), true) =
                (address, newest, self.tensors.len() < MAX_TENSORS)
            {
                let tensor = Tensor { device: 0, address, bytes, index: None, name: 0, kind: 0, dtype, shape };
                self.tensors.push(tensor);
            }
        }
    }
}

/// Returns the byte position of the value that follows the next key.
fn value_position(tokens: &Tokens<'_>) -> u32 {
    let mut ahead = tokens.clone();
    let _ = ahead.next();
    ahead.offset()
}

/// Parses an operation with shape and dtype. Returns the size of its result in bytes, and the positions of dtype and
/// shape.
fn parse_operation(tokens: &mut Tokens<'_>) -> Option<(u64, u32, u32)> {
    let (mut places, mut elements, mut width) = ([0; 3], Some(1u64), None);
    for slot in &mut places {
        *slot = tokens.offset();
        match tokens.next_item()? {
            Token::List => {
                while let Some(item) = tokens.next_item() {
                    match item {
                        Token::Int(length) => {
                            elements =
                                elements.zip(u64::try_from(length).ok()).and_then(|(all, more)| all.checked_mul(more));
                        }
                        other => {
                            elements = None;
                            tokens.skip_value(other);
                        }
                    }
                }
            }
            Token::Text(text) => width = element_bytes(text),
            other => tokens.skip_value(other),
        }
    }
    tokens.skip_rest();
    let [_, shape, dtype] = places;
    Some((elements?.checked_mul(width?).filter(|&bytes| bytes > 0)?, dtype, shape))
}

/// Returns the size of an element in bytes. The first number in a dtype's name is the size in bits.
fn element_bytes(dtype: &[u8]) -> Option<u64> {
    let mut bits = 0;
    for byte in dtype {
        match byte {
            b'0'..=b'9' if bits < 1_000 => bits = 10 * bits + u64::from(byte - b'0'),
            // Ignores suffixes, as in `float8_e4m3fn`.
            _ if bits > 0 => break,
            _ => {}
        }
    }
    match bits {
        8..=128 => Some(bits / 8),
        _ => dtype.ends_with(b"bool").then_some(1),
    }
}

/// Parses an address in torch-snapkit's format, such as `0x7f0000000200`.
fn parse_address(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").filter(|digits| (1..=16).contains(&digits.len()))?;
    let mut number = 0;
    for digit in digits {
        number = number << 4 | u64::from(char::from(*digit).to_digit(16)?);
    }
    Some(number)
}
