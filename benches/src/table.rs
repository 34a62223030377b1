//! Plain tables: the first column left, the others right.

pub struct TextTable {
    lines: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these column titles.
    pub fn new(titles: &[&str]) -> TextTable {
        TextTable { lines: vec![titles.iter().map(ToString::to_string).collect()] }
    }

    pub fn add_line(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    /// Prints it under a heading.
    pub fn print(&self, heading: &str) {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.lines
                .iter()
                .filter_map(|line| Some(line.get(column)?.chars().count()))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        println!("\n{heading}");
        for line in &self.lines {
            let mut text = String::new();
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                if column == 0 {
                    text.push_str(&format!("{cell:<width$}"));
                } else {
                    text.push_str(&format!("  {cell:>width$}"));
                }
            }
            println!("{}", text.trim_end());
        }
    }
}

/// Three significant digits, or a dash.
pub fn three_digits(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(v) if v == 0.0 || !v.is_finite() => format!("{v}"),
        Some(v) => {
            let digits = (2 - v.abs().log10().floor() as i64).clamp(0, 5) as usize;
            format!("{v:.digits$}")
        }
    }
}

/// A share as percent, or a dash.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |s| format!("{:.1} %", s * 100.0))
}
