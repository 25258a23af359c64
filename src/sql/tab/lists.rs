//! Lists around the SQL editor: tables, ready-made queries, history, highlighted text and completions.

use super::node::Node;
use crate::catalog::Catalog;
use crate::completion::{Token, TokenClass};
use crate::examples::EXAMPLE_QUERIES;
use crate::functions::FUNCTIONS;
use crate::schema::{TABLES, WHEN, note};

/// Maximum length, in characters, at which a query is shown in a list.
const SHOWN: usize = 80;

/// Returns the list of tables with their columns, and of functions.
pub(super) fn schema(catalog: &Catalog) -> Vec<Node> {
    let mut number = 0;
    let mut nodes = Vec::new();
    for (at, (table, columns)) in TABLES.iter().zip(catalog.tables().map(|(_, columns)| columns)).enumerate() {
        let arguments = if table.arguments.is_empty() { String::new() } else { format!("({})", table.arguments) };
        let button = Node::new("button").attr("type", "button").attr("data-act", format!("table:{at}"));
        let title = if arguments.is_empty() { table.about.to_owned() } else { format!("{}. {WHEN}", table.about) };
        let summary = Node::new("summary").attr("title", title).text([table.name, &arguments].concat());
        let rows = columns.iter().map(|column| {
            let act = format!("column:{number}");
            number += 1;
            let button =
                Node::new("button").attr("type", "button").attr("data-act", act).attr("title", note(column.name));
            Node::new("li").children([button.text(column.name)])
        });
        let list = Node::new("ul").children(rows);
        nodes.push(Node::new("details").children([summary, button.text("Show rows"), list]));
    }
    let functions = FUNCTIONS.iter().map(|(call, about)| Node::new("li").attr("title", *about).text(*call));
    nodes.push(
        Node::new("details").children([Node::new("summary").text("Functions"), Node::new("ul").children(functions)]),
    );
    nodes
}

/// Returns a query that shows rows of the table with this index.
pub(super) fn example(table: usize) -> Option<String> {
    let table = TABLES.get(table)?;
    let arguments = match table.arguments {
        "" => "",
        "when" => "('peak')",
        _ => "('peak', 'end')",
    };
    Some(format!("SELECT *\nFROM {}{arguments}\nLIMIT 100", table.name))
}

fn entries<'a>(act: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Node> {
    let entry = |(number, (shown, whole)): (usize, (&'a str, &'a str))| {
        let button = Node::new("button").attr("type", "button").attr("data-act", format!("{act}:{number}"));
        Node::new("li").children([button.attr("title", whole).text(shown)])
    };
    entries.enumerate().map(entry).collect()
}

/// Returns the list of ready-made queries.
pub(super) fn canned() -> Vec<Node> {
    entries("canned", EXAMPLE_QUERIES.iter().map(|query| (query.title, query.sql)))
}

/// Returns the list of previous queries.
pub(super) fn history(history: &[String]) -> Vec<Node> {
    entries("history", history.iter().map(|query| (cut(query), query.as_str())))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(SHOWN).map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// Returns the query with syntax highlighting.
pub(super) fn coloured(text: &str, tokens: &[Token]) -> Vec<Node> {
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
    // A trailing newline in an element does not start a line.
    nodes.push(Node::Text("\n".to_owned()));
    nodes
}

/// Returns the list of completions. `chosen` is the index of the selected one.
pub(super) fn word_nodes(words: &[String], chosen: Option<usize>) -> Vec<Node> {
    let word = |(number, word): (usize, &String)| {
        let is_chosen = chosen == Some(number);
        Node::new("li")
            .attr("role", "option")
            .attr("aria-selected", if is_chosen { "true" } else { "false" })
            .attr("data-act", format!("word:{number}"))
            .text(word.as_str())
    };
    words.iter().enumerate().map(word).collect()
}
