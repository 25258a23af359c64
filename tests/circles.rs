//! Import cycles between the files of a crate, found by parsing `use` declarations and paths. Neither the compiler nor
//! Cargo reports them.
//!
//! A file imports every name in its code, wherever that name is defined. `pub use` is followed to the definition, so a
//! `mod.rs` that only re-exports takes part in no cycle. Methods called on a value are ignored, but naming its type
//! counts. Methods of the types in [`SHARED_STATE`] are followed to the file that defines them.

use std::collections::{BTreeMap, BTreeSet};

/// Types whose methods many files call, so that a file can depend on another one without naming it.
const SHARED_STATE: &[&str] = &["Shared", "State"];

#[test]
fn crates_have_no_import_cycles() {
    let sources = super::sources();
    for room in super::CRATES {
        let files =
            sources.iter().filter(|source| source.crate_name() == *room && source.name != format!("{room}/main.rs"));
        let files: Vec<_> = files.map(|source| (&source.name[room.len() + 1..], source.text.as_str())).collect();
        let circles = cycles(&files);
        assert!(circles.is_empty(), "{room}:\n{}", circles.join("\n"));
    }
}

#[test]
fn cycle_through_re_exports_is_found() {
    let facade = ("lib.rs", "mod a; mod b; pub use a::{one::One, Two as Second}; pub use b::*;");
    let a = ("a/mod.rs", "pub(crate) mod one; pub use crate::b::Three as Two;");
    let one = ("a/one.rs", "use crate::Second; pub struct One(Second); // crate::b::Four");
    let b = ("b.rs", "use crate as home; pub struct Three(Option<Box<home::One>>); pub struct Four;");
    assert_eq!(cycles(&[facade, a, one, b]), ["a/one.rs -> b.rs: Three\nb.rs -> a/one.rs: One\n"]);

    let b = ("b.rs", "pub struct Three; pub struct Four; #[cfg(test)] mod tests { use super::*; use crate::One; }");
    assert!(cycles(&[facade, a, one, b]).is_empty(), "imports of tests are ignored");
}

#[test]
fn cycle_through_parent_module_is_found() {
    let root = ("lib.rs", "mod shop;");
    let shop = ("shop.rs", "mod goods; use goods::Goods; pub struct Shop(Goods); pub const OPEN: bool = true;");
    let goods = ("shop/goods.rs", "pub struct Goods; fn sold() -> bool { super::OPEN }");
    assert_eq!(cycles(&[root, shop, goods]), ["shop.rs -> shop/goods.rs: Goods\nshop/goods.rs -> shop.rs: OPEN\n"]);
    // A file that only declares and re-exports takes part in no cycle.
    let shop = ("shop.rs", "mod goods; pub use goods::Goods; pub const OPEN: bool = true;");
    assert!(cycles(&[root, shop, goods]).is_empty());
    // Strings, comments and the `super` of an inner module name no other file.
    let shop = ("shop.rs", "mod goods; use goods::Goods; struct Shop(Goods);");
    let goods = ("shop/goods.rs", "/* super::Shop */ const A: &str = \"super::Shop\"; mod inner { use super::A; }");
    assert!(cycles(&[root, shop, goods]).is_empty());
}

#[test]
fn cycle_through_method_of_shared_state_is_found() {
    let root = ("lib.rs", "mod state; mod cursor; mod range;");
    let state = ("state.rs", "pub struct Shared { at: u32 }");
    let cursor = ("cursor.rs", "use crate::state::Shared; impl Shared { fn moved(&mut self) { self.end_range(); } }");
    let range = ("range.rs", "use crate::state::Shared; impl Shared { fn end_range(&mut self) { self.moved(); } }");
    assert_eq!(
        cycles(&[root, state, cursor, range]),
        ["cursor.rs -> range.rs: end_range()\nrange.rs -> cursor.rs: moved()\n"]
    );
    // The method of another type with the same name could be meant.
    let other = ("other.rs", "struct Other; impl Other { fn moved(&self) {} }");
    assert!(cycles(&[root, state, cursor, range, other]).is_empty());
}

