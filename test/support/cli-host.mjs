import { Readable, Writable } from 'node:stream';
import { runCli } from '../../dist/cli/program.js';

/** Runs commands of the built command line one after the other, each with the streams, variables and folder that it is sent. */

const [node] = process.argv;

process.on('message', async ({ bin, args, env, cwd, input }) => {
  const [out, err] = [[], []];
  const streams = {
    stdin: Readable.from(input.length > 0 ? [Buffer.from(input)] : []),
    stdout: into(out),
    stderr: into(err),
  };
  for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value });
  // Not another object: the home directory is read from the real ones.
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [node, bin, ...args];
  process.exitCode = undefined;
  process.chdir(cwd);
  const code = await runCli(process.argv).catch((error) => {
    err.push(Buffer.from(`${error.stack}\n`));
    return 70;
  });
  process.exitCode = undefined;
  process.send({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
});
process.on('disconnect', () => process.exit());

function into(chunks) {
  return new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
}
