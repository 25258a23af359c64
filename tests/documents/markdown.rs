//! Fenced blocks and code spans of Markdown, with their lines.

/// A fenced block. `line` is the line of its fence, counted from 1.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
}

/// A code span. Wrapped lines are joined by spaces. `line` is the first line of its paragraph, counted from 1.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A parsed Markdown file.
pub(super) struct Document {
    pub(super) name: String,
    pub(super) blocks: Vec<Block>,
    pub(super) spans: Vec<Span>,
    /// Paragraphs and table rows outside blocks, each joined into one line.
    pub(super) paragraphs: Vec<Span>,
}

impl Document {
    /// Parses Markdown. Indented blocks have no language.
    ///
    /// # Panics
    /// Panics if a fence or a code span is not closed.
    pub(super) fn new(name: &str, text: &str) -> Document {
        let mut document =
            Document { name: name.to_owned(), blocks: Vec::new(), spans: Vec::new(), paragraphs: Vec::new() };
        let mut paragraph: Option<Span> = None;
        let mut fence: Option<Block> = None;
        let mut indented: Option<Block> = None;
        for (line, row) in (1..).zip(text.lines()) {
            if let Some(block) = &mut fence {
                if row.trim_start() == "```" {
                    document.blocks.extend(fence.take());
                } else {
                    block.text += &format!("{row}\n");
                }
                continue;
            }
            let starts_fence = row.trim_start().strip_prefix("```");
            let is_indented = row.starts_with("    ") && paragraph.is_none();
            if !is_indented && !row.is_empty() {
                document.blocks.extend(indented.take());
            }
            if let Some(language) = starts_fence {
                document.paragraphs.extend(paragraph.take());
                fence = Some(Block { line, language: language.to_owned(), text: String::new() });
            } else if is_indented {
                let block = indented.get_or_insert(Block { line, language: String::new(), text: String::new() });
                block.text += &format!("{}\n", row.trim());
            } else if row.trim().is_empty() {
                document.paragraphs.extend(paragraph.take());
            } else if row.starts_with('|') {
                document.paragraphs.extend(paragraph.take());
                document.paragraphs.push(Span { line, text: row.to_owned() });
            } else {
                let joined = paragraph.get_or_insert(Span { line, text: String::new() });
                joined.text += &format!(" {}", row.trim());
            }
        }
        assert!(fence.is_none(), "{name}: the fence of line {} is not closed", fence.unwrap().line);
        document.blocks.extend(indented);
        document.paragraphs.extend(paragraph);
        for Span { line, text } in &document.paragraphs {
            let parts: Vec<&str> = text.split('`').collect();
            assert!(parts.len() % 2 == 1, "{name}:{line}: code span is not closed: {text}");
            let spans = parts.iter().skip(1).step_by(2);
            document.spans.extend(spans.map(|text| Span { line: *line, text: (*text).to_owned() }));
        }
        document
    }
}

/// Splits a shell command into words, without its comment. Quotes are honoured, nothing is expanded.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in command.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[test]
fn word_splitting_respects_comments_and_quotes() {
    assert_eq!(words("memscape a \"x & y\" '#12' # b"), ["memscape", "a", "x & y", "#12"]);
    assert_eq!(words("# only a comment"), [""; 0]);
}

#[test]
fn wrapped_spans_are_joined_and_blocks_kept() {
    let text = "a `b\nc` d\n| `x` |\n\n```sh\nls `x`\n```\n\n    indented\n";
    let document = Document::new("test", text);
    let spans: Vec<(usize, &str)> = document.spans.iter().map(|it| (it.line, &*it.text)).collect();
    assert_eq!(spans, [(1, "b c"), (3, "x")]);
    let blocks: Vec<(&str, &str)> = document.blocks.iter().map(|it| (&*it.language, &*it.text)).collect();
    assert_eq!(blocks, [("sh", "ls `x`\n"), ("", "indented\n")]);
}
