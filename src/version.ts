import { createRequire } from 'node:module';
import { z } from 'zod';

const manifest: unknown = createRequire(import.meta.url)('../package.json');

/** This package's version, as `package.json` says. */
export const VERSION: string = z.object({ version: z.string() }).parse(manifest).version;
