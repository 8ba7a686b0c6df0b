import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { cli } from './cli.js';

const CLIENT = fileURLToPath(new URL('shell-command.mjs', import.meta.url));

export interface ShellCommand {
  close(): Promise<void>;
}

/**
 * Writes a program that shells may call as `throughline`: it hands its arguments, variables, folder and input to the host of
 * commands, and gives what that answers. Several that run at once, as in a pipe, get processes of their own from there.
 */
export async function shellCommand(path: string): Promise<ShellCommand> {
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const program = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(CLIENT)} ${port} "$@"\n`;
  await writeFile(path, program, { mode: 0o755 });
  return {
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(socket: Socket): Promise<void> {
  // Not read by iteration: that would close the other direction as well.
  let asked = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    asked += chunk;
  });
  await once(socket, 'end');
  const { args, env, cwd, input } = JSON.parse(asked);
  const result = await cli(args, { env, cwd, input: Buffer.from(input, 'base64') });
  socket.end(JSON.stringify(result));
}
