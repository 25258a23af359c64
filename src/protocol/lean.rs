//! A wrapper around postcard's deserializer that reduces code size.
//!
//! In postcard, structs and tuples always have all of their fields. The wrapper relies on this and always returns the
//! next field. The code that serde generates for missing fields then becomes dead code. This saves tens of bytes
//! of wasm per field.

use postcard::{Deserializer, Error, de_flavors::Slice};
use serde::de::{self, Deserialize, DeserializeSeed, EnumAccess, SeqAccess, VariantAccess, Visitor};

/// Deserializer that never reports missing fields.
pub(super) struct LeanDeserializer<'a, 'de>(pub(super) &'a mut Deserializer<'de, Slice<'de>>);

/// Access to the fields of a struct or tuple.
struct Fields<'a, 'de>(LeanDeserializer<'a, 'de>);

/// Access to the elements of a sequence. The second value is the number of remaining elements.
struct Elements<'a, 'de>(LeanDeserializer<'a, 'de>, usize);

impl<'de> LeanDeserializer<'_, 'de> {
    fn reborrow(&mut self) -> LeanDeserializer<'_, 'de> {
        LeanDeserializer(self.0)
    }
}

impl<'de> SeqAccess<'de> for Fields<'_, 'de> {
    type Error = Error;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(self.0.reborrow()).map(Some)
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.1.checked_sub(1) else { return Ok(None) };
        self.1 = left;
        seed.deserialize(self.0.reborrow()).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.1)
    }
}

impl<'de> EnumAccess<'de> for LeanDeserializer<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    #[inline(always)]
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let number = u32::deserialize(&mut *self.0)?;
        Ok((seed.deserialize(de::IntoDeserializer::<Error>::into_deserializer(number))?, self))
    }
}

impl<'de> VariantAccess<'de> for LeanDeserializer<'_, 'de> {
    type Error = Error;

    #[inline(always)]
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    #[inline(always)]
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields(self))
    }

    #[inline(always)]
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields(self))
    }
}

/// Generates methods that pass their arguments on to postcard's deserializer unchanged.
macro_rules! passed_on {
    ($($name:ident)*) => {
        $(#[inline(always)]
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            de::Deserializer::$name(self.0, visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for LeanDeserializer<'_, 'de> {
    type Error = Error;

    passed_on! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
        deserialize_map
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match u8::deserialize(&mut *self.0)? {
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self),
            _ => Err(Error::DeserializeBadOption),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let count = usize::deserialize(&mut *self.0)?;
        visitor.visit_seq(Elements(self, count))
    }

    #[inline(always)]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields(self))
    }

    #[inline(always)]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields(self))
    }

    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields(self))
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    #[inline(always)]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    #[inline(always)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }
}
