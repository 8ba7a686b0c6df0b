import { createRequire } from 'node:module';

const manifest: { readonly version: string } = createRequire(import.meta.url)('../package.json');

/** This package's version, as `package.json` says. */
export const VERSION = manifest.version;
