import { readFileSync } from 'node:fs';
import { IN_COMMAND_LINE, IN_PAGE } from './licences.mjs';

const read = (path) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));

/** Every package that people get with ours: what npm installs below it, and what comes inside as a copy. */
export function shippedPackages() {
  const { packages } = read('package-lock.json');
  const installed = new Set(Object.keys(read('package.json').dependencies));
  // A set goes on to what is added while it is walked through.
  for (const name of installed)
    for (const below of Object.keys(at(packages, name).dependencies ?? {})) installed.add(below);
  const names = new Set([...installed, ...IN_COMMAND_LINE, ...IN_PAGE]);
  return [...names].sort().map((name) => {
    const { version, license: licence } = at(packages, name);
    return {
      name,
      version,
      licence,
      isInstalled: installed.has(name),
      copies: [
        ...(IN_COMMAND_LINE.includes(name) ? ['command line'] : []),
        ...(IN_PAGE.includes(name) ? ['inspector'] : []),
      ],
    };
  });
}

function at(packages, name) {
  const others = Object.keys(packages).filter((path) => path.endsWith(`/node_modules/${name}`));
  const found = packages[`node_modules/${name}`];
  // With two versions of one package it must be told which of them is shipped.
  const shipped = others.filter((path) => packages[path].dev !== true);
  if (found === undefined || shipped.length > 0)
    throw new Error(`package-lock.json has ${found === undefined ? 'no' : 'several versions of'} ${name}`);
  return found;
}
