//! Counting a word in a text.

use crate::engine::reason::Reason;
use fastrand::Rng;
use memchr::memmem::Finder;
use meter::probe::{Effort, Probe, Work, WorkError, WorkingSet};

/// The most frequent words of English, in their order; none but itself
/// contains the one that is counted.
const WORDS: [&str; 60] = [
    "the", "be", "to", "of", "and", "a", "in", "that", "have", "I", "it", "for", "not", "on",
    "with", "he", "as", "you", "do", "at", "this", "but", "his", "by", "from", "they", "we", "say",
    "her", "she", "or", "an", "will", "my", "one", "all", "would", "there", "their", "what", "so",
    "up", "out", "if", "about", "who", "get", "which", "go", "me", "when", "make", "can", "like",
    "time", "no", "just", "him", "know", "take",
];
/// The one that is counted: about 0.4 % of the words.
const WORD: &str = "time";

pub(crate) fn find_text_probes() -> Vec<Probe> {
    (1..=10).map(|k| find_text_probe(k * 100_000)).collect()
}

fn find_text_probe(bytes: usize) -> Probe {
    let size = match bytes {
        1_000_000 => "1MB".to_string(),
        _ => format!("{}kB", bytes / 1000),
    };
    Probe {
        variants: vec![size.into()],
        title: "counting a word in a text".into(),
        operation: "One count of how often a word of four letters occurs in a text of this many bytes.".into(),
        method: "The memchr crate's search for a substring, with the vectors that it picks for the CPU (AVX2 at most), from hit to hit; the text is of the sixty most frequent words of English, each as frequent as Zipf's law has it, so that one word in 250 is the one that is counted. The text was gone through before; the count is checked against that of the words laid down.".into(),
        source: "Dmitry Kurkin's study has it in its code (100 kB to 1 MB of text, by the string functions of Foundation).".into(),
        effort: Effort {
            visits: 3,
            samples: 4,
            working_set: WorkingSet::Fixed(bytes as u64),
            restore_ns_per_byte: 3.0,
            ..Effort::SCALAR
        },
        make: Box::new(move |worker, _| {
            let (text, laid_down) = text_with_words(bytes, &mut worker.rng);
            Ok(Box::new(TextSearch {
                text,
                laid_down,
                found: None,
            }))
        }),
        ..Probe::blank("collections.find_text")
    }
}

/// A text of so many bytes, and how often the word is in it.
fn text_with_words(bytes: usize, rng: &mut Rng) -> (Vec<u8>, usize) {
    // Zipf: the k-th word as frequent as 1 / k.
    let mut sum = 0.0;
    let upto: Vec<f64> = (1..=WORDS.len())
        .map(|k| {
            sum += 1.0 / k as f64;
            sum
        })
        .collect();
    let mut text = Vec::with_capacity(bytes + 16);
    let mut laid_down = 0;
    loop {
        let drawn = rng.f64() * sum;
        let word = WORDS[upto.partition_point(|&upto| upto <= drawn).min(WORDS.len() - 1)];
        if text.len() + word.len() >= bytes {
            break;
        }
        laid_down += usize::from(word == WORD);
        text.extend_from_slice(word.as_bytes());
        text.push(b' ');
    }
    text.resize(bytes, b' ');
    (text, laid_down)
}

struct TextSearch {
    text: Vec<u8>,
    laid_down: usize,
    found: Option<usize>,
}

impl Work for TextSearch {
    fn restore(&mut self) {
        self.run(2, false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        let finder = Finder::new(std::hint::black_box(WORD));
        for _ in 0..turns {
            let found = finder.find_iter(std::hint::black_box(&self.text)).count();
            self.found = Some(found);
        }
    }
    fn verify(&self) -> Result<(), WorkError> {
        match self.found {
            Some(found) if found != self.laid_down => Err(Reason::wrong(format!(
                "the word was found {found} times instead of {}",
                self.laid_down
            ))
            .into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_counted() {
        let mut rng = Rng::with_seed(3);
        for bytes in [0, 3, 100, 100_000, 1_000_000] {
            let (text, laid_down) = text_with_words(bytes, &mut rng);
            assert_eq!(text.len(), bytes);
            let words = text.split(|&byte| byte == b' ');
            assert_eq!(words.filter(|&w| w == WORD.as_bytes()).count(), laid_down);
            let mut counting = TextSearch { text, laid_down, found: None };
            counting.run(1, false);
            assert_eq!(counting.found, Some(laid_down));
            counting.verify().expect("right");
            counting.laid_down += 1;
            counting.verify().expect_err("one is missing");
        }
    }

    #[test]
    fn the_word_is_as_frequent_as_the_method_says() {
        let (text, laid_down) = text_with_words(1_000_000, &mut Rng::with_seed(4));
        let words = text.iter().filter(|&&byte| byte == b' ').count();
        let one_in = words as f64 / laid_down as f64;
        assert!((240.0..275.0).contains(&one_in), "{one_in}");
    }

    #[test]
    fn ten_rows() {
        let rows: Vec<String> = find_text_probes().iter().flat_map(Probe::row_ids).collect();
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[0], "collections.find_text/100kB");
        assert_eq!(rows[9], "collections.find_text/1MB");
        crate::engine::testing::run_row(&find_text_probes(), &rows[0]).expect("it runs");
    }
}
