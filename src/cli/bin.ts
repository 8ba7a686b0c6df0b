#!/usr/bin/env node

const LAST_WORDS_MS = 500;

// Outlives those who read what it writes: `head` that has seen enough, a terminal that was closed. The rest is lost.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    const isGone = fault.code === 'EPIPE' || (fault.code === 'EIO' && stream.isTTY);
    if (!isGone) throw fault;
  });
// Not awaited: in a bundle, modules that a command loads wait for the one that is still being evaluated here.
void run().then((code) => {
  process.exitCode = code;
  endByForce();
});

async function run(): Promise<number> {
  const [, , command, client, ...more] = process.argv;
  const isHook = command === 'hook' && !process.stdin.isTTY;
  const [option, within] = more;
  const isPlain = more.length === 0 || (more.length === 2 && option === '--within');
  // Agents wait for it at every step: it loads nothing that it does not need.
  if (isHook && client !== undefined && !client.startsWith('-') && isPlain) {
    const { hook } = await import('./hook-command.js');
    await hook(client, within === undefined ? {} : { within });
    return 0;
  }
  const { runCli } = await import('./program.js');
  const code = await runCli(process.argv);
  // Another code stops some agents: an option that only a newer version knows must not.
  return isHook ? 0 : code;
}

/** Ends the process soon, even if something that could not be stopped keeps it alive. */
function endByForce(): void {
  setTimeout(() => {
    // On platforms with asynchronous pipes, a slow reader may not have received everything yet.
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endByForce();
    else process.exit();
  }, LAST_WORDS_MS).unref();
}
