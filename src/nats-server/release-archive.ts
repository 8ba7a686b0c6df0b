import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from '../contracts/errors.js';
import { installPinned } from './pinned-binary.js';
import { runCommand } from './run-command.js';
import { NATS_SERVER_PIN, releaseName } from './server-pin.js';
import type { FindOptions, Place } from './server-search.js';

const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Downloads the pinned release archive, and uses it only when its SHA-256 is the pinned one. */
export const releaseArchive: Place = {
  name: 'release archive',
  async look(options) {
    const target = `${options.platform}-${ARCHITECTURES[options.arch] ?? options.arch}`;
    const checksums: Readonly<Record<string, string>> =
      options.releaseChecksums ?? NATS_SERVER_PIN.releaseChecksums;
    const checksum = checksums[target];
    if (checksum === undefined) return { reason: `none is pinned for ${target}` };
    const url = `${options.releaseBaseUrl ?? NATS_SERVER_PIN.releaseBaseUrl}/${releaseName(target)}.tar.gz`;
    options.progress?.(`downloading nats-server ${NATS_SERVER_PIN.version} for ${target}`);
    return installPinned(options, 'release archive', async (folder) => {
      const archive = await download(url);
      const actual = createHash('sha256').update(archive).digest('hex');
      if (actual !== checksum) throw new Error(`${url} has the SHA-256 ${actual}, not ${checksum}: not used`);
      await unpack(archive, folder, options);
      return join(folder, releaseName(target), 'nats-server');
    });
  },
};

async function download(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (fault) {
    // fetch says only "fetch failed"; what happened is in the cause.
    const cause = fault instanceof Error && fault.cause !== undefined ? messageOf(fault.cause) : '';
    throw new Error(`cannot download ${url}: ${cause || messageOf(fault)}`);
  }
}

async function unpack(archive: Buffer, folder: string, options: FindOptions): Promise<void> {
  // Unzipped here, since not every tar can without a gzip program beside it.
  const tar = join(folder, 'release.tar');
  await writeFile(tar, await promisify(gunzip)(archive));
  const result = await runCommand('tar', ['-xf', tar, '-C', folder], { env: options.env, timeoutMs: 60_000 });
  if (!result.ok) throw new Error(`cannot unpack it with tar: ${result.reason}`);
}