/// Returns the import cycles between the files of one crate, as one arrow per line. File names are relative to the
/// crate's folder.
fn cycles(files: &[(&str, &str)]) -> Vec<String> {
    let house: Modules = files.iter().map(|(name, text)| (module(name), File::parse(name, text))).collect();
    let mut arrows: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    let methods = methods_of_shared_state(&house);
    for (home, file) in &house {
        for name in &file.calls {
            if let Some(other) = methods.get(name.as_str()).filter(|other| **other != file.name) {
                arrows.entry(&file.name).or_default().entry(other).or_default().insert(format!("{name}()"));
            }
        }
        for path in
            file.paths.iter().chain(file.imports.values().filter(|import| !import.is_re_export).map(|it| &it.path))
        {
            let Some(Target::Item(other, name)) = resolve(&house, home, path, 0) else { continue };
            if other != file.name {
                arrows.entry(&file.name).or_default().entry(other).or_default().insert(name.to_owned());
            }
        }
    }
    let reached = |start: &str| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(file) = open.pop() {
            open.extend(arrows.get(file).into_iter().flat_map(BTreeMap::keys).filter(|next| reached.insert(**next)));
        }
        reached.into_iter().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let reach: BTreeMap<&str, BTreeSet<String>> = arrows.keys().map(|file| (*file, reached(file))).collect();
    let mut found = BTreeSet::new();
    for (file, others) in &reach {
        let members: Vec<&str> = others
            .iter()
            .map(String::as_str)
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(*file)))
            .collect();
        let mut listing = String::new();
        for from in &members {
            for (to, names) in arrows[from].iter().filter(|(to, _)| members.contains(to)) {
                listing += &format!("{from} -> {to}: {}\n", names.iter().cloned().collect::<Vec<_>>().join(", "));
            }
        }
        found.insert(listing);
    }
    found.into_iter().filter(|listing| !listing.is_empty()).collect()
}

/// Returns the methods of [`SHARED_STATE`], each with the name of the file that defines it. A name that other types
/// also use for a method is left out, because a call does not tell which one is meant.
fn methods_of_shared_state(house: &Modules) -> BTreeMap<&str, &str> {
    let all = || house.values().flat_map(|file| file.methods.iter().map(move |method| (file, method)));
    let mut owners: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for (file, (owner, name)) in all() {
        owners.entry(name).or_default().insert((owner, &file.name));
    }
    owners.retain(|_, owners| owners.len() == 1 && owners.iter().all(|(owner, _)| SHARED_STATE.contains(owner)));
    owners.into_iter().flat_map(|(name, owners)| owners.into_iter().map(move |(_, file)| (name, file))).collect()
}

/// The files of a crate by module path. The path of the root is empty.
type Modules = BTreeMap<Vec<String>, File>;

/// Imports and paths of one source file.
#[derive(Default)]
struct File {
    name: String,
    /// Paths imported by `use`, keyed by the name they have in this file.
    imports: BTreeMap<String, Import>,
    /// Modules imported with `*`.
    globs: Vec<Vec<String>>,
    /// Paths that occur in the code.
    paths: BTreeSet<Vec<String>>,
    /// Methods that the file defines in `impl` blocks without a trait, as the names of type and method.
    methods: BTreeSet<(String, String)>,
    /// Names of the methods that the code calls on values.
    calls: BTreeSet<String>,
}

struct Import {
    path: Vec<String>,
    /// True for a public import that the file's own code does not use.
    is_re_export: bool,
}

/// Target of a resolved path.
enum Target<'a> {
    Module(Vec<String>),
    /// The name of the file that defines the item, and the item's name there.
    Item(&'a str, &'a str),
}

/// Returns the module path of a file. `a/b.rs` and `a/b/mod.rs` are the module `a::b`.
fn module(name: &str) -> Vec<String> {
    let parts = name.trim_end_matches(".rs").split('/').map(str::to_owned);
    parts.filter(|part| part != "mod" && part != "lib").collect()
}

