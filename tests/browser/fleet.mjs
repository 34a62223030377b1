// Makes up documents of a campaign over many hosts from one run, marked so: node fleet.mjs RUN.json DIRECTORY HOSTS
// [REPETITIONS] [CAMPAIGN] [FACTOR]; ROWS in the environment is how many rows each has. One host in 25 is slow in some
// rows with another microcode; a third have another kernel and firmware, with which some rows are slower; one has a
// hostile name.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [from, directory, hosts, repetitions = "2", campaign = "made-up", factor = "1"] = process.argv.slice(2);
const run = JSON.parse(readFileSync(from, "utf8"));
mkdirSync(directory, { recursive: true });

if (process.env.ROWS) {
  // Single figures only, again under other names until there are enough.
  const figures = run.rows.filter((row) => row.outcome.figure);
  run.rows = Array.from({ length: Number(process.env.ROWS) }, (_, at) => {
    const row = figures[at % figures.length];
    return at < figures.length ? row : { ...row, id: `${row.id}/again_${Math.floor(at / figures.length)}` };
  });
}

let state = campaign.length;
const share = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const normal = () => Math.sqrt(-2 * Math.log(share() + 1e-12)) * Math.cos(2 * Math.PI * share());
const hex = (number, digits) => number.toString(16).padStart(digits, "0");

// Every number that is an interval of ns or cycles, and what stands next to it.
const scale = (value, by) => {
  if (Array.isArray(value)) return value.map((one) => scale(one, by));
  if (value === null || typeof value !== "object") return value;
  const scaled = Object.entries(value).map(([key, one]) => {
    const is = ["value", "low", "high", "minimum_ns", "p10_ns", "p90_ns"].includes(key) && typeof one === "number";
    return [key, is ? one * by : scale(one, by)];
  });
  return Object.fromEntries(scaled);
};

for (let host = 0; host < Number(hosts); host += 1) {
  const odd = host % 25 === 7;
  const old = host % 3 === 0;
  const name = host === 11 ? '<img src=x onerror=alert(1)>"' : `n${String(host + 1).padStart(4, "0")}`;
  const own = run.rows.map((_, row) => {
    const slow = odd && row % 9 === 2 ? 1.4 : 1;
    const kernel = old && row % 7 === 3 ? 1.15 : 1;
    return Math.exp(normal() * 0.012) * slow * kernel * Number(factor);
  });
  for (let repetition = 1; repetition <= Number(repetitions); repetition += 1) {
    const document = structuredClone(run);
    document.id = `${hex(host * 16 + repetition, 8)}-0000-4000-8000-${hex(campaign.length, 12)}`;
    document.started_unix_ms += (host * 16 + repetition) * 1000;
    document.program.version = "0.0.0-made-up";
    document.machine.hostname = { value: name };
    document.machine.kernel = { value: old ? "5.14.0-made-up" : "6.1.0-made-up" };
    document.machine.firmware = { value: old ? "Maker 1.0" : "Maker 2.0" };
    document.machine.microcode = { value: odd ? "0x10" : "0x11" };
    if (odd) document.gate.quiet_share = 0.2;
    document.job = { campaign, digest: "0123456789abcdef", host: name, repetition, attempt: 1, nonce: hex(host, 4) };
    document.cells = [];
    document.rows = run.rows.map((row, at) => ({
      ...row,
      outcome: scale(row.outcome, own[at] * Math.exp(normal() * 0.003)),
    }));
    writeFileSync(`${directory}/${hex(host, 4)}-${repetition}.json`, JSON.stringify(document));
  }
}
