//! Paints blocks as text within the width of a terminal. `layout.rs` aligns, wraps and colours, `lines.rs`,
//! `heat.rs` and `strips.rs` draw curves, maps and shares over time with characters. Which blocks there are
//! is decided in `render/`; the program prints the text.

mod dots;
mod forest;
mod heat;
pub(crate) mod layout;
mod lines;
pub mod live;
mod slopes;
mod strips;

use crate::chart::tables;
pub use layout::{NO_BREAK, wrap};
use layout::{Style, finish, styled, width};
use model::chart::{Body, Chart};
use model::story::{Block, Cell, Column, Note, Row, StripDot, Table, Value};

/// How wide a page is, and whether it has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub columns: usize,
    /// Whether verdicts are coloured.
    pub color: bool,
}

/// Blocks as text for a screen. Control characters of documents are replaced.
pub fn blocks_text(blocks: &[Block], screen: Screen) -> String {
    finish(&paint(blocks, screen.columns), screen.color)
}

/// The same without colours.
pub(crate) fn paint_plain(blocks: &[Block], columns: usize) -> String {
    finish(&paint(blocks, columns), false)
}

/// Columns of pages in tests.
#[cfg(test)]
pub(crate) const COLUMNS: usize = 100;

#[cfg(test)]
pub(crate) fn plain(blocks: &[Block]) -> String {
    paint_plain(blocks, COLUMNS)
}

/// The same with colours.
#[cfg(test)]
pub(crate) fn colored(blocks: &[Block]) -> String {
    finish(&paint(blocks, COLUMNS), true)
}

/// Blocks painted one below the other, with marks for the colours that
/// [`finish`] replaces. Empty lines follow no other and do not come first.
pub(crate) fn paint(blocks: &[Block], columns: usize) -> String {
    let mut lines = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(text) => lines.extend(wrap("", text, columns)),
            Block::Note(Note { label, text, .. }) if label.is_empty() && text.is_empty() => {
                if lines.last().is_some_and(|line: &String| !line.is_empty()) {
                    lines.push(String::new());
                }
            }
            Block::Note(text) => add_note(&mut lines, text, columns),
            Block::Lines(own) => lines.extend(own.iter().cloned()),
            Block::Chart(chart) => lines.extend(drawn(chart, columns)),
            Block::Rates(rate) => {
                let table = rate.table();
                Layout::fit(&table, columns).paint(&table, &mut lines, columns);
            }
            Block::Table(table) => {
                let room = columns.saturating_add(table.extra);
                Layout::fit(table, room).paint(table, &mut lines, room);
            }
            Block::Tables(tables) => aligned_tables(&mut lines, tables, columns),
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A picture as characters, below what it shows; bars and dots as their
/// figures.
fn drawn(chart: &Chart, columns: usize) -> Vec<String> {
    let (shows, drawing, legend) = match &chart.body {
        Body::Lines(own) => {
            let name = own.series.first().map_or("", |line| &line.name);
            let shows = format!("{name}, {} over {}", own.y.label, own.x.label);
            let drawing = lines::curve_lines(own, columns);
            let legend = if drawing.is_empty() { String::new() } else { lines::legend(own) };
            (shows, drawing, legend)
        }
        Body::Heat(own) => {
            let Some(drawn) = heat::heat(own, columns) else {
                return Vec::new();
            };
            let (label, unit) = (&own.value.label, drawn.unit);
            let shows =
                format!("{label}, {unit}, {} (down) and {} (across)", own.y_label, own.x_label);
            (shows, drawn.lines, drawn.legend)
        }
        Body::Strips(own) => {
            let shows = format!("share of time, a line for each {}", own.label);
            (shows, strips::strips(own, columns), strips::legend(own, columns))
        }
        Body::Dots(own) if own.is_of_change() => {
            let lines = forest::lines(own, columns);
            let notes = crate::chart::forest::not_drawn(own).into_iter();
            let legend = forest::legend(own).into_iter().chain(notes);
            (own.value.label.clone(), lines, legend.collect::<Vec<_>>().join("  "))
        }
        Body::Slopes(own) => (
            format!("{} to {}", own.sides[0], own.sides[1]),
            slopes::lines(own, columns),
            std::iter::once(slopes::legend(own))
                .chain(chart.notes.iter().cloned())
                .collect::<Vec<_>>()
                .join("  "),
        ),
        Body::Dots(own) if own.labelled => {
            (own.value.label.clone(), dots::labelled_lines(own, columns), String::new())
        }
        Body::Bars(_) | Body::Dots(_) | Body::Lanes(_) => {
            let figures = tables(chart).into_iter().map(Block::Table);
            let painted = paint(&figures.collect::<Vec<_>>(), columns);
            let lines = painted.lines().map(str::to_owned).collect();
            (chart.title.clone(), lines, String::new())
        }
    };
    if drawing.is_empty() && legend.is_empty() {
        return Vec::new();
    }
    let mut lines = wrap("", &format!("{}: {shows}", chart.id), columns);
    lines.extend(drawing);
    if !legend.is_empty() {
        lines.extend(wrap("  ", &legend, columns));
    }
    lines
}

/// Columns line up through all tables that keep to the page so; a table that
/// would push the others over the edge stands on its own.
fn aligned_tables(lines: &mut Vec<String>, tables: &[Table], columns: usize) {
    let extra = tables.iter().map(|table| table.extra).max().unwrap_or(0);
    let columns = columns.saturating_add(extra);
    let mut common = Layout::default();
    let mut joins = Vec::new();
    for table in tables {
        let mut wider = common.clone();
        wider.widen(table);
        let fits = wider.width() <= columns;
        joins.push(fits);
        if fits {
            common = wider;
        }
    }
    for (at, (table, joins)) in tables.iter().zip(joins).enumerate() {
        if at > 0 {
            lines.push(String::new());
        }
        let mut own = Layout::default();
        own.widen(table);
        match joins {
            true => common.paint(table, lines, columns),
            // Of its own layout, with what has room.
            false if fits(table, columns) => own.paint(table, lines, columns),
            false => Layout::fit(table, columns).paint(table, lines, columns),
        }
    }
}

/// Whether a table has room with all its columns and intervals.
pub(crate) fn fits(table: &Table, columns: usize) -> bool {
    let mut layout = Layout::default();
    layout.widen(table);
    layout.width() <= columns
}

fn add_note(lines: &mut Vec<String>, note: &Note, columns: usize) {
    let wrapped = wrap(&note.label, &note.text, columns);
    lines.extend(wrapped.iter().map(|line| styled(line, note.tone)));
}

/// Most of a cell that is shown: each line of a table is as wide as its widest cell, and a name in a document
/// may be as long as the document.
const MOST_OF_CELL: usize = 250;

fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST_OF_CELL) {
        Some((end, _)) => {
            let tone =
                if text.ends_with(layout::END) { layout::END.to_string() } else { String::new() };
            format!("{}...{tone}", &text[..end])
        }
        None => text,
    }
}

