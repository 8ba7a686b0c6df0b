import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Prometheus's own checker, of Debian's package `prometheus`; undefined where it is not on the path. */
export const PROMTOOL = spawnSync('promtool', ['--version']).status === 0 ? 'promtool' : undefined;

/** Why a test with it is skipped. */
export const NO_PROMTOOL = 'promtool is not on the path: install it with "apt-get install prometheus"';

export async function checkMetrics(metrics: string): Promise<string> {
  const child = spawn(PROMTOOL ?? '', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(metrics);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [said, complained, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return code === 0 ? `${said}${complained}` : `exit ${code}: ${said}${complained}`;
}
