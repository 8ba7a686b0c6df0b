import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

const service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.array(z.string()).optional(),
  restart: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  volumes: z
    .array(
      z.union([
        z.string(),
        z.object({ type: z.string(), source: z.string(), target: z.string(), read_only: z.boolean() }),
      ]),
    )
    .optional(),
});

/** What the tests look at in docker-compose.yml, with its anchors merged. */
export type Service = z.infer<typeof service>;

/** The file as Compose reads it where these variables are set: `${NAME:-default}` is filled in. */
export async function composeFile(
  env: Readonly<Record<string, string>> = {},
): Promise<{ services: Readonly<Record<string, Service>> }> {
  const text = await readFile(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const filled = text.replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, fallback: string) => env[name] || fallback,
  );
  return z.object({ services: z.record(z.string(), service) }).parse(parse(filled, { merge: true }));
}