/// Resolves a path named in module `home`. Returns `None` if it leads outside the crate.
fn resolve<'a>(house: &'a Modules, home: &[String], path: &'a [String], depth: usize) -> Option<Target<'a>> {
    let (first, mut rest) = path.split_first()?;
    let is_child = |home: &[String], name: &str| house.contains_key(&[home, &[name.to_owned()]].concat());
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => home.to_vec(),
        "super" => home.split_last()?.1.to_vec(),
        name if is_child(home, name) => [home, &[name.to_owned()]].concat(),
        name => {
            let import = house.get(home)?.imports.get(name).filter(|import| depth < 16 && import.path != path)?;
            match resolve(house, home, &import.path, depth + 1)? {
                Target::Module(module) => module,
                item => return Some(item),
            }
        }
    };
    while let Some((name, more)) = rest.split_first() {
        let file = house.get(&at)?;
        if name == "super" {
            at.pop();
        } else if is_child(&at, name) {
            at.push(name.clone());
        } else if let Some(import) = file.imports.get(name).filter(|_| depth < 16) {
            match resolve(house, &at, &import.path, depth + 1)? {
                Target::Module(module) => at = module,
                item => return Some(item),
            }
        } else {
            let passed_on = file.globs.iter().filter(|_| depth < 16).find_map(|glob| {
                let Target::Module(module) = resolve(house, &at, glob, depth + 1)? else { return None };
                let source = house.get(&module).filter(|source| source.defines(name))?;
                Some(Target::Item(&source.name, name))
            });
            return Some(passed_on.unwrap_or(Target::Item(&file.name, name)));
        }
        rest = more;
    }
    Some(Target::Module(at))
}

impl File {
    fn parse(name: &str, text: &str) -> File {
        let tokens = without_tests(tokens(text));
        let mut file = File { name: name.to_owned(), ..File::default() };
        file.methods = methods(&tokens);
        file.calls = tokens.windows(3).filter(|it| it[0] == "." && it[2] == "(").map(|it| it[1].clone()).collect();
        let mut public = BTreeSet::new();
        let mut rest = &tokens[..];
        while let Some((token, more)) = rest.split_first() {
            let before = tokens.len() - rest.len();
            let last = |back: usize| before.checked_sub(back).map_or("", |at| &*tokens[at]);
            // A field or method belongs to a value, but a path after `..` does not.
            let is_member = last(1) == "." && last(2) != ".";
            let is_path = is_name(token) && !is_member && !matches!(last(1), "::" | "mod" | "fn");
            if token == "use" && more.first().is_some_and(|next| next != "<") {
                let known: BTreeSet<String> = file.imports.keys().cloned().collect();
                rest = file.parse_use(&[], more);
                if matches!(last(1), "pub" | ")") {
                    public.extend(file.imports.keys().filter(|name| !known.contains(*name)).cloned());
                }
            } else if is_path {
                let mut path = vec![token.clone()];
                rest = more;
                while rest.len() > 1 && rest[0] == "::" && is_name(&rest[1]) {
                    path.push(rest[1].clone());
                    rest = &rest[2..];
                }
                file.paths.insert(path);
            } else {
                rest = more;
            }
        }
        for name in public {
            let is_named = file.paths.iter().any(|path| path[0] == name);
            if let Some(import) = file.imports.get_mut(&name) {
                import.is_re_export = !is_named;
            }
        }
        file
    }

