import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/engine/files/user-state.js';
import { tickPlan } from '../../src/work/follow-plan.js';
import { folderOfFile } from '../support/of-file.js';

const folder = await folderOfFile();
const PLAN = '- [ ] T1 It\n';

describe('a plan of strangers', () => {
  it('is ticked as a file', async () => {
    const path = join(folder, 'tasks.md');
    writeFileSync(path, PLAN);
    expect(await tickPlan(path, 'T1')).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe('- [x] T1 It\n');
  });

  it('is not ticked through a link', async () => {
    const [path, outside] = [join(folder, 'link.md'), join(folder, 'outside')];
    writeFileSync(outside, PLAN);
    symlinkSync(outside, path);
    expect(await tickPlan(path, 'T1')).toBe(`${path} is a symbolic link`);
    expect(readFileSync(outside, 'utf8')).toBe(PLAN);
  });

  it('is written in place of a link that was put there after it was read', async () => {
    const [path, outside] = [join(folder, 'swapped.md'), join(folder, 'elsewhere')];
    writeFileSync(outside, PLAN);
    symlinkSync(outside, path);
    replaceFile(path, '- [x] T1 It\n');
    expect(readFileSync(outside, 'utf8')).toBe(PLAN);
    expect(readFileSync(path, 'utf8')).toBe('- [x] T1 It\n');
    expect(lstatSync(path).isFile()).toBe(true);
  });

  it('does not hold the run up as a pipe, a device, or a file without an end', async () => {
    const pipe = join(folder, 'pipe.md');
    execFileSync('mkfifo', [pipe]);
    expect(await tickPlan(pipe, 'T1')).toBe(`${pipe} is not a regular file`);
    expect(await tickPlan('/dev/zero', 'T1')).toBe('/dev/zero is not a regular file');
    const large = join(folder, 'large.md');
    writeFileSync(large, `${PLAN}${' '.repeat(1024 * 1024)}`);
    expect(await tickPlan(large, 'T1')).toBe(`${large} is larger than 1048576 bytes`);
  });
});
