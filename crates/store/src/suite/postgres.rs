//! What a database does, through latlas-store-postgres, which must be on PATH.

use crate::index::tests::numbered;
use crate::index::{Index, keep, results};
use crate::suite::database::home;
use crate::{DatabaseFailure, LastOf, Place, Store, StoreError, read_run};
use compare::references::References;
use model::synthetic;

fn failure<T>(done: Result<T, StoreError>) -> DatabaseFailure {
    match done {
        Err(StoreError::Database { failure, .. }) => failure,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it did not fail"),
    }
}

#[test]
fn tables_of_a_newer_latlas_are_left_alone() {
    let Some(home) = home() else { return };
    home.keep_three();
    home.sql("UPDATE latlas.version SET version = version + 1");
    let again = home.reopened();
    let error = Index::open(again.clone()).expect_err("newer");
    assert!(error.to_string().contains("newer latlas"), "{error}");
    let kept = failure(again.save(&numbered(9, "one")));
    assert!(matches!(kept, DatabaseFailure::Newer(_)), "{kept}");
}

/// What made the tables of version 1, word for word.
const FIRST: &str = "
CREATE SCHEMA IF NOT EXISTS latlas;
CREATE TABLE version (version integer NOT NULL, content integer NOT NULL);
CREATE TABLE run (
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE \"C\" NOT NULL UNIQUE,
    file text COLLATE \"C\" NOT NULL UNIQUE,
    started_ms bigint NOT NULL,
    kept_ms bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    machine text COLLATE \"C\" NOT NULL,
    host text,
    imported boolean NOT NULL,
    counted boolean NOT NULL,
    line text NOT NULL
);
CREATE INDEX run_by_time ON run (machine, started_ms);
CREATE TABLE document (
    run bigint PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    digest bytea NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE document ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE quantity (
    quantity integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE \"C\" NOT NULL,
    at text COLLATE \"C\" NOT NULL,
    UNIQUE (name, at)
);
CREATE TABLE form (
    form integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text COLLATE \"C\" NOT NULL UNIQUE
);
CREATE TABLE result (
    run bigint NOT NULL,
    quantity integer NOT NULL,
    place integer NOT NULL,
    form integer NOT NULL,
    verdict smallint,
    reliable double precision,
    value double precision, low double precision, high double precision,
    cycles double precision, cycles_low double precision, cycles_high double precision,
    below double precision,
    reason text,
    PRIMARY KEY (run, quantity)
);
CREATE INDEX figure ON result (quantity) INCLUDE (run, form, reliable) WHERE reliable IS NOT NULL;
CREATE TABLE tag (name text COLLATE \"C\" PRIMARY KEY, runs text NOT NULL);
";

#[test]
fn documents_of_the_first_version_of_the_tables_are_taken_over() {
    let Some(home) = home() else { return };
    home.keep_three();
    let columns = "SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, collation_name, \
             is_nullable, column_default), '; ' ORDER BY table_name, column_name) \
         FROM information_schema.columns WHERE table_schema = 'latlas'";
    let todays = home.query_text(columns);
    home.sql(&format!(
        "CREATE TABLE public.kept AS SELECT id, file, kept_ms, digest, bytes FROM latlas.document; \
         DROP SCHEMA latlas CASCADE; SET search_path TO latlas; {FIRST} \
         INSERT INTO version VALUES (1, 9); \
         INSERT INTO run (id, file, started_ms, kept_ms, machine, imported, counted, line) \
             SELECT id, file, 0, kept_ms, '', false, true, '' FROM public.kept; \
         INSERT INTO document SELECT run, digest, bytes FROM run JOIN public.kept USING (file); \
         INSERT INTO quantity (name, at) VALUES ('cpu.add_i32', ''); \
         INSERT INTO form (text) VALUES (''); \
         INSERT INTO result (run, quantity, place, form) SELECT run, 1, 0, 1 FROM run"
    ));
    let before =
        home.query_text("SELECT string_agg(file || kept_ms, ' ' ORDER BY id) FROM latlas.run");
    let _ = std::fs::remove_dir_all(home.store.data_dir());
    let index = Index::open(home.reopened()).expect("opened");
    assert_eq!(index.runs().expect("runs").len(), 3);
    let verified = index.verify().expect("verified");
    assert!(verified.is_whole() && verified.documents == 3, "{verified:?}");
    let after = "SELECT string_agg(file || kept_ms, ' ' ORDER BY id) FROM latlas.document";
    assert_eq!(home.query_text(after), before);
    assert_eq!(home.query_text(columns), todays);
    home.store.save(&numbered(9, "one")).expect("kept beside them");
}

#[test]
fn an_entry_of_another_version_of_the_index_is_read_from_its_document() {
    let Some(home) = home() else { return };
    home.keep_three();
    home.sql("UPDATE latlas.document SET content = content - 1, entry = 'x'");
    let _ = std::fs::remove_dir_all(home.store.data_dir());
    let index = Index::open(home.reopened()).expect("opened");
    assert_eq!(index.runs().expect("runs").len(), 3);
    assert!(index.verify().expect("verified").is_whole());
}

#[test]
fn another_document_of_an_id_is_refused_and_the_first_stays() {
    let Some(home) = home() else { return };
    let run = numbered(1, "one");
    let path = home.store.save(&run).expect("kept");
    let mut other = synthetic::slower(&run, "cpu.add_i32", 2.0);
    other.started_unix_ms += 1;
    let error = home.store.save(&other).expect_err("taken").to_string();
    assert!(error.contains("already kept") && error.contains("postgres://"), "{error}");
    assert!(read_run(&path).expect("read") == run);
    assert_eq!(home.store.paths().expect("one"), [path]);
}

#[test]
fn a_copy_is_fetched_once_and_a_changed_document_is_never_one() {
    let Some(home) = home() else { return };
    let run = numbered(1, "one");
    let path = home.store.save(&run).expect("kept");
    assert!(!path.exists(), "nothing has asked for it");
    assert!(read_run(&path).expect("fetched") == run);
    assert!(path.exists());
    // From now on without the server's.
    home.sql("UPDATE latlas.document SET bytes = 'x'");
    assert!(read_run(&path).expect("the copy") == run);
    std::fs::remove_file(&path).expect("removed");
    let error = failure(read_run(&path));
    assert!(matches!(error, DatabaseFailure::Damaged(_)), "{error}");
    let verified = home.open_index().verify().expect("verified");
    assert!(verified.damaged[0].what.contains("digest"), "{verified:?}");
}

#[test]
fn a_copy_that_is_not_the_databases_is_fetched_anew() {
    let Some(home) = home() else { return };
    let run = numbered(1, "one");
    let path = home.store.save(&run).expect("kept");
    assert!(read_run(&path).expect("fetched") == run);
    std::fs::write(&path, b"cut off").expect("damaged");
    assert!(read_run(&path).expect("fetched anew") == run);
    // Another machine deletes it, and keeps another document of this id.
    home.sql("DELETE FROM latlas.document");
    assert!(read_run(&path).is_err(), "deleted");
    let other = synthetic::slower(&run, "cpu.add_i32", 2.0);
    assert_eq!(home.reopened().save(&other).expect("kept"), path);
    assert!(read_run(&path).expect("fetched anew") == other);
}

#[test]
fn another_document_of_a_name_takes_its_place_in_the_index() {
    let Some(home) = home() else { return };
    let run = numbered(1, "one");
    keep(&home.store, &run).expect("kept");
    home.sql("CREATE TABLE public.was AS SELECT * FROM latlas.document");
    // Nothing is read again of one that is known.
    home.sql("UPDATE latlas.document SET bytes = 'x', entry = 'x'");
    let index = home.quiet();
    assert_eq!(index.results_of(&run.id).expect("known"), results(&run));
    home.sql("DELETE FROM latlas.document");
    let other = synthetic::slower(&run, "cpu.add_i32", 2.0);
    home.reopened().save(&other).expect("kept by another machine");
    index.refresh().expect("looked again");
    assert_eq!(index.results_of(&run.id).expect("known"), results(&other));
    // One that is damaged, and mended in the database.
    home.sql(
        "DELETE FROM latlas.document; INSERT INTO latlas.document SELECT * FROM public.was; \
         UPDATE latlas.document SET bytes = 'x', content = 0",
    );
    index.refresh().expect("looked again");
    assert!(index.runs().expect("none").is_empty());
    home.sql("UPDATE latlas.document SET bytes = was.bytes FROM public.was");
    index.refresh().expect("looked again");
    assert_eq!(index.results_of(&run.id).expect("known"), results(&run));
}

#[test]
fn what_is_kept_can_be_read_without_a_cache_directory() {
    let Some(home) = home() else { return };
    home.keep_three();
    // Below a file no directory can be made, by root neither.
    let copies = home.store.data_dir();
    std::fs::create_dir_all(copies.parent().expect("a parent")).expect("made");
    let _ = std::fs::remove_dir_all(copies);
    std::fs::write(copies, "").expect("a file");
    let index = home.open_index();
    for kept in index.runs().expect("runs") {
        let run = read_run(&kept.path).expect("from the server");
        assert_eq!(run.id, kept.id);
        let (_, bytes) = crate::read_with_bytes(&kept.path).expect("from the server");
        assert_eq!(home.store.bytes(&kept.path).expect("the same"), bytes);
        assert!(!kept.path.exists());
        let shown = home.store.display_path(&kept.path);
        assert!(shown.contains(" in postgres://"), "{shown}");
    }
    let (last, passed) = home.store.newest(0, LastOf::All).expect("the third");
    assert_eq!(home.store.id_of(&last), Some(numbered(3, "one").id));
    assert_eq!(passed.lines(), [""; 0]);
    let of_host = crate::operand::find_operand(
        "@one",
        &Ok(home.store.clone()),
        &References::embedded().expect("references"),
        &mut Vec::new(),
    );
    assert_eq!(of_host.expect("two runs").runs().len(), 2);
    index.delete(&numbered(1, "one").id).expect("deleted");
    let file = home.store.runs_dir().join("no-run.json");
    assert!(read_run(&file).is_err(), "the server has no such document");
    std::fs::remove_file(copies).expect("removed");
}

#[test]
fn the_server_gives_up_a_statement_that_waits_for_a_lock() {
    let Some(home) = home() else { return };
    home.keep_three();
    let url = home.url() + "&options=-c%20statement_timeout%3D500";
    let hasty = Store::at(&Place::Database(url)).expect("a store");
    assert_eq!(hasty.paths().expect("paths").len(), 3);
    home.while_locked("latlas.document", || {
        let refused = failure(hasty.paths());
        assert!(refused.to_string().contains("statement timeout"), "{refused}");
    });
}

#[test]
fn a_role_without_usage_and_one_without_a_password_are_told_so() {
    let Some(home) = home() else { return };
    home.keep_three();
    let role = format!("stranger_{}", std::process::id());
    home.sql(&format!("CREATE ROLE {role} LOGIN"));
    let refused = failure(home.store_as(&role).paths()).to_string();
    assert_eq!(refused, format!("refused: role {role} has no USAGE on schema latlas"));
    home.sql(&format!("DROP ROLE {role}"));
    let absent = failure(home.store_as("nobody_of_this_name").paths()).to_string();
    assert!(absent.starts_with("refused: role \"nobody"), "{absent}");
}

#[test]
fn verify_names_the_run_in_its_database() {
    let Some(home) = home() else { return };
    let run = numbered(1, "one");
    home.store.save(&run).expect("kept");
    home.sql("UPDATE latlas.document SET bytes = 'x'");
    let damaged = &home.open_index().verify().expect("verified").damaged[0].path;
    let shown = damaged.display().to_string();
    assert!(shown.starts_with("00000001 in postgres://"), "{shown}");
}

#[test]
fn an_entry_that_is_not_its_documents_is_named_and_made_anew() {
    let Some(home) = home() else { return };
    home.keep_three();
    let anothers = "(SELECT entry FROM latlas.document WHERE id LIKE '00000001%')";
    let uncounted = "convert_to(replace(convert_from(entry, 'UTF8'), '\"counted\":true', \
                                        '\"counted\":false'), 'UTF8')";
    let on_another_machine = || {
        let _ = std::fs::remove_dir_all(home.store.data_dir());
        let index = Index::open(home.reopened()).expect("filled");
        assert_eq!(index.messages(), [""; 0]);
        assert_eq!(index.runs().expect("runs").len(), 3);
        index
    };
    // What is another's is not used; what is wrong only in what it says has the index wrong too.
    for (entry, wrong) in [(anothers, 1), (uncounted, 2)] {
        home.sql(&format!("UPDATE latlas.document SET entry = {entry} WHERE id LIKE '00000002%'"));
        let index = on_another_machine();
        let verified = index.verify().expect("verified");
        let whats: Vec<&str> = verified.index.iter().map(|d| d.what.as_str()).collect();
        assert_eq!(whats.len(), wrong, "{whats:?}");
        assert!(whats.iter().any(|what| what.contains("its entry in the database")), "{whats:?}");
        assert_eq!(index.rebuild().expect("rebuilt").documents, 3);
        assert!(index.verify().expect("verified").is_whole(), "{entry}");
        drop(index);
        assert!(on_another_machine().verify().expect("verified").is_whole(), "{entry}");
    }
}

#[test]
fn a_connection_that_was_lost_is_made_again() {
    let Some(home) = home() else { return };
    home.keep_three();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    home.sql(end);
    assert_eq!(home.open_index().runs().expect("asked again").len(), 3);
    home.sql(end);
    home.store.save(&numbered(4, "two")).expect("kept on a new connection");
    assert!(home.open_index().verify().expect("verified").is_whole());
}

#[test]
fn a_role_that_may_only_read_reads() {
    let Some(home) = home() else { return };
    home.keep_three();
    let role = format!("reader_{}", std::process::id());
    home.sql(&format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA latlas TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA latlas TO {role}"
    ));
    let reader = home.store_as(&role);
    assert_eq!(Index::open(reader.clone()).expect("opened").runs().expect("read").len(), 3);
    let refused = failure(reader.check_keepable());
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    home.sql("UPDATE latlas.document SET entry = 'x'");
    let index = Index::open(reader).expect("opened");
    assert_eq!(index.rebuild().expect("its own").documents, 3);
    let messages = index.messages();
    assert!(messages.len() == 1 && messages[0].contains("permission denied"), "{messages:?}");
    home.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_pooler_in_transaction_mode_is_no_hindrance() {
    let Some(home) = home() else { return };
    let Some(pooled) = home.pooled() else { return };
    // More of them than server processes, each with every kind of statement.
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let pooled = pooled.clone();
            scope.spawn(move || {
                for n in 1..=5 {
                    pooled.save(&numbered(writer * 10 + n, "one")).expect("kept");
                    let index = Index::open(pooled.clone()).expect("opened");
                    assert!(!index.runs().expect("runs").is_empty());
                }
            });
        }
    });
    let index = Index::open(home.reopened()).expect("opened");
    assert_eq!(index.verify().expect("verified").documents, 30);
    let index = Index::open(pooled.clone()).expect("opened");
    assert!(index.verify().expect("verified").is_whole());
    assert_eq!(index.rebuild().expect("rebuilt").documents, 30);
    // Nothing of it is left to the next client of a server process.
    home.sql("DO $$ BEGIN ASSERT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') = 0; END $$");
}