    /// Parses one `use` tree below `prefix` and returns the remaining tokens.
    fn parse_use<'a>(&mut self, prefix: &[String], mut tokens: &'a [String]) -> &'a [String] {
        let mut path = prefix.to_vec();
        while let Some((token, rest)) = tokens.split_first() {
            tokens = rest;
            match token.as_str() {
                "::" => {}
                "*" => self.globs.push(path.clone()),
                "{" => {
                    while tokens.first().is_some_and(|next| next != "}") {
                        tokens = self.parse_use(&path, tokens);
                        tokens = tokens.strip_prefix(&[",".to_owned()]).unwrap_or(tokens);
                    }
                    return tokens.get(1..).unwrap_or_default();
                }
                name => {
                    if name != "self" || path.is_empty() {
                        path.push(name.to_owned());
                    }
                    let binds = match tokens {
                        [next, ..] if next == "::" => continue,
                        [next, alias, ..] if next == "as" => {
                            tokens = &tokens[2..];
                            alias.clone()
                        }
                        _ => path.last().cloned().unwrap_or_default(),
                    };
                    // Several traits may be imported as `_`.
                    let binds = if binds == "_" { path.join("::") } else { binds };
                    self.imports.insert(binds, Import { path, is_re_export: false });
                    return tokens;
                }
            }
        }
        tokens
    }

    /// Returns whether the file mentions a name that it does not import. This is a good enough guess at what `*`
    /// imports.
    fn defines(&self, name: &str) -> bool {
        self.paths.iter().any(|path| path.len() == 1 && path[0] == name)
    }
}

/// Returns the methods in `impl` blocks without a trait, as the names of type and method.
fn methods(tokens: &[String]) -> BTreeSet<(String, String)> {
    let mut methods = BTreeSet::new();
    // Type of the open `impl` block, and the depth of its braces.
    let (mut owner, mut braces) = (None, 0);
    for (at, token) in tokens.iter().enumerate() {
        let next = |offset: usize| tokens.get(at + offset).map_or("", String::as_str);
        match token.as_str() {
            "impl" if braces == 0 && next(2) == "{" => owner = Some(next(1).to_owned()),
            "fn" if braces == 1 => {
                methods.extend(owner.clone().map(|owner| (owner, next(1).to_owned())));
            }
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                owner = owner.filter(|_| braces > 0);
            }
            _ => {}
        }
    }
    methods
}

/// Removes the contents of `#[cfg(test)] mod …`. In any other inner module, replaces the first `super` of a path by
/// `self`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    // Brace depth of each open inner module, and whether it holds tests.
    let (mut inner, mut braces): (Vec<(usize, bool)>, usize) = (Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        if token == "{" {
            let is_module = at > 1 && tokens[at - 2] == "mod";
            if is_module {
                let before = tokens[..at - 2].join("");
                inner.push((braces, before.trim_end_matches("pub").ends_with("#[cfg(test)]")));
            }
            braces += 1;
        } else if token == "}" {
            braces = braces.saturating_sub(1);
        }
        let in_tests = inner.iter().any(|(_, is_tests)| *is_tests);
        if !in_tests {
            let is_first = at == 0 || tokens[at - 1] != "::";
            let is_self = token == "super" && is_first && !inner.is_empty();
            kept.push(if is_self { "self".to_owned() } else { token.clone() });
        }
        if token == "}" && inner.last().is_some_and(|(before, _)| *before == braces) {
            inner.pop();
        }
    }
    kept
}

/// Splits source text into names, `::` and single characters, without comments and string literals.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let word = rest.find(|sign: char| !(sign.is_alphanumeric() || sign == '_')).unwrap_or(rest.len());
        let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = hashes.filter(|hashes| rest[hashes + 1..].starts_with('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            rest[hashes + 2..].find(&end).map_or(rest.len(), |at| hashes + 2 + at + end.len())
        } else if sign == '"' {
            quoted(rest, '"')
        } else if sign == '\'' {
            // A character literal. A quote without a closing quote right after starts a lifetime.
            let is_letter = rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'');
            if is_letter {
                quoted(rest, '\'')
            } else {
                1 + rest[1..].find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(0)
            }
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else if word > 0 {
            tokens.push(rest[..word].to_owned());
            word
        } else {
            if !sign.is_whitespace() {
                tokens.push(sign.to_string());
            }
            sign.len_utf8()
        };
        rest = &rest[length.min(rest.len())..];
    }
    tokens
}

/// Returns the length of the literal at the start of `text`, including its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if sign == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
        && !matches!(token, "as" | "use" | "mod" | "pub")
}
