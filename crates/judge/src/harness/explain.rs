//! What was detected, and which commands would run.

use super::adapter::Adapter;
use super::detect::sign_of;
use super::error::HarnessError;
use super::options::SuiteOptions;
use std::path::Path;

/// One harness: how it was detected, and its commands in their order, each with what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub harness: String,
    /// The file by which it was detected; none where the user names it.
    pub detected_by: Option<String>,
    pub steps: Vec<(&'static str, String)>,
}

impl Explanation {
    /// Of each harness that a folder uses. Nothing runs; what is not known before a build stays in braces.
    ///
    /// # Errors
    /// If there is none.
    pub fn of_folder(
        folder: &Path,
        options: &SuiteOptions,
    ) -> Result<Vec<Explanation>, HarnessError> {
        let adapters = options.adapters();
        let wanted = options.detected(&adapters, &[(&folder.display().to_string(), folder)])?;
        Ok(wanted.iter().map(|&at| of(&adapters[at], folder, options)).collect())
    }

    /// As lines: the harness, and below it its commands.
    pub fn to_lines(&self) -> Vec<String> {
        let how =
            self.detected_by.as_ref().map_or("named".into(), |file| format!("detected by {file}"));
        let head = format!("{} ({how})", self.harness);
        let steps = self.steps.iter().map(|(what, words)| format!("  {what:<9} {words}"));
        std::iter::once(head).chain(steps).collect()
    }
}

fn of(adapter: &Adapter, folder: &Path, options: &SuiteOptions) -> Explanation {
    let mut steps = Vec::new();
    let mut add = |what, words: &[String]| {
        if !words.is_empty() {
            steps.push((what, quoted(words)));
        }
    };
    match &options.build {
        Some(command) => add("build", std::slice::from_ref(command)),
        None => {
            if let Some(each) = &adapter.each {
                add("packages", &each.run);
            }
            for words in &adapter.build {
                add("build", words);
            }
        }
    }
    if let Some(list) = &adapter.list {
        add("list", &list.run);
    }
    for (at, words) in adapter.run.iter().enumerate() {
        add(if at == 0 { "run" } else { "or run" }, words);
    }
    add("relink", &adapter.relink);
    let detected_by = sign_of(adapter, folder).map(|file| file.display().to_string());
    Explanation { harness: adapter.name.clone(), detected_by, steps }
}

/// Words as a shell reads them.
fn quoted(words: &[String]) -> String {
    let word = |word: &String| match word
        .contains(|c: char| c.is_whitespace() || "'\"$&|;<>()*?\\".contains(c))
    {
        true => format!("'{}'", word.replace('\'', r"'\''")),
        false => word.clone(),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}