/// Room for the first cells of a table's rows, where the longer ones stand above.
const LEAST_NAME: usize = 8;

/// Bars that are shorter say nothing.
const LEAST_BAR: usize = 8;
/// Where they are shorter, columns move together first.
const ROOMY_BAR: usize = 36;

/// How wide the columns of one or several tables are.
#[derive(Clone, Debug)]
struct Layout {
    /// The parts of figures: number, half of the interval, mark.
    parts: Vec<[usize; 3]>,
    /// All of a cell.
    widths: Vec<usize>,
    gap: usize,
    /// Optional columns that are left out, from the last one on.
    dropped: usize,
    /// Figures have their intervals.
    halves: bool,
    /// Columns of bars at most.
    bars: usize,
    /// Columns of the first cell of a row at most: a wider one has a line of its own.
    first: usize,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            parts: Vec::new(),
            widths: Vec::new(),
            gap: 1,
            dropped: 0,
            halves: true,
            bars: usize::MAX,
            first: usize::MAX,
        }
    }
}

impl Layout {
    /// The roomiest layout that keeps to `columns`: two blanks between columns
    /// or one, without optional columns, without intervals, with the first cell of some rows above the others.
    fn fit(table: &Table, columns: usize) -> Layout {
        let optional = table.columns.iter().filter(|c| c.optional).count();
        let tries = [(2, 0, true), (1, 0, true)]
            .into_iter()
            .chain((1..=optional).map(|dropped| (1, dropped, true)))
            .chain([(2, optional, false), (1, optional, false)]);
        let layouts = tries.map(|(gap, dropped, halves)| {
            let mut layout = Layout { gap, dropped, halves, ..Layout::default() };
            layout.widen(table);
            let least = if gap == 1 { LEAST_BAR } else { ROOMY_BAR };
            layout.shrink_bars(table, columns, least)
        });
        let layouts: Vec<Layout> = layouts.collect();
        let fitting = layouts.iter().find(|layout| layout.width() <= columns).cloned();
        let above = || layouts.last().and_then(|layout| layout.with_names_above(table, columns));
        // Rather too wide than without its figures.
        fitting.or_else(above).or(layouts.first().cloned()).unwrap_or_default()
    }

