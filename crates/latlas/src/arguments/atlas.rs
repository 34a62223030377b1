//! Options of `latlas atlas`.

use clap::{Args, Subcommand};

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
RUN is a stored file, `last`, `last~1` (the run before), the start of an id, or a tag.

Examples:
  latlas atlas list                  List stored runs, newest first
  latlas atlas show last             Print the metadata of a run
  latlas atlas tag last before-6.19  Name a run
  latlas atlas verify                Check all documents and the index

Exit codes:
  0  done
  2  the request can't be carried out
  3  verify found damage";

/// The commands of `latlas atlas`.
#[derive(Subcommand, Debug)]
pub enum AtlasCommand {
    /// List stored runs, newest first
    #[command(after_help = "\
Examples:
  latlas atlas list --limit 10
  latlas atlas list --machine lab1    Runs of one machine
  latlas atlas list --tag             Runs that have a tag
  latlas atlas list --json")]
    List(ListOptions),
    /// Print a stored run's metadata: file, machine, setup, verdicts
    #[command(after_help = "\
Examples:
  latlas atlas show last
  latlas atlas show before-6.19 --json

`latlas show RUN` prints its figures.")]
    Show(ShowOptions),
    /// Rank a machine among all machines, for each row
    #[command(after_help = "\
Counts figures that are ok, of stored runs that latlas measured on real hardware. The default is
this machine.

Examples:
  latlas atlas percentiles
  latlas atlas percentiles lab1 --points    Include points of curves and maps
  latlas atlas percentiles --json")]
    Percentiles(PercentilesOptions),
    /// Add or remove a tag, a name for a run
    #[command(after_help = "\
A tag has up to 64 letters, digits, _ . + - and starts with a letter or digit. It can't look like
the start of an id (only digits, a to f and -), start with `last`, or be the name of a published
table. Files take precedence over tags. If several runs have a tag, it means the newest one.

Examples:
  latlas atlas tag last before-6.19
  latlas atlas tag last~1 release --move     Move the tag to this run
  latlas atlas tag last main --add           Tag several runs, as a baseline
  latlas atlas tag --remove before-6.19")]
    Tag(TagOptions),
    /// Delete runs and their tags
    #[command(after_help = "\
Asks for confirmation; without a terminal, --yes is required.

Examples:
  latlas atlas delete last
  latlas atlas delete 5e0c before-6.19 --yes")]
    Delete(DeleteOptions),
    /// Move all runs and tags to another store
    #[command(after_help = "\
FROM and TO are directories or PostgreSQL databases (postgres://HOST/DATABASE). Each document is copied
byte by byte and read back before it is removed; if this is interrupted, repeat it. Documents that
can't be read, or of which TO has another version, stay.

Examples:
  latlas atlas move ~/.local/share/latlas postgres://db.lab/atlas
  latlas atlas move postgres://db.lab/atlas backup --keep    Copy to a directory

Exit codes:
  0  all moved
  2  a store can't be read or written
  3  some documents stayed")]
    Move(MoveOptions),
    /// Rebuild the index from the documents
    #[command(after_help = "\
The index contains nothing that is not in the documents and tag files. Removes incomplete files of
a killed latlas.

Examples:
  latlas atlas rebuild
  latlas atlas rebuild --json

Exit codes:
  0  rebuilt
  2  no document can be read, or the index can't be written
  3  the system failed to read some documents; an index that holds their runs is left unchanged")]
    Rebuild(JsonOption),
    /// Check all documents and compare the index with them
    #[command(after_help = "\
Changes nothing.

Examples:
  latlas atlas verify
  latlas atlas verify --json

Exit codes:
  0  no damage found
  2  the store can't be read
  3  damage found, or a document that can't be read here (of a newer latlas, or the system fails)")]
    Verify(JsonOption),
}

/// Options of `latlas atlas list`.
#[derive(Args, Debug, Clone)]
pub struct ListOptions {
    /// List runs of this machine: a host name, or the start of a machine key
    #[arg(long, value_name = "KEY|HOST")]
    pub machine: Option<String>,
    /// List only runs with a tag
    #[arg(long)]
    pub tag: bool,
    /// Show at most N runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Print JSON: an array of runs
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas percentiles`.
#[derive(Args, Debug, Clone)]
pub struct PercentilesOptions {
    /// The machine: a host name, or the start of a machine key
    #[arg(value_name = "KEY|HOST")]
    pub machine: Option<String>,
    /// Include points of curves and maps (always in JSON)
    #[arg(long)]
    pub points: bool,
    /// Print JSON: an array of rows and points
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas show`.
#[derive(Args, Debug, Clone)]
pub struct ShowOptions {
    /// The run
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas tag`.
#[derive(Args, Debug, Clone)]
pub struct TagOptions {
    /// The run
    #[arg(value_name = "RUN", required_unless_present = "remove", requires = "name")]
    pub run: Option<String>,
    /// The tag
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Remove the tag from other runs
    #[arg(long = "move", conflicts_with = "add")]
    pub moving: bool,
    /// Let several runs have the tag
    #[arg(long)]
    pub add: bool,
    /// Remove this tag from all runs
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "name", "moving", "add"])]
    pub remove: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas delete`.
#[derive(Args, Debug, Clone)]
pub struct DeleteOptions {
    /// The runs
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Don't ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Print JSON: an array of deleted runs
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas move`.
#[derive(Args, Debug, Clone)]
pub struct MoveOptions {
    /// The store to move from
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The store to move to
    #[arg(value_name = "TO")]
    pub to: String,
    /// Copy: keep the runs in FROM
    #[arg(long)]
    pub keep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `latlas atlas rebuild` and `latlas atlas verify`.
#[derive(Args, Debug, Clone, Copy)]
pub struct JsonOption {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
