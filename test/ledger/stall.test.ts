import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../src/contracts/results.js';
import { STALL_SIGNALS, type StallSignal } from '../../src/contracts/session-meta-events.js';
