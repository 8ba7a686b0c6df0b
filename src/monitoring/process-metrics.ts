import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { VERSION } from '../version.js';
import type { Collector } from './metric-registry.js';

/** How often the event loop is looked at: what it is late by is what is more than that. */
const EVERY_MS = 20;

/** The metrics of the process itself. Measuring begins here, and ends with `stop`. */
export function watchProcess(): { readonly collect: Collector; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let before = performance.eventLoopUtilization();
  const collect: Collector = () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal } = process.memoryUsage();
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const late = Math.max(0, delays.max / 1e9 - EVERY_MS / 1000);
    delays.reset();
    return {
      throughline_build_info: [[{ version: VERSION, node: process.versions.node }, 1]],
      throughline_process_start_time_seconds: [[{}, Math.round(performance.timeOrigin) / 1000]],
      throughline_process_cpu_seconds_total: [
        [{ mode: 'user' }, user / 1e6],
        [{ mode: 'system' }, system / 1e6],
      ],
      throughline_process_resident_memory_bytes: [[{}, rss]],
      throughline_process_heap_bytes: [
        [{ state: 'used' }, heapUsed],
        [{ state: 'total' }, heapTotal],
      ],
      throughline_event_loop_lag_seconds: [[{}, late]],
      throughline_event_loop_utilization_ratio: [[{}, utilization]],
    };
  };
  return { collect, stop: () => delays.disable() };
}
