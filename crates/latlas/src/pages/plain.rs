//! A page of Markdown for a terminal: paragraphs as wide as it is, links to other pages as the command that prints them.

/// Widest text that is easily read.
const WIDEST: usize = 100;

/// The page at this width.
pub(crate) fn plain_page(markdown: &str, columns: usize) -> String {
    let columns = columns.min(WIDEST);
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut verbatim = false;
    for line in markdown.lines() {
        let fence = line.trim_start().starts_with("```");
        if fence || verbatim || stands_alone(line) || begins_item(line) {
            wrap_into(&mut text, &std::mem::take(&mut paragraph), columns);
        }
        if fence {
            verbatim = !verbatim;
        } else if verbatim {
            text.push_str(&format!("    {line}\n"));
        } else if stands_alone(line) {
            text.push_str(&format!("{}\n", with_topics(line)));
        } else if paragraph.is_empty() {
            paragraph.push_str(line.trim_end());
        } else {
            paragraph.push(' ');
            paragraph.push_str(line.trim());
        }
    }
    wrap_into(&mut text, &paragraph, columns);
    text
}

/// Headings, rows of tables and what parts paragraphs.
fn stands_alone(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#') || line.trim_start().starts_with('|')
}

fn begins_item(line: &str) -> bool {
    item_indent(line).is_some()
}

/// Where the text of a list's item begins.
fn item_indent(line: &str) -> Option<usize> {
    let words = line.trim_start();
    let before = line.len() - words.len();
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    match words.as_bytes().get(digits..digits + 2)? {
        b"- " | b"* " if digits == 0 => Some(before + 2),
        b". " if digits > 0 => Some(before + digits + 2),
        _ => None,
    }
}

fn wrap_into(text: &mut String, paragraph: &str, columns: usize) {
    let indent =
        item_indent(paragraph).unwrap_or_else(|| paragraph.len() - paragraph.trim_start().len());
    let paragraph = with_topics(paragraph);
    let mut used = 0;
    for word in paragraph.split(' ') {
        let width = word.chars().count();
        if used > indent && used + 1 + width > columns {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 || (word.is_empty() && !paragraph.is_empty()) {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += width;
    }
    if used > 0 {
        text.push('\n');
    }
}

/// Links `[words](other.md#part)` as `words` and the command that prints the page, other links as words, and the address of one on the
/// network.
fn with_topics(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link.split_once("](").and_then(|(words, after)| {
            let (target, after) = after.split_once(')')?;
            (!words.contains('[')).then_some((words, target, after))
        });
        let Some((words, target, after)) = parts else {
            plain.push_str(before);
            plain.push('[');
            rest = link;
            continue;
        };
        // A picture has words of its own only.
        plain.push_str(before.strip_suffix('!').unwrap_or(before));
        match topic_of(target) {
            Some(topic) if words.ends_with(".md") => {
                plain.push_str(&format!("`latlas help {topic}`"));
            }
            Some(topic) => plain.push_str(&format!("{words} (`latlas help {topic}`)")),
            None if target.starts_with("http") => plain.push_str(&format!("{words} ({target})")),
            None => plain.push_str(words),
        }
        rest = after;
    }
    plain + rest
}

/// The topic that a link leads to; none of a part of the page itself and of other files.
fn topic_of(target: &str) -> Option<String> {
    let file = target.split('#').next().unwrap_or_default();
    let name = file.strip_suffix(".md")?.trim_start_matches("../");
    let name = name.trim_start_matches("docs/");
    let in_noise = format!("noise-{name}");
    let name = name.replace('/', "-");
    match super::is_topic(&name) {
        true => Some(name),
        false => super::is_topic(&in_noise).then_some(in_noise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_code_is_not() {
        let page = "# Title\n\nOne two\nthree four.\n\n- five six seven\n  eight\n1. nine ten eleven\n\n\
                    ```sh\nlatlas a  b  c  d  e  f  g\n```\n| a | table that is wider |\n";
        assert_eq!(
            plain_page(page, 14),
            "# Title\n\nOne two three\nfour.\n\n- five six\n  seven eight\n1. nine ten\n   eleven\n\n    \
             latlas a  b  c  d  e  f  g\n| a | table that is wider |\n"
        );
    }

    #[test]
    fn links_say_what_to_type() {
        let text = "See [trust.md](trust.md#verdicts), [the trace](trace.md), [ab](noise/ab.md), \
                    [below](#below), [text](https://example.org/a) and a[1].";
        assert_eq!(
            with_topics(text),
            "See `latlas help trust`, the trace (`latlas help trace`), ab (`latlas help noise-ab`), \
             below, text (https://example.org/a) and a[1]."
        );
    }
}
