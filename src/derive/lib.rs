//! `#[derive(Coded)]`: a type's fields, one after the other, as bytes and back (`src/codec.rs`).
//!
//! It needs the names of fields and variants alone, so it reads the tokens itself. Generic types and unions are refused.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};
use std::fmt::Write;
use std::iter::Peekable;

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

/// Implements `::base::codec::Coded` for a struct or an enum of up to 256 variants, whose fields all are `Coded`.
#[proc_macro_derive(Coded)]
pub fn derive_coded(item: TokenStream) -> TokenStream {
    let code = Item::read(item).map_or_else(|what| format!("compile_error!({what:?});"), |item| item.implementation());
    code.parse().unwrap_or_default()
}

struct Item {
    name: String,
    /// A struct is its only variant, without a tag.
    variants: Vec<Variant>,
    is_enum: bool,
}

struct Variant {
    /// What it is built with: `Name` or `Name::Variant`.
    path: String,
    /// Names, or the numbers of a tuple's fields.
    fields: Vec<String>,
}

impl Item {
    fn read(item: TokenStream) -> Result<Item, &'static str> {
        let mut tokens = item.into_iter().peekable();
        skip_attributes(&mut tokens);
        let kind = word(&mut tokens).unwrap_or_default();
        let name = word(&mut tokens).unwrap_or_default();
        let body = match tokens.next() {
            Some(TokenTree::Group(group)) => Some(group),
            Some(TokenTree::Punct(punct)) if punct.as_char() == ';' => None,
            _ => return Err("derive(Coded): no generic types"),
        };
        match (kind.as_str(), body) {
            ("struct", body) => {
                let variant = Variant { path: name.clone(), fields: body.map_or_else(Vec::new, |body| fields(&body)) };
                Ok(Item { name, variants: vec![variant], is_enum: false })
            }
            ("enum", Some(body)) => {
                let variants = variants(&name, &body);
                if variants.is_empty() || variants.len() > 256 {
                    return Err("derive(Coded): an enum has 1 to 256 variants");
                }
                Ok(Item { name, variants, is_enum: true })
            }
            _ => Err("derive(Coded): only structs and enums"),
        }
    }

    fn implementation(&self) -> String {
        let (mut encode, mut decode) = (String::new(), String::new());
        for (tag, Variant { path, fields }) in self.variants.iter().enumerate() {
            let _ = write!(encode, "{path} {{");
            for (place, field) in fields.iter().enumerate() {
                let _ = write!(encode, "{field}: field_{place},");
            }
            encode += "} => {";
            if self.is_enum {
                let _ = write!(encode, "writer.byte({tag});");
            }
            for place in 0..fields.len() {
                let _ = write!(encode, "::base::codec::Coded::encode(field_{place}, writer);");
            }
            encode += "}";
            // The last one stands for every tag that there is not; `Reader::tag` lets none through.
            let tag = if tag + 1 == self.variants.len() { "_".to_owned() } else { tag.to_string() };
            let _ = write!(decode, "{tag} => {path} {{");
            for field in fields {
                let _ = write!(decode, "{field}: ::base::codec::Coded::decode(reader),");
            }
            decode += "},";
        }
        let name = &self.name;
        let subject = if self.is_enum { format!("reader.tag({})", self.variants.len()) } else { "0".to_owned() };
        format!(
            "#[automatically_derived] impl ::base::codec::Coded for {name} {{
                fn encode(&self, writer: &mut ::base::codec::Writer) {{ match self {{ {encode} }} }}
                fn decode(reader: &mut ::base::codec::Reader) -> {name} {{ match {subject} {{ {decode} }} }}
            }}"
        )
    }
}

fn variants(name: &str, body: &Group) -> Vec<Variant> {
    let mut tokens = body.stream().into_iter().peekable();
    let mut variants = Vec::new();
    loop {
        skip_attributes(&mut tokens);
        let Some(variant) = word(&mut tokens) else { return variants };
        let fields = match tokens.peek() {
            Some(TokenTree::Group(group)) => fields(group),
            _ => Vec::new(),
        };
        variants.push(Variant { path: format!("{name}::{variant}"), fields });
        skip_past_comma(&mut tokens);
    }
}

fn fields(body: &Group) -> Vec<String> {
    let mut tokens = body.stream().into_iter().peekable();
    let mut fields = Vec::new();
    loop {
        skip_attributes(&mut tokens);
        if tokens.peek().is_none() {
            return fields;
        }
        match body.delimiter() {
            Delimiter::Brace => fields.extend(word(&mut tokens)),
            _ => fields.push(fields.len().to_string()),
        }
        skip_past_comma(&mut tokens);
    }
}

/// Attributes, and `pub` with what it is restricted to.
fn skip_attributes(tokens: &mut Tokens) {
    loop {
        match tokens.peek() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '#' => {
                tokens.next();
                tokens.next();
            }
            Some(TokenTree::Ident(word)) if word.to_string() == "pub" => {
                tokens.next();
                if matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                {
                    tokens.next();
                }
            }
            _ => return,
        }
    }
}

fn word(tokens: &mut Tokens) -> Option<String> {
    match tokens.next()? {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    }
}

/// Past the next comma that is not between `<` and `>`.
fn skip_past_comma(tokens: &mut Tokens) {
    let mut depth = 0;
    for token in tokens {
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth == 0 => return,
                _ => {}
            }
        }
    }
}
