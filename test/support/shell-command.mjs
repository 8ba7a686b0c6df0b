import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

/** What a shell of a test calls as `throughline`: support/shell-command.ts answers. */

const [, , port, ...args] = process.argv;
const input = process.stdin.isTTY ? Buffer.alloc(0) : await buffer(process.stdin);
const socket = connect(Number(port), '127.0.0.1');
socket.end(JSON.stringify({ args, env: process.env, cwd: process.cwd(), input: input.toString('base64') }));
const { code, stdout, stderr } = JSON.parse(await text(socket));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
