// Runs queries of Perfetto's trace processor, as its web page does, in Node:
//   node trace_processor.js DIRECTORY-OF-WASM TRACE SQL...
// Prints each result as lines of fields between tabs, the first with the columns' names.
'use strict';
const fs = require('fs');
const path = require('path');
const {MessageChannel} = require('worker_threads');
const [directory, trace, ...queries] = process.argv.slice(2);

// What the bundle expects of a web worker. It refuses to run where it sees Node.
let onmessage;
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: function () {},
  importScripts: () => {},
  location: {href: 'http://localhost/engine_bundle.js'},
  XMLHttpRequest: function () {
    this.open = (method, url) => { this.file = path.join(directory, path.basename(url)); };
    this.send = () => {
      const bytes = fs.readFileSync(this.file);
      this.status = 200;
      this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      this.onload?.();
    };
  },
  fetch: async (url) => new Response(fs.readFileSync(path.join(directory, path.basename(String(url)))),
                                     {headers: {'content-type': 'application/wasm'}}),
});
Object.defineProperty(globalThis, 'onmessage', {get: () => onmessage, set: (f) => { onmessage = f; }});
Object.defineProperty(process, 'versions', {value: {}});
const print = console.log;
console.log = console.warn = () => {};
process.on('uncaughtException', (error) => { console.error(String(error)); process.exit(1); });
require(path.resolve(directory, 'engine_bundle.js'));
const {port1, port2} = new MessageChannel();
onmessage({data: port1});

// Protocol buffers: TraceProcessorRpc of perfetto/trace_processor/trace_processor.proto.
function varint(value) {
  const bytes = [];
  for (value = BigInt(value); value >= 128n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  bytes.push(Number(value));
  return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
function* numbers(buffer) {
  for (let at = 0; at < buffer.length;) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    at = (yield [value, at]) ?? at;
  }
}
function fields(buffer) {
  const all = [];
  const reader = numbers(buffer);
  let next = reader.next();
  while (!next.done) {
    const [tag, at] = next.value;
    const field = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0: {
        all.push([field, reader.next().value[0]]);
        next = reader.next();
        break;
      }
      case 1: {
        all.push([field, buffer.subarray(at, at + 8)]);
        next = reader.next(at + 8);
        break;
      }
      case 2: {
        const [length, from] = reader.next().value;
        const end = from + Number(length);
        all.push([field, buffer.subarray(from, end)]);
        next = reader.next(end);
        break;
      }
      default: throw new Error('unexpected field');
    }
  }
  return all;
}
const packed = (buffer) => [...numbers(buffer ?? Buffer.alloc(0))].map(([value]) => BigInt.asIntN(64, value));

const LOAD = 1, FINISH = 2, QUERY = 3;
let sequence = 0;
let answered, columns, cells;
const ask = (body) => new Promise((resolve) => {
  [answered, columns, cells] = [resolve, [], []];
  port2.postMessage(new Uint8Array(bytes(1, Buffer.concat([number(1, ++sequence), body]))));
});
let waiting = Buffer.alloc(0);
port2.on('message', (message) => {
  waiting = Buffer.concat([waiting, Buffer.from(message)]);
  for (;;) {
    const reader = numbers(waiting.subarray(1));
    const head = reader.next().value;
    if (!head) return;
    const from = 1 + head[1], end = from + Number(head[0]);
    if (waiting.length < end) return;
    answer(fields(waiting.subarray(from, end)));
    waiting = waiting.subarray(end);
  }
});
function answer(message) {
  const result = message.find(([field]) => field === 203);
  if (!result) return answered();
  for (const [field, value] of fields(result[1])) {
    if (field === 1) columns.push(value.toString());
    if (field === 2 && value.length) throw new Error(value.toString());
    if (field !== 3) continue;
    const batch = Object.fromEntries(fields(value));
    const whole = packed(batch[2]);
    const texts = (batch[5] ?? Buffer.alloc(0)).toString().split('\0');
    for (const kind of packed(batch[1])) {
      cells.push(kind === 2n ? whole.shift() : kind === 4n ? texts.shift() : kind === 1n ? 'null' : '?');
    }
    if (batch[6]) answered();
  }
}

(async () => {
  const data = fs.readFileSync(trace);
  for (let at = 0; at < data.length; at += 16 << 20) {
    await ask(Buffer.concat([number(2, LOAD), bytes(101, data.subarray(at, at + (16 << 20)))]));
  }
  await ask(number(2, FINISH));
  for (const sql of queries) {
    await ask(Buffer.concat([number(2, QUERY), bytes(103, bytes(1, Buffer.from(sql)))]));
    print(columns.join('\t'));
    for (let at = 0; at < cells.length; at += columns.length) {
      print(cells.slice(at, at + columns.length).join('\t'));
    }
  }
  process.exit(0);
})();
