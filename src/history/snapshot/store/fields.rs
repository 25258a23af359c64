//! Typed access to the values of fields, with errors that name the field.

use super::Store;
use crate::snapshot::error::{ContentError, Problem};
use crate::snapshot::schema::Key;
use crate::snapshot::stacks::StackId;
use crate::snapshot::strings::StringId;
use crate::snapshot::value::{Kind, Value};

impl Store {
    pub(in crate::snapshot) fn integer_at(&self, key: Key, value: Value) -> Result<i128, ContentError> {
        self.as_integer(value).ok_or_else(|| ContentError::at_key(key, Problem::Type("an integer", value.kind())))
    }

    /// Returns a size in bytes. It must be from 0 to 2^63 − 1, so that sums of sizes cannot overflow 128 bits.
    #[inline]
    pub(in crate::snapshot) fn bytes_at(&self, key: Key, value: Value) -> Result<u64, ContentError> {
        if value.kind() == Kind::Int && value.small_int() >= 0 {
            return Ok(value.small_int() as u64);
        }
        let integer = self.integer_at(key, value)?;
        i64::try_from(integer)
            .ok()
            .and_then(|bytes| u64::try_from(bytes).ok())
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a number of bytes between 0 and 2^63")))
    }

    /// Returns a 64-bit address or handle. PyTorch's C++ pickler writes values of 2^63 and more as negative numbers.
    #[inline]
    pub(in crate::snapshot) fn address_at(&self, key: Key, value: Value) -> Result<u64, ContentError> {
        if value.kind() == Kind::Int {
            return Ok(value.small_int() as u64);
        }
        let integer = self.integer_at(key, value)?;
        u64::try_from(integer)
            .ok()
            .or_else(|| i64::try_from(integer).ok().map(|negative| negative as u64))
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a 64-bit address")))
    }

    #[inline]
    pub(in crate::snapshot) fn signed_at(&self, key: Key, value: Value) -> Result<i64, ContentError> {
        if value.kind() == Kind::Int {
            return Ok(value.small_int());
        }
        let integer = self.integer_at(key, value)?;
        i64::try_from(integer)
            .ok()
            .filter(|&value| value != i64::MIN)
            .ok_or_else(|| ContentError::at_key(key, Problem::Range("a signed 64-bit integer")))
    }

    pub(in crate::snapshot) fn string_at(&self, key: Key, value: Value) -> Result<StringId, ContentError> {
        value
            .as_kind(Kind::String)
            .map(StringId)
            .ok_or_else(|| ContentError::at_key(key, Problem::Type("a string", value.kind())))
    }

    pub(in crate::snapshot) fn bool_at(&self, key: Key, value: Value) -> Result<bool, ContentError> {
        match value {
            Value::TRUE => Ok(true),
            Value::FALSE => Ok(false),
            _ => Err(ContentError::at_key(key, Problem::Type("a bool", value.kind()))),
        }
    }

    pub(in crate::snapshot) fn pool_at(&self, key: Key, value: Value) -> Result<(u64, u64), ContentError> {
        let mut values = self.values(value);
        match (values.next(), values.next(), values.next()) {
            (Some(first), Some(second), None) => Ok((self.address_at(key, first)?, self.address_at(key, second)?)),
            _ => Err(ContentError::at_key(key, Problem::Type("a pair of integers", value.kind()))),
        }
    }

    /// Returns the stack for a list of frames, which may be empty.
    pub(in crate::snapshot) fn stack_at(&mut self, key: Key, value: Value) -> Result<StackId, ContentError> {
        match value.kind() {
            Kind::Stack => Ok(StackId(value.index())),
            Kind::List | Kind::Tuple => match self.first_not_of(value, Kind::Frame) {
                None => Ok(StackId::EMPTY),
                Some((index, other)) => {
                    let problem = match other.kind() {
                        Kind::Dict => {
                            let pairs = self.pairs(other);
                            self.parse_frame(&pairs, &mut Default::default())
                                .err()
                                .unwrap_or_else(|| ContentError { path: String::new(), problem: Problem::Missing })
                        }
                        kind => ContentError { path: String::new(), problem: Problem::Type("a frame", kind) },
                    };
                    Err(problem.within(&format!("{}[{index}]", key.text())))
                }
            },
            kind => Err(ContentError::at_key(key, Problem::Type("a list of frames", kind))),
        }
    }
}
