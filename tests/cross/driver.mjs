// Runs the calls of a job on a WebAssembly module: node driver.mjs MODULE JOB INPUT OUTPUT. As driver.c does, but
// there is one memory without pages to protect: A ends where memory ends, B stands between bytes that must stay.
import { readFileSync, writeFileSync } from "node:fs";

const [module, job, input, output] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(job));
const { instance } = await WebAssembly.instantiate(readFileSync(module));
const { memory, __heap_base: heap } = instance.exports;
const data = readFileSync(input);
const results = [];
const GUARD = 64, SCALARS = 32;
let offset = 0;

function put(address, bytes) {
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
}

for (const call of calls) {
  const base = (heap.value + 255) & ~255;
  const need = base + 4096 + call.bytes_a + call.bytes_b + 2 * GUARD + 256;
  const missing = Math.ceil((need - memory.buffer.byteLength) / 65536);
  if (missing > 0) memory.grow(missing);
  const scalars = base, lists = base + SCALARS;
  const b = base + 4096 + GUARD, a = memory.buffer.byteLength - call.bytes_a;
  const before = b - GUARD, after = b + call.bytes_b;
  new Uint8Array(memory.buffer, before, call.bytes_b + 2 * GUARD).fill(0xa5);
  put(scalars, data.subarray(offset, (offset += SCALARS)));
  put(a, data.subarray(offset, (offset += call.bytes_a)));
  put(b, data.subarray(offset, (offset += call.bytes_b)));
  const view = new DataView(memory.buffer);
  let free = lists;
  const list = (values) => {
    if (values === null) return 0;
    const start = free;
    for (const value of values) { view.setInt32(free, value, true); free += 4; }
    return start;
  };
  const given = call.scalars.map((kind, k) =>
    kind === "pointer" ? scalars + 16 * k
      : kind === "float" ? view.getFloat32(scalars + 16 * k, true) : view.getFloat64(scalars + 16 * k, true));
  const outer = call.sizes.map(list);
  const entry = instance.exports[call.name];
  for (const part of call.parts) entry(...(call.in_place ? [] : [call.reads_a ? a : 0]), b, ...given, ...outer, ...part);
  for (const place of [before, after])
    if (new Uint8Array(memory.buffer, place, GUARD).some((byte) => byte !== 0xa5))
      throw new Error(`${call.name} wrote outside of B`);
  results.push(new Uint8Array(memory.buffer.slice(a, a + call.bytes_a)));
  results.push(new Uint8Array(memory.buffer.slice(b, b + call.bytes_b)));
}
writeFileSync(output, Buffer.concat(results));
