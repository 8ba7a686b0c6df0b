import { parseArgs } from 'node:util';

/** The options of a script, as `parseArgs` reads them; a wrong one is said in a line, and ends it with code 2. */
export function optionsOrExit(script, config) {
  try {
    return parseArgs(config);
  } catch (error) {
    return exitFor(script, error.message);
  }
}

/** The whole number of at least 1 that an option says, or the end of the script with code 2. */
export function countOrExit(script, option, raw) {
  const value = Number(raw);
  if (/^\d+$/.test(raw) && value >= 1) return value;
  return exitFor(script, `--${option} is ${JSON.stringify(raw)}: use a whole number of at least 1`);
}

function exitFor(script, message) {
  console.error(`${script}: ${message}`);
  return process.exit(2);
}
