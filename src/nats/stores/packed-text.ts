import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/**
 * A snapshot that would not fit one message is kept packed: `{"after_sequence":N,"gzip":"…"}`, base64 of the whole
 * text. Smaller ones stay as they are, to be read with the plain `nats` CLI.
 */
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];
const PACKED = /^\{"after_sequence":\d+,"gzip":"([A-Za-z0-9+/=]+)"\}$/;
/** Larger than any snapshot that was packed: what unpacks to more is none of ours. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** The text as it is stored; `undefined` when it does not fit `limit` bytes even packed. */
export async function packedText(sequence: number, text: string, limit: number): Promise<string | undefined> {
  if (Buffer.byteLength(text) <= limit) return text;
  const packed = `{"after_sequence":${sequence},"gzip":"${(await pack(text)).toString('base64')}"}`;
  return packed.length <= limit ? packed : undefined;
}

/** The text that was stored; what cannot be unpacked is given as it is. */
export async function unpackedText(stored: string): Promise<string> {
  const base64 = PACKED.exec(stored)?.[1];
  if (base64 === undefined) return stored;
  try {
    const options = { maxOutputLength: MAX_UNPACKED };
    return (await unpack(Buffer.from(base64, 'base64'), options)).toString();
  } catch {
    return stored;
  }
}
