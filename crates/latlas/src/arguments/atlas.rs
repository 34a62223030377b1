//! Options of `latlas atlas`.

use clap::{Args, Subcommand};

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
A RUN is a file of the atlas, last, last~1 for the one before, the beginning of an id, or a tag.

Examples:
  latlas atlas list                 the kept runs, the newest first
  latlas atlas show last            what is kept of one
  latlas atlas tag last before-6.19 a name to find it by
  latlas atlas verify               read everything, and say what is damaged

Exit codes: 0 done; 2 the request can't be carried out; 3 verify found something damaged.";

/// What to do with the kept runs.
#[derive(Subcommand, Debug)]
pub(crate) enum AtlasCommand {
    /// List the kept runs, the newest first
    #[command(after_help = "\
Examples:
  latlas atlas list --limit 10
  latlas atlas list --machine lab1      of one host, or of a machine's key
  latlas atlas list --tag               only those with a tag
  latlas atlas list --json")]
    List(ListOptions),
    /// Say what is kept of one run: its document, machine, setup and verdicts
    #[command(after_help = "\
Examples:
  latlas atlas show last
  latlas atlas show before-6.19 --json

latlas show RUN prints its figures.")]
    Show(ShowOptions),
    /// Say where a machine stands among all, for every row
    #[command(after_help = "\
Counted are figures that are ok, of every kept run that latlas itself measured on real hardware.
Without a machine it is that of the newest run.

Examples:
  latlas atlas percentiles
  latlas atlas percentiles lab1 --points    those of curves and maps too
  latlas atlas percentiles --json")]
    Percentiles(PercentilesOptions),
    /// Give a run a name, or take one away
    #[command(after_help = "\
A tag is up to 64 letters, digits and _ . + - and begins with a letter or digit. It can't look
like the beginning of an id (only digits, a to f and -), begin with last, or be called like a
published table. A file of that name comes first wherever a run is named. Where one run is meant,
the newest of those with the tag is.

Examples:
  latlas atlas tag last before-6.19
  latlas atlas tag last~1 release --move     from the run that has it
  latlas atlas tag last main --add           several runs: a baseline of `latlas run`
  latlas atlas tag --remove before-6.19")]
    Tag(TagOptions),
    /// Delete runs for good, their documents and tags
    #[command(after_help = "\
Asks first. Where there is no terminal to ask on, --yes is needed.

Examples:
  latlas atlas delete last
  latlas atlas delete 5e0c before-6.19 --yes")]
    Delete(DeleteOptions),
    /// Make the index anew from the documents
    #[command(after_help = "\
Nothing is lost by it: the index holds nothing that is not in the documents, tags are files of
their own. What a killed latlas left half written is removed.

Examples:
  latlas atlas rebuild
  latlas atlas rebuild --json")]
    Rebuild(JsonOption),
    /// Read every document wholly, and compare the index with them row by row
    #[command(after_help = "\
Deletes and mends nothing.

Examples:
  latlas atlas verify
  latlas atlas verify --json

Exit codes: 0 all is as it should be; 2 it can't be read; 3 something is damaged, and named.")]
    Verify(JsonOption),
}

/// Which runs to list.
#[derive(Args, Debug, Clone)]
pub(crate) struct ListOptions {
    /// Only runs of this machine: its host name, or the beginning of its key
    #[arg(long, value_name = "KEY|HOST")]
    pub(crate) machine: Option<String>,
    /// Only runs with a tag
    #[arg(long)]
    pub(crate) tag: bool,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// As JSON: an array with one entry a run
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which machine to set among all.
#[derive(Args, Debug, Clone)]
pub(crate) struct PercentilesOptions {
    /// The machine: its host name, or the beginning of its key
    #[arg(value_name = "KEY|HOST")]
    pub(crate) machine: Option<String>,
    /// Points of curves and maps too (--json always has them)
    #[arg(long)]
    pub(crate) points: bool,
    /// As JSON: an array with one entry a row or point
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which run to show.
#[derive(Args, Debug, Clone)]
pub(crate) struct ShowOptions {
    /// The run
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to name how.
#[derive(Args, Debug, Clone)]
pub(crate) struct TagOptions {
    /// The run
    #[arg(
        value_name = "RUN",
        required_unless_present = "remove",
        requires = "name"
    )]
    pub(crate) run: Option<String>,
    /// The tag
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Take the tag from the runs that have it
    #[arg(long = "move", conflicts_with = "add")]
    pub(crate) moving: bool,
    /// Let the runs that have the tag keep it too
    #[arg(long)]
    pub(crate) add: bool,
    /// Take this tag away from all runs
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "name", "moving", "add"])]
    pub(crate) remove: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which runs to delete.
#[derive(Args, Debug, Clone)]
pub(crate) struct DeleteOptions {
    /// The runs
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Don't ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// As JSON: an array with what was deleted
    #[arg(long)]
    pub(crate) json: bool,
}

/// For people or programs.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct JsonOption {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}
