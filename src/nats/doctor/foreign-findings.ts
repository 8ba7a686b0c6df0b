import { codeOf } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import { counted } from '../../shared/counted.js';
import { type ForeignMessage, foreignIn, type Scanned, scannedStreams } from '../foreign/scan-foreign.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Bounds of the scan: the streams that were written to last, and of each the newest messages. */
const STREAMS = 100;
const NEWEST = 1000;
/** Streams, and messages of each, that are named. */
const SHOWN = 10;
const CHECK = 'foreign messages';

/** Messages that were stored as the answer to a request: they count nowhere, and take space. */
export async function foreignFindings(scanned: Scanned): Promise<Finding[]> {
  const streams = (await scannedStreams(scanned.jsm)).slice(0, STREAMS);
  const found: Finding[] = [];
  const unread: string[] = [];
  for (const stream of streams) {
    const foreign: ForeignMessage[] = [];
    const otherVersions: ForeignMessage[] = [];
    try {
      for await (const message of foreignIn(scanned, stream, NEWEST))
        (message.version === undefined ? foreign : otherVersions).push(message);
    } catch (error) {
      if (codeOf(error) !== 'permission_denied') throw error;
      unread.push(stream.config.name);
    }
    if (otherVersions.length > 0) found.push(fail('event versions', said(otherVersions), OTHER_VERSION_FIX));
    if (foreign.length > 0) found.push(warn(CHECK, said(foreign), FIX));
  }
  const hidden = found.length - SHOWN;
  if (hidden > 0) {
    const message = `${counted(hidden, 'further stream')} with some: throughline foreign ls`;
    return [...found.slice(0, SHOWN), warn(CHECK, message, FIX)];
  }
  if (found.length > 0) return found;
  const read = counted(streams.length - unread.length, 'stream');
  const not = unread.length === 0 ? '' : `; this user may not read ${unread.join(', ')}`;
  return [ok(CHECK, `none among the newest ${NEWEST} of each of ${read}${not}`)];
}

const FIX =
  'check which users may send requests. The messages count nowhere; "throughline foreign rm" removes them';

const OTHER_VERSION_FIX = `no session or project counts them, since this version reads events of version ${EVENT_VERSION}: use the version of Throughline that wrote them, or begin with an empty store`;

function said(foreign: readonly ForeignMessage[]): string {
  const [first] = foreign;
  const named = foreign.slice(0, SHOWN).map(({ sequence, what }) => `${sequence} (${what})`);
  const more = foreign.length > SHOWN ? ' …' : '';
  return `${foreign.length} of the newest ${NEWEST} of ${first?.stream}: ${named.join(', ')}${more}`;
}
