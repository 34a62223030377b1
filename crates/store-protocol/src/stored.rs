//! What is stored.

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name: TIME-UUID.json.zst.
    pub name: String,
    /// Its SHA-256, as it came with the document.
    pub mark: String,
    /// When it was stored, ms since 1970.
    pub kept_ms: u64,
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its SHA-256, as it came with the document.
    pub mark: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A document to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument {
    /// Its name: TIME-UUID.json.zst.
    pub name: String,
    /// Its SHA-256.
    pub mark: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The version and the content of its index entry, for a helper that keeps entries.
    pub entry: Option<(u32, Vec<u8>)>,
}

impl NewDocument {
    /// The UUID in its name: no two documents have the same.
    pub fn id(&self) -> &str {
        let stem = self.name.strip_suffix(".json.zst").unwrap_or(&self.name);
        stem.split_once('-').map_or(stem, |(_, id)| id)
    }
}

/// A tag or an index entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The tag's name, or that of the entry's document.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}