    /// The same with room for the first cells of rows up to a length; none where that is too short for most of
    /// them, or the others alone are too wide.
    fn with_names_above(&self, table: &Table, columns: usize) -> Option<Layout> {
        let first = *self.widths.first()?;
        let room =
            (columns + first).checked_sub(self.width()).filter(|room| *room >= LEAST_NAME)?;
        let mut layout =
            Layout { parts: Vec::new(), widths: Vec::new(), first: room, ..self.clone() };
        layout.widen(table);
        let rows = table.rows.iter().filter(|row| matches!(row, Row::Cells(_)));
        let names =
            rows.filter_map(|row| Some(layout.texts(table, row).into_iter().next()?[0].clone()));
        let (above, within): (Vec<_>, Vec<_>) = names.partition(|name| layout.is_above(name));
        (above.len() <= within.len()).then_some(layout)
    }

    /// The same with shorter bars, where it is too wide otherwise.
    fn shrink_bars(self, table: &Table, columns: usize, least: usize) -> Layout {
        let cells = table.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Note(_) => None,
        });
        let longest = cells.flatten().filter_map(|cell| cell.value.columns());
        let longest = longest.max().unwrap_or(0);
        let over = self.width().saturating_sub(columns);
        if over == 0 || longest < least + over {
            return self;
        }
        let mut shorter =
            Layout { parts: Vec::new(), widths: Vec::new(), bars: longest - over, ..self };
        shorter.widen(table);
        shorter
    }

    /// Makes columns as wide as a table needs them.
    fn widen(&mut self, table: &Table) {
        self.parts.resize(self.parts.len().max(table.columns.len()), [0; 3]);
        self.widths.resize(self.parts.len(), 0);
        let keeps = self.keeps(table);
        for row in &table.rows {
            let Row::Cells(cells) = row else { continue };
            for (at, (cell, texts)) in cells.iter().zip(self.texts(table, row)).enumerate() {
                match is_figure(cell) {
                    true => {
                        let parts = &mut self.parts[at];
                        *parts = std::array::from_fn(|k| parts[k].max(width(&texts[k])));
                    }
                    false => {
                        // An axis above bars is as long as the longest can be.
                        let wide = match cell.value.columns() {
                            Some(columns) if keeps[at] => columns.min(self.bars),
                            _ if at == 0 && self.is_above(&texts[0]) => 0,
                            _ => width(&texts[0]),
                        };
                        self.widths[at] = self.widths[at].max(wide);
                    }
                }
            }
        }
        for (at, column) in table.columns.iter().enumerate().filter(|(at, _)| keeps[*at]) {
            let figure = self.figure_width(at);
            self.widths[at] = self.widths[at].max(figure).max(width(self.column_title(column)));
        }
    }

    /// The heading of a column: no interval is announced that is left out.
    fn column_title<'c>(&self, column: &'c Column) -> &'c str {
        match self.halves {
            true => &column.title,
            false => column.title.trim_end_matches(" ±"),
        }
    }

    fn figure_width(&self, at: usize) -> usize {
        let [value, half, mark] = self.parts[at];
        value + [half, mark].iter().filter(|&&w| w > 0).map(|w| w + 1).sum::<usize>()
    }

    fn width(&self) -> usize {
        let used = self.widths.iter().filter(|&&width| width > 0).count();
        self.widths.iter().sum::<usize>() + self.gap * used.saturating_sub(1)
    }

    /// Which columns are not left out.
    fn keeps(&self, table: &Table) -> Vec<bool> {
        let optional = table.columns.iter().filter(|c| c.optional).count();
        let mut kept = optional - self.dropped.min(optional);
        let keeps = table.columns.iter().map(|column| {
            let has_room = !column.optional || kept > 0;
            kept -= usize::from(column.optional && has_room);
            has_room
        });
        keeps.collect()
    }

    /// The parts of each cell that is painted.
    fn texts(&self, table: &Table, row: &Row) -> Vec<[String; 3]> {
        let Row::Cells(cells) = row else {
            return Vec::new();
        };
        let keeps = self.keeps(table);
        let cells = cells.iter().zip(&table.columns).zip(keeps);
        cells
            .map(|((cell, column), keeps)| {
                let [value, half, mark] = cell.parts(column.unit).map(shortened);
                match &cell.value {
                    _ if !keeps => Default::default(),
                    _ if self.dropped > 0 && cell.instead.is_some() => {
                        [shortened(cell.instead.clone().unwrap_or_default()), half, mark]
                    }
                    Value::Bar { from, to, columns, hollow } => {
                        let drawn = bar(*from, *to, (*columns).min(self.bars));
                        [if *hollow { dotted(&drawn) } else { drawn }, half, mark]
                    }
                    Value::Strip { dots, columns } => {
                        [strip(dots, (*columns).min(self.bars)), half, mark]
                    }
                    _ if self.halves => [value, half, mark],
                    _ => [value, String::new(), mark],
                }
            })
            .collect()
    }

    fn paint(&self, table: &Table, lines: &mut Vec<String>, columns: usize) {
        let titles = table.columns.iter().zip(self.keeps(table)).enumerate();
        let titles = titles.map(|(at, (column, keeps))| {
            let title = match (keeps, column.ticks.is_empty()) {
                (false, _) => String::new(),
                (true, true) => self.column_title(column).to_owned(),
                (true, false) => axis(&column.ticks, self.widths[at]),
            };
            (at, aligned(&title, column.right, self.widths[at]))
        });
        let heading = self.line(titles);
        if !heading.is_empty() {
            lines.push(heading);
        }
        for row in &table.rows {
            match row {
                Row::Note(text) => add_note(lines, text, columns),
                Row::Cells(cells) => {
                    let mut texts = self.texts(table, row);
                    if let Some([name, ..]) = texts.first_mut().filter(|one| self.is_above(&one[0]))
                    {
                        let tone = cells.first().map_or(Style::Plain, |cell| cell.tone);
                        lines.push(styled(&std::mem::take(name), tone));
                    }
                    let texts = texts.into_iter().zip(cells).enumerate();
                    let texts = texts.map(|(at, (parts, cell))| {
                        (at, self.cell(at, &parts, cell, table.columns[at].right))
                    });
                    lines.push(self.line(texts));
                }
            }
        }
        let marked = table.marked();
        if !marked.is_empty() {
            let texts = marked.iter().map(|v| format!("{} {}", v.mark(), v.text()));
            let texts: Vec<String> = texts.collect();
            lines.extend(wrap("  ", &texts.join(", "), columns));
        }
    }

    /// Whether the first cell of a row has a line of its own.
    fn is_above(&self, name: &str) -> bool {
        width(name) > self.first
    }

    fn line(&self, cells: impl Iterator<Item = (usize, String)>) -> String {
        // A column without text takes no gap either.
        let used = cells.filter(|&(at, _)| self.widths[at] > 0).map(|(_, text)| text);
        let line = used.collect::<Vec<_>>().join(&" ".repeat(self.gap));
        line.trim_end().to_owned()
    }

    fn cell(&self, at: usize, parts: &[String; 3], cell: &Cell, right: bool) -> String {
        let [value, half, mark] = parts;
        let widths = self.parts[at];
        let mut text = value.clone();
        if is_figure(cell) {
            text = aligned(value, true, widths[0]);
            for (part, wide) in [(half, widths[1]), (mark, widths[2])] {
                if wide > 0 {
                    text = format!("{text} {}", aligned(part, false, wide));
                }
            }
        }
        let fill = " ".repeat(self.widths[at].saturating_sub(width(&text)));
        let text = styled(&text, cell.tone);
        if right { fill + &text } else { text + &fill }
    }
}

