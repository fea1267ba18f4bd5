// Calls of emitted contractions, as contraction_driver.c has them: node contraction_driver.mjs MODULE CALLS IN OUT
import { readFileSync, writeFileSync } from "node:fs";

const [code, list, input, output] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(code), {});
const { memory, __heap_base, ...entries } = instance.exports;
const data = readFileSync(input), results = [];
let at = 0;
for (const call of JSON.parse(readFileSync(list, "utf8"))) {
    let place = (__heap_base.value + 127) & ~63;
    const put = (bytes) => {
        const here = place;
        place = (place + bytes.length + 127) & ~63;
        while (place > memory.buffer.byteLength) memory.grow(16);
        new Uint8Array(memory.buffer).set(bytes, here);
        return here;
    };
    const take = (count) => data.subarray(at, (at += count));
    const scalars = put(take(32)), [a, b, c] = call.bytes.map((count) => put(take(count)));
    const words = call.words.map((list) => list === null ? 0 : put(new Uint8Array(BigInt64Array.from(list.map(BigInt)).buffer)));
    const view = new DataView(memory.buffer), real = call.real === 4 ? "getFloat32" : "getFloat64";
    const given = call.complex ? [scalars, scalars + 16] : [view[real](scalars, true), view[real](scalars + 16, true)];
    const places = [a, b, c].map((start, k) => start + call.first[k]);
    entries[call.name](...places, ...given, ...words);
    results.push(new Uint8Array(memory.buffer).slice(c, c + call.bytes[2]));
}
writeFileSync(output, Buffer.concat(results));
