//! `latlas fleet` with an sbatch, a squeue, a sinfo and an ssh that are scripts. `.ci/fleet` tries the real ones.

use crate::support::{Done, Home, json, synthetic};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Keeps jobs in the file `queue`, a line `HOST#BATCH|TASK|STATE|REASON` each; refuses the host `bad`.
const SBATCH: &str = r#"#!/bin/sh
for word; do case $word in
  --comment=*) comment=${word#*=};;
  --array=*) tasks=${word#*=}; tasks=${tasks%%%*};;
  --nodelist=bad) echo "sbatch: error: Batch job submission failed: Invalid node name specified" >&2; exit 1;;
esac; done
[ -z "$WAITS_FOR" ] || { echo "$comment" >"$QUEUE.begun"; until [ -e "$WAITS_FOR" ]; do sleep 0.1; done; }
for task in $(echo "$tasks" | tr , ' '); do echo "$comment|$task|PENDING|Resources"; done >>queue.now
cat queue.now >>"$QUEUE"; rm queue.now
echo 1
"#;

pub(crate) const SQUEUE: &str = "#!/bin/sh
case $* in *--format=%S*) date +%s; exit;; esac
[ ! -e \"$QUEUE.silent\" ] || { echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1; }
cat \"$QUEUE\" 2>/dev/null || true
";

const SINFO: &str = "#!/bin/sh
printf '%s\\n' 'n1|epyc,ib' 'n2|epyc' 'n3|xeon,ib' 'n1|epyc,ib'
";

/// Runs the command in a directory of the host, with the programs of `HOST.bin`, after the shell's start-up file
/// `HOST.rc`; the host `down` can't be reached.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
[ "$host" != down ] || { echo "ssh: connect to host down port 22: No route to host" >&2; exit 255; }
echo "$host $3" >>"$HOSTS/log"
[ ! -e "$HOSTS/$host.bin" ] || PATH=$HOSTS/$host.bin:$PATH
[ ! -e "$HOSTS/$host.rc" ] || . "$HOSTS/$host.rc"
mkdir -p "$HOSTS/$host"; cd "$HOSTS/$host" && exec sh -c "$3"
"#;

/// A home with these tools, and a campaign.
pub(crate) struct Fleet(pub(crate) Home);

impl Fleet {
    pub(crate) fn new(campaign: &str) -> Fleet {
        let home = Home::new();
        for (name, script) in
            [("sbatch", SBATCH), ("squeue", SQUEUE), ("sinfo", SINFO), ("ssh", SSH)]
        {
            let name = format!("bin/{name}");
            home.write(&name, script);
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(home.path(&name), mode).expect("executable");
        }
        home.write("lab.toml", format!("name = 'lab'\ndeadline = '1h'\n{campaign}\n"));
        Fleet(home)
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.0.command(line);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", self.0.path("bin").display()))
            .env("QUEUE", self.0.path("queue"))
            .env("HOSTS", self.0.path("hosts"));
        command
    }

    pub(crate) fn run_line(&self, line: &str) -> Done {
        Done::from_command(&mut self.command(line))
    }

    /// Ends at a point between two steps, as by SIGKILL.
    pub(crate) fn killed_at(&self, point: &str, line: &str) {
        let done = Done::from_command(self.command(line).env("LATLAS_TEST_CRASH_AT", point));
        assert_eq!(done.code, -1, "{point}: {}{}", done.out, done.err);
    }

    pub(crate) fn status(&self) -> Value {
        let done = self.run_line("status lab.toml --json");
        assert!(matches!(done.code, 0 | 3), "{}", done.err);
        let standing = json(&done.out);
        assert_eq!(standing["complete"], done.code == 0);
        standing
    }

    /// The states, in the order of hosts and repetitions.
    pub(crate) fn states(&self) -> Vec<String> {
        let standing = self.status();
        let jobs = standing["jobs"].as_array().expect("jobs").iter();
        jobs.map(|job| job["state"].as_str().expect("a state").to_owned()).collect()
    }

    pub(crate) fn queue(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.path("queue")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Leaves a made-up document of a job; changes it before.
    pub(crate) fn leave_document(&self, number: u32, host: &str, change: impl FnOnce(&mut Value)) {
        let submission = json(&self.0.read_file("lab.fleet/campaign.json"));
        let mut run = synthetic();
        run["id"] = crate::support::made_up_id(number).into();
        run["started_unix_ms"] = submission["submitted_unix_ms"].clone();
        run["program"]["version"] = submission["program"]["version"].clone();
        run["program"]["commit"] = submission["program"]["commit"].clone();
        run["job"] = serde_json::json!({
            "campaign": "lab",
            "digest": submission["digest"],
            "host": host,
            "repetition": 1,
            "attempt": 1,
            "nonce": number.to_string(),
        });
        change(&mut run);
        let name = format!("lab.fleet/results/{host}.1.1.{number}.json");
        self.0.write(&name, run.to_string());
    }
}