/// Names of places below which a bar ends there, as far as there is room.
fn axis(ticks: &[(f64, String)], columns: usize) -> String {
    let mut line = String::new();
    for (share, name) in ticks {
        let at = (share * columns as f64).round() as usize;
        let used = width(&line);
        if at >= used && at + 1 + width(name) <= columns {
            line += &format!("{}|{name} ", " ".repeat(at - used));
        } else if at < columns && at >= used + width(name) {
            // At the right end before its place.
            line += &format!("{}{name}|", " ".repeat(at - used - width(name)));
        }
    }
    line.trim_end().to_owned()
}

/// Whether the parts of a cell line up with those of others.
fn is_figure(cell: &Cell) -> bool {
    !matches!(cell.value, Value::Text(_)) && cell.value.columns().is_none()
}

fn aligned(text: &str, right: bool, columns: usize) -> String {
    let fill = " ".repeat(columns.saturating_sub(width(text)));
    if right { fill + text } else { format!("{text}{fill}") }
}

/// A bar, never nothing for something: in eighths of a character from the left
/// edge, else in whole characters; in another shade where it runs backwards.
fn bar(from: f64, to: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if columns == 0 || from == to {
        return String::new();
    }
    if from == 0.0 && to > 0.0 {
        let eighths = (to * columns as f64 * 8.0).round() as usize;
        let eighths = eighths.clamp(1, columns * 8);
        let mut bar = "█".repeat(eighths / 8);
        if !eighths.is_multiple_of(8) {
            bar.push(EIGHTHS[eighths % 8 - 1]);
        }
        return bar;
    }
    let cell = |share: f64| (share * columns as f64).round() as usize;
    let first = cell(from.min(to)).min(columns - 1);
    let last = cell(from.max(to)).clamp(first + 1, columns);
    let block = if to < from { "▒" } else { "█" };
    " ".repeat(first) + &block.repeat(last - first)
}

