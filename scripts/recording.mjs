// The recording of the README: runs the tutorial of two agents with the real commands, and writes docs/images/recording.svg,
// an animation of what they printed. `npm run recording`. Needs a build.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';
import { optionsOrExit } from './options.mjs';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'dist/cli/bin.cjs');
const LARGEST = 60_000;
const SECONDS = 20;
/** Seconds at which each scene begins, and between two of its lines. */
const STARTS = [0, 6, 14];
const LINE = 0.28;
const [WIDTH, ROW, TOP, COLUMNS] = [760, 18, 58, 92];

const { values: options } = optionsOrExit('recording', {
  options: { out: { type: 'string', default: join(ROOT, 'docs/images/recording.svg') } },
});

const root = await mkdtemp(join(tmpdir(), 'throughline-recording-'));
try {
  const svg = drawn(await recorded());
  if (svg.length > LARGEST) throw new Error(`${options.out} has ${svg.length} bytes: at most ${LARGEST}`);
  await writeFile(options.out, svg);
  console.log(`${options.out}: ${svg.length} bytes`);
} finally {
  await rm(root, { recursive: true, force: true });
}

/** The scenes: a caption, the command, and the lines that it printed. */
async function recorded() {
  const page = await readFile(join(ROOT, 'docs/tutorial/two-agents.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block.trimEnd());
  const lineWith = (words) => {
    const line = blocks.flatMap((block) => block.split('\n')).find((each) => each.startsWith(words));
    if (line === undefined) throw new Error(`docs/tutorial/two-agents.md has no command ${words}`);
    return line;
  };
  const shell = await shellIn(root);
  for (const block of blocks.filter((each) => /^(mkdir|cat >)/.test(each))) await shell(block);
  const attempts = blocks.find((each) => each.startsWith('for attempt'));
  const without = await shell(attempts);
  try {
    await shell(`throughline up --detach --port ${await freePort()}`);
    const work = lineWith('throughline work');
    const worked = await shell(`exec 2>&1; ${work}`);
    const prompt = lineWith('grep -h');
    return [
      {
        caption: 'Without a memory: the second agent repeats the fault',
        command: attempts,
        lines: without,
      },
      {
        caption: 'With Throughline: the same two agents, from task 2 on',
        command: work,
        lines: worked.slice(worked.findIndex((line) => line.startsWith('2 begins'))),
      },
      {
        caption: 'What made the difference: the prompt of round 2',
        command: prompt,
        lines: [...(await shell(prompt)), '', '$ cat greet.sh', ...(await shell('cat greet.sh'))],
      },
    ];
  } finally {
    await shell('throughline down');
  }
}

/** A shell in which `throughline` is what was built, with a state of its own. */
async function shellIn(folder) {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'throughline'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  await chmod(join(bin, 'throughline'), 0o755);
  const kept = Object.entries(process.env).filter(
    ([name]) => name === 'NATS_SERVER_BIN' || !/^(NATS|THROUGHLINE)_/.test(name),
  );
  const env = {
    ...Object.fromEntries(kept),
    NO_COLOR: '1',
    XDG_STATE_HOME: join(folder, 'state'),
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  };
  return async (script) => {
    const cwd = join(folder, 'greeter');
    // The first block makes the folder and goes into it.
    const inside = script.replace('mkdir greeter && cd greeter\n', '');
    await mkdir(cwd, { recursive: true });
    const { stdout } = await run('bash', ['-eo', 'pipefail', '-c', inside], { cwd, env });
    return stdout.trimEnd().split('\n');
  };
}

function drawn(scenes) {
  const rows = Math.max(...scenes.map(({ command, lines }) => typedLines(command).length + lines.length + 2));
  const height = TOP + rows * ROW + 12;
  const css = [];
  const groups = scenes.map(({ caption, command, lines }, scene) => {
    const [from, to] = [STARTS[scene], STARTS[scene + 1] ?? SECONDS];
    const typed = typedLines(command).map((text) => ({ text, kind: 'c', at: from + 0.3 }));
    const step = Math.min(LINE, (to - from - 2.5) / lines.length);
    const printed = lines.flatMap((line, index) =>
      wrapped(line).map((text) => ({ text, kind: kindOf(line), at: from + 1.2 + index * step })),
    );
    const texts = [
      { text: caption, kind: 'h', at: from },
      { text: '', kind: 'c', at: from },
      ...typed,
      ...printed,
    ];
    const drawnTexts = texts.map(({ text, kind, at }, row) => {
      const name = `s${scene}r${row}`;
      if (text === '') return '';
      css.push(
        `@keyframes ${name}{0%,${percent(at)}{opacity:0}${percent(at + 0.02)},${percent(to - 0.1)}{opacity:1}${percent(to)},100%{opacity:0}}`,
      );
      return `<text class="${kind}" style="animation-name:${name}" x="20" y="${TOP + row * ROW}">${escaped(text)}</text>`;
    });
    return `<g class="s${scene}">\n${drawnTexts.filter((text) => text !== '').join('\n')}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Two agents work on a plan, without a memory and with one</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#c9d1d9;opacity:0;animation:${SECONDS}s infinite}
.h{font-weight:bold;fill:#79c0ff}.c{fill:#fff}.bad{fill:#ff7b72}.good{fill:#56d364}
@media(prefers-reduced-motion:reduce){text{animation:none}.s${scenes.length - 1} text{opacity:1}}
${css.join('\n')}
</style>
<rect width="${WIDTH}" height="${height}" rx="8" fill="#0d1117" stroke="#30363d"/>
<circle cx="20" cy="20" r="6" fill="#ff5f56"/><circle cx="40" cy="20" r="6" fill="#ffbd2e"/><circle cx="60" cy="20" r="6" fill="#27c93f"/>
${groups.join('\n')}
</svg>
`;
}

function kindOf(line) {
  if (/needs_changes|Quote \$1/.test(line)) return 'bad';
  return /approved|ticked|Hello \$\{/.test(line) ? 'good' : 'o';
}

/** The lines of a command as they are typed. */
function typedLines(command) {
  return `$ ${command}`.split('\n').flatMap(wrapped);
}

/** A line in pieces that fit the window, broken at blanks. */
function wrapped(line) {
  const pieces = [''];
  for (const word of line.split(/(?<=\S )/)) {
    if (pieces.at(-1).length + word.trimEnd().length > COLUMNS) pieces.push('    ');
    pieces[pieces.length - 1] += word;
  }
  return pieces.map((piece) => piece.trimEnd());
}

function percent(seconds) {
  return `${Math.round((seconds / SECONDS) * 10_000) / 100}%`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
