//! Lists around the SQL editor: tables, ready-made queries, history, highlighted text and completions.

use super::node::Node;
use protocol::sql::{Completion, Schema, SchemaTable, Token, TokenClass};

/// Maximum length, in characters, at which a query is shown in a list.
const SHOWN: usize = 80;

/// Returns the list of tables with their columns, and of functions.
pub(super) fn schema(schema: &Schema) -> Vec<Node> {
    let mut number = 0;
    let table = |(index, table): (usize, &SchemaTable)| {
        let arguments = if table.arguments.is_empty() { String::new() } else { format!("({})", table.arguments) };
        let summary = Node::new("summary").attr("title", &*table.about).text([&*table.name, &arguments].concat());
        let column = |(name, note): &(String, String)| {
            let button = Node::button("column", number).attr("title", &**note);
            number += 1;
            Node::new("li").children([button.text(&**name)])
        };
        let list = Node::new("ul").children(table.columns.iter().map(column));
        Node::new("details").children([summary, Node::button("table", index).text("Show rows"), list])
    };
    let mut nodes: Vec<Node> = schema.tables.iter().enumerate().map(table).collect();
    let functions = schema.functions.iter().map(|(call, about)| Node::new("li").attr("title", &**about).text(&**call));
    let functions = [Node::new("summary").text("Functions"), Node::new("ul").children(functions)];
    nodes.push(Node::new("details").children(functions));
    nodes
}

fn entries<'a>(act: &str, entries: impl Iterator<Item = (&'a str, &'a String)>) -> Vec<Node> {
    let entry = |(number, (shown, whole)): (usize, (&'a str, &'a String))| {
        Node::new("li").children([Node::button(act, number).attr("title", &**whole).text(shown)])
    };
    entries.enumerate().map(entry).collect()
}

/// Returns the list of ready-made queries.
pub(super) fn examples(schema: &Schema) -> Vec<Node> {
    entries("canned", schema.examples.iter().map(|(title, query)| (&**title, query)))
}

/// Returns the list of previous queries.
pub(super) fn history(history: &[String]) -> Vec<Node> {
    entries("history", history.iter().map(|query| (cut(query), query)))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(SHOWN).map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// Returns the query with syntax highlighting. Without tokens, it is plain.
pub(super) fn highlighted(text: &str, tokens: &[Token]) -> Vec<Node> {
    let mut nodes: Vec<Node> = tokens
        .iter()
        .filter_map(|token| {
            let piece = text.get(token.from..token.to)?;
            let class = match token.class {
                TokenClass::Plain => return Some(Node::Text(piece.to_owned())),
                TokenClass::Keyword => "keyword",
                TokenClass::Known => "known",
                TokenClass::Function => "function",
                TokenClass::Number => "number",
                TokenClass::Text => "text",
                TokenClass::Comment => "comment",
            };
            Some(Node::new("span").attr("class", class).text(piece))
        })
        .collect();
    if nodes.is_empty() {
        nodes.push(Node::Text(text.to_owned()));
    }
    // A trailing newline in an element does not start a line.
    nodes.push(Node::Text("\n".to_owned()));
    nodes
}

/// Returns the list of completions. `chosen` is the index of the selected one.
pub(super) fn words(completion: &Completion, chosen: Option<usize>) -> Vec<Node> {
    let word = |(number, word): (usize, &String)| {
        let is_chosen = chosen == Some(number);
        Node::new("li")
            .attr("role", "option")
            .attr("aria-selected", if is_chosen { "true" } else { "false" })
            .act("word", number)
            .text(&**word)
    };
    completion.words.iter().enumerate().map(word).collect()
}