/// A bar of an uncertain figure.
fn dotted(bar: &str) -> String {
    bar.chars().map(|c| if c == ' ' { ' ' } else { '░' }).collect()
}

/// How many dots lie in each character, by its height, never nothing for something; a cross where one stands
/// out, an arrow where one lies beyond that end.
fn strip(dots: &[StripDot], columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(last) = columns.checked_sub(1) else { return String::new() };
    let cell = |share: f64| ((share * columns as f64).max(0.0) as usize).min(last);
    let mut counts = vec![0_usize; columns];
    for dot in dots {
        counts[cell(dot.at)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(HEIGHTS.len());
    let height = |count: usize| match (count * HEIGHTS.len()).div_ceil(most) {
        0 => ' ',
        height => HEIGHTS[height - 1],
    };
    let mut strip: Vec<char> = counts.into_iter().map(height).collect();
    for dot in dots.iter().filter(|dot| dot.is_marked) {
        strip[cell(dot.at)] = '×';
    }
    for dot in dots.iter().filter(|dot| dot.is_beyond()) {
        strip[cell(dot.at)] = if dot.at < 0.0 { '◂' } else { '▸' };
    }
    strip.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::estimate::Verdict;
    use model::stats::Interval;
    use model::story::{left, right};

    fn figures_table() -> Table {
        let mut table = Table::new([left("µs"), right("time").of_unit("ns"), left("x").optional()]);
        table.row(["a".into(), Cell::time(Some(Interval::about(1.5, 0.1))), "one".into()]);
        let noisy = Cell::time(Some(Interval::about(150e3, 2e3))).marked(Verdict::Noisy);
        table.row(["b".into(), noisy, "two".into()]);
        table.row(["c".into(), Cell::time(None)]);
        table.row(["d".into(), "below resolution".into()]);
        table.note("  └ ", "words that do not fit into one line");
        table
    }

    fn painted(columns: usize) -> String {
        finish(&paint(&[Block::Table(figures_table())], columns), false)
    }

    #[test]
    fn the_parts_of_figures_line_up() {
        insta::assert_snapshot!(painted(40));
    }

    #[test]
    fn optional_columns_and_then_intervals_make_room() {
        let mut table = figures_table();
        table.rows.remove(3);
        let narrow = finish(&paint(&[Block::Table(table.clone())], 18), false);
        assert!(!narrow.contains("two") && narrow.contains('±'), "{narrow}");
        assert!(narrow.lines().all(|line| width(line) <= 18), "{narrow}");
        let narrow = finish(&paint(&[Block::Table(table)], 11), false);
        assert!(narrow.contains("150 µs ~") && !narrow.contains('±'), "{narrow}");
    }

    #[test]
    fn aligned_tables_line_up_where_that_fits() {
        let table = |name: &str, figure: &str| {
            let mut table = Table::new([left(""), right("")]);
            table.row([name.into(), figure.into()]);
            table
        };
        let tables = vec![table("a long name", "1"), table("b", "a long figure"), table("c", "12")];
        assert_eq!(
            finish(&paint(&[Block::Tables(tables.clone())], 25), false),
            "a long name             1\n\nb           a long figure\n\nc                      12\n"
        );
        assert_eq!(
            finish(&paint(&[Block::Tables(tables)], 24), false),
            "a long name  1\n\nb a long figure\n\nc           12\n",
            "the others still line up"
        );
    }

    #[test]
    fn a_name_that_leaves_no_room_stands_above_its_figures() {
        let mut table = Table::new([left("cpu"), right("time ±"), left("verdict")]);
        table.row([" short".into(), Cell::time(Some(Interval::about(1.5, 0.1))), "ok".into()]);
        let long = Cell::time(Some(Interval::about(2.5, 0.1)));
        table.row([" a_name_that_is_long".into(), long, "two states".into()]);
        let painted = |columns| paint_plain(&[Block::Table(table.clone())], columns);
        let narrow = painted(30);
        assert_eq!(
            narrow,
            "cpu      time verdict\n short 1.5 ns ok\n a_name_that_is_long\n       2.5 ns two states\n"
        );
        // Where even the others have no room, nothing is left out.
        assert!(painted(20).contains(" a_name_that_is_long  2.5 ns"), "{}", painted(20));
    }

    #[test]
    fn bars_are_in_proportion_and_never_nothing_for_something() {
        let texts = [(0.0, 0.0), (0.0, 1e-5), (0.0, 0.55), (0.0, 1.0), (0.4, 0.2), (1.0, 1.1)]
            .map(|(from, to)| bar(from, to, 10));
        let full = "█".repeat(10);
        assert_eq!(texts, ["", "▏", "█████▌", &full, "  ▒▒", "         █"]);
        assert_eq!(texts.map(|bar| dotted(&bar))[2], "░░░░░░", "as long, and not solid");
    }

    #[test]
    fn bars_fill_the_page_and_every_tick_has_room() {
        let ticks =
            [(0.1, "1 ns"), (0.5, "1 µs"), (0.96, "1 ms")].map(|(at, n)| (at, n.to_owned()));
        let mut table = Table::new([left("row"), left("").of_ticks(ticks.to_vec())]);
        table.row(["one".into(), Cell::bar(0.0, 1.0, 100)]);
        table.row(["two".into(), Cell::bar(0.0, 0.5, 100).hollow()]);
        for columns in [40, 80, 104] {
            let text = paint_plain(&[Block::Table(table.clone())], columns);
            let widest = text.lines().map(width).max();
            assert_eq!(widest, Some(columns), "{text}");
            assert!(text.contains("|1 ns") && text.contains("1 ms|"), "{text}");
            assert!(text.contains('█') && text.contains('░'), "{text}");
        }
    }

    #[test]
    fn a_strip_shows_every_dot_and_those_that_stand_out() {
        let dots = |all: &[f64]| -> Vec<StripDot> {
            let dot = |at: &f64| StripDot {
                at: *at,
                is_marked: *at == 1.0,
                figure: String::new(),
                link: None,
            };
            all.iter().map(dot).collect()
        };
        let many: Vec<f64> = [0.0, 0.1].into_iter().chain([0.5; 16]).chain([1.0]).collect();
        assert_eq!(strip(&dots(&many), 10), "▁▁   █   ×");
        assert_eq!(strip(&dots(&[0.0, 0.5]), 4), "▁ ▁ ");
        assert_eq!(strip(&dots(&[-0.1, 0.5, 1.1]), 4), "◂ ▁▸");
        assert_eq!(strip(&dots(&many), 0), "");
    }

    #[test]
    fn a_cell_is_no_longer_than_is_read() {
        assert_eq!(shortened("y".repeat(250)), "y".repeat(250));
        assert_eq!(shortened("y".repeat(251)), "y".repeat(250) + "...");
        let toned = shortened(format!("{}{}", "y".repeat(1000), layout::END));
        assert_eq!(toned, "y".repeat(250) + "..." + &layout::END.to_string());
    }
}
