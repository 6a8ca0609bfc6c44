// SPDX-License-Identifier: Apache-2.0
// Loads the scripts of the page as a browser does, and makes data for them.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const PAGE = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '../../../../convert/export/flame_graph/page');

// Returns the constants `names` that the scripts `files` define.
export function load(files, names) {
  const context = vm.createContext({TextDecoder, URLSearchParams, console});
  for (const file of files) {
    vm.runInContext(fs.readFileSync(path.join(PAGE, file), 'utf8'), context, {filename: file});
  }
  return vm.runInContext(`({${names.join(', ')}})`, context);
}

function numbers(...values) {
  const bytes = [];
  for (let value of values) {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return bytes;
}

// Returns the data (page_data.h) of a page with one event. `nodes` are [depth, name, self] in
// preorder; depth 0 is a root. `types` has the types of names that are no user functions. `before`
// and `first` are columns.
// `others` are the other numbers, with columns for both sides of a pair, or one number by which all
// are multiplied.
export function encode(nodes, {types = {}, scale = 1, before, first, others} = {}) {
  const names = [...new Set(nodes.map(([, name]) => name))];
  const texts = ['', ...names, 'cycles', 'samples', 'nanoseconds'];
  const text = new TextEncoder().encode(texts.map((each) => `${each}\n`).join(''));
  const column = (value) => numbers(...names.map(value));
  const ups = nodes.map(([depth], i) => (i === 0 ? 0 : nodes[i - 1][0] + 1 - depth));
  return Uint8Array.from([
    ...numbers(3, text.length), ...text, ...numbers(0, names.length),
    ...column((name) => texts.indexOf(name)), ...column((name) => types[name] ?? 1),
    ...column(() => 0), ...column(() => 0), ...column(() => 0), ...column(() => 0),
    ...numbers(1, names.length + 1, names.length + 2, (before ? 1 : 0) + (first ? 2 : 0) +
      (others ? 4 : 0), 0, scale),
    ...(before ? numbers(0, 1) : []),
    ...(others ? numbers(names.length + 3, typeof others === 'number' ? others : 0) : []),
    ...(Array.isArray(others) ? numbers(...others.map(() => 1)) : []),
    ...numbers(nodes.length),
    ...numbers(...ups), ...numbers(...nodes.map(([, name]) => names.indexOf(name))),
    ...numbers(...nodes.map(([, , self]) => self)), ...numbers(...nodes.map(() => 0)),
    ...numbers(...before ?? []),
    ...(Array.isArray(others) ? others.flatMap((each) => numbers(...each)) : []),
    ...numbers(...first ?? []),
  ]);
}
