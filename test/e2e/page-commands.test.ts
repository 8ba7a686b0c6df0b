import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { COMMANDS } from '../../src/page/words.js';
import { startUp } from '../support/cli.js';
import { argumentsOf } from '../support/documented-commands.js';
import { folderOfFile, ofFile } from '../support/of-file.js';
import { implemented } from '../support/system.js';

/** The commands that the inspector's page shows, run as it shows them. */

const PAGE = join(ROOT, 'src/page');

const folder = await folderOfFile();
await writeFile(join(folder, 'result.json'), JSON.stringify(implemented('1')));
const up = await ofFile(startUp({}, folder));

const { up: start, openPage, ...others } = COMMANDS;
const run = (line: string) => up.cli(argumentsOf(line)[0] ?? [], { cwd: folder });

describe('the commands of the page', () => {
  it.each(Object.entries(others))('the page shows a command that runs: %s', async (_, command) => {
    const { code, stdout, stderr } = await run(command('demo'));
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
  });

  // They start a server, or a browser: test/e2e/cli.test.ts.
  it.each([start(), openPage()])('the page names a command that exists: %s', async (line) => {
    expect((await run(`${line} --help`)).stdout).toContain(`Usage: ${line} `);
  });

  it('the page has its commands from one list', () => {
    const files = readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(files.length).toBeGreaterThan(30);
    const others = files.filter((file) => file !== 'words.ts');
    expect(
      others.filter((file) => /\bthroughline [a-z]/.test(readFileSync(join(PAGE, file), 'utf8'))),
    ).toEqual([]);
  });
});
