//! A shelf in a database: documents, and beside each what the index holds of it, so that whoever
//! brings an index up to date reads that and not the document. Tags are lines of text.

use crate::client::Client;
use crate::fault::Fault;
use crate::server::Server;
use crate::values::Values;
use store_protocol::{Document, Failure, Listed, Named, NewDocument, Shelf};
use tokio_postgres::Row;

/// The version of an entry that was not given.
const NO_CONTENT: i32 = 0;

/// A database with stored runs.
pub(crate) struct Database {
    pub(crate) server: Server,
}

impl Database {
    /// What the rows of an answer hold.
    fn rows<T>(
        &mut self,
        sql: &str,
        values: Values,
        of: impl Fn(&Row) -> Result<T, tokio_postgres::Error>,
    ) -> Result<Vec<T>, Failure> {
        self.server.with(|client, _| {
            let rows = client.query(sql, values)?;
            Ok(rows.iter().map(&of).collect::<Result<_, _>>()?)
        })
    }

    /// Changes something, and says whether anything changed.
    fn changed(&mut self, sql: &str, values: Values) -> Result<bool, Failure> {
        self.server.with(|client, _| Ok(client.execute(sql, values)? > 0))
    }
}

/// Whether this very document is kept under the id.
fn holds(client: &Client, id: &str, digest: &[u8]) -> Result<bool, Fault> {
    let row = client.query_opt("SELECT digest FROM document WHERE id = $1", &[&id])?;
    let kept = row.map(|row| row.try_get::<_, Vec<u8>>(0));
    Ok(kept.transpose()?.is_some_and(|kept| kept == digest))
}

/// A mark as the database keeps it.
fn digest_of(mark: &str) -> Vec<u8> {
    let pairs = mark.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// One that latlas did not write is no SHA-256 of anything.
fn mark_of(digest: &[u8]) -> String {
    match digest.len() {
        32 => digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => "0".repeat(64),
    }
}

impl Shelf for Database {
    fn check(&mut self) -> Result<(), Failure> {
        // The right to insert; room shows only when it is missing.
        let sql = "INSERT INTO document (id, file, digest, bytes, content, entry)
                   SELECT '', '', '', '', 0, '' WHERE false";
        self.changed(sql, &[]).map(drop)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<Listed>, Failure> {
        let sql = "SELECT file, digest, kept_ms FROM document WHERE starts_with(id, $1)";
        self.rows(sql, &[&prefix], |row| {
            let (digest, kept_ms): (Vec<u8>, i64) = (row.try_get(1)?, row.try_get(2)?);
            let (mark, kept_ms) = (mark_of(&digest), kept_ms.max(0).cast_unsigned());
            Ok(Listed { name: row.try_get(0)?, mark, kept_ms })
        })
    }

    fn get(&mut self, names: &[String]) -> Result<Vec<Option<Document>>, Failure> {
        let sql = "SELECT file, digest, bytes FROM document WHERE file = ANY($1)";
        let mut found = self.rows(sql, &[&names], |row| {
            let (file, digest): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            Ok((file, Document { mark: mark_of(&digest), bytes: row.try_get(2)? }))
        })?;
        let mut take = |name: &String| {
            let at = found.iter().position(|(file, _)| file == name)?;
            Some(found.swap_remove(at).1)
        };
        Ok(names.iter().map(&mut take).collect())
    }

    /// One of the same id is kept already, and stays; if it is this very one, kept by an attempt whose answer was
    /// lost, that was this.
    fn put(&mut self, document: &NewDocument) -> Result<bool, Failure> {
        let sql = "INSERT INTO document (id, file, digest, bytes, content, entry)
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
        let NewDocument { name, mark, bytes, entry } = document;
        let (id, digest) = (document.id(), digest_of(mark));
        let none = (0, Vec::new());
        let (version, entry) = entry.as_ref().unwrap_or(&none);
        let content = i32::try_from(*version).unwrap_or(NO_CONTENT);
        self.server.with(|client, again| {
            let values: Values = &[&id, name, &digest, bytes, &content, entry];
            Ok(client.execute(sql, values)? > 0 || again && holds(client, id, &digest)?)
        })
    }

    fn delete(&mut self, name: &str) -> Result<bool, Failure> {
        self.changed("DELETE FROM document WHERE file = $1", &[&name])
    }

    fn tags(&mut self, name: Option<&str>) -> Result<Vec<Named>, Failure> {
        let sql = "SELECT name, runs FROM tag WHERE $1 IN ('', name)";
        self.rows(sql, &[&name.unwrap_or_default()], |row| {
            let runs: String = row.try_get(1)?;
            Ok(Named { name: row.try_get(0)?, bytes: runs.into_bytes() })
        })
    }

    fn create_tag(&mut self, tag: &Named) -> Result<bool, Failure> {
        let sql = "INSERT INTO tag VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.changed(sql, &[&tag.name, &String::from_utf8_lossy(&tag.bytes).as_ref()])
    }

    fn set_tag(&mut self, tag: &Named) -> Result<(), Failure> {
        let sql = "INSERT INTO tag VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET runs = $2";
        self.changed(sql, &[&tag.name, &String::from_utf8_lossy(&tag.bytes).as_ref()]).map(drop)
    }

    fn delete_tag(&mut self, name: &str) -> Result<bool, Failure> {
        self.changed("DELETE FROM tag WHERE name = $1", &[&name])
    }

    fn keeps_entries(&self) -> bool {
        true
    }

    fn entries(&mut self, version: u32, names: &[String]) -> Result<Vec<Named>, Failure> {
        let sql = "SELECT file, entry FROM document WHERE file = ANY($1) AND content = $2";
        let content = i32::try_from(version).unwrap_or(NO_CONTENT);
        self.rows(sql, &[&names, &content], |row| {
            Ok(Named { name: row.try_get(0)?, bytes: row.try_get(1)? })
        })
    }

    fn put_entry(&mut self, mark: &str, version: u32, entry: &Named) -> Result<(), Failure> {
        // What a newer latlas wrote stays.
        let sql = "UPDATE document SET content = $3, entry = $4
                   WHERE file = $1 AND digest = $2 AND content <= $3";
        let content = i32::try_from(version).unwrap_or(NO_CONTENT);
        let values: Values = &[&entry.name, &digest_of(mark), &content, &entry.bytes];
        self.changed(sql, values).map(drop)
    }
}
