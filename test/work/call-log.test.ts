import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CallLog } from '../../src/work/run-folder.js';
import { folderOfFile } from '../support/of-file.js';

const folder = await folderOfFile();
const MB = 1024 * 1024;

describe('the log of a call', () => {
  it('keeps a short log whole', () => {
    const path = join(folder, 'short.log');
    const log = new CallLog(path);
    log.write('one\n');
    log.write(Buffer.from('two\n'));
    log.end();
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([1, 1000, 65_536, 9 * MB])(
    'keeps the beginning and the end of a long one in order, written %i bytes at a time',
    (size) => {
      const path = join(folder, `long-${size}.log`);
      const log = new CallLog(path);
      const lines = Buffer.from(Array.from({ length: 2_500_000 }, (_, at) => `${at}\n`).join(''));
      const step = Math.max(size, 4096);
      for (let at = 0; at < lines.length; at += step) log.write(lines.subarray(at, at + step));
      log.end();
      const kept = readFileSync(path);
      const [head = '', leftOut = '', tail = ''] = kept
        .toString('latin1')
        .split(/\n\xe2\x80\xa6 (\d+) bytes omitted \xe2\x80\xa6\n/);
      expect(kept.length).toBeLessThanOrEqual(16 * MB);
      expect(lines.subarray(0, head.length).toString()).toBe(head);
      expect(lines.subarray(-tail.length).toString()).toBe(tail);
      expect(head.length + Number(leftOut) + tail.length).toBe(lines.length);
      expect(tail.length).toBeGreaterThan(7 * MB);
    },
  );

  it('does not write through a link that stands in its place', () => {
    const [path, outside] = [join(folder, 'link.log'), join(folder, 'outside')];
    writeFileSync(outside, 'mine');
    symlinkSync(outside, path);
    const log = new CallLog(path);
    log.write('text');
    log.end();
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(readFileSync(path, 'utf8')).toBe('text');
  });
});
