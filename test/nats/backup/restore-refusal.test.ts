import { describe, expect, it } from 'vitest';
import { type RestoreBegin, restoreRefusal } from '../../../src/nats/backup/restore.js';

const begin: RestoreBegin = {
  ...{ directory: '/backups/b1', id: 'mine', at: '2026-11-23T10:00:00.000Z', again: false },
  ...{ there: ['DISPATCH', 'KV_throughline'], marked: 'mine' },
};
const said = (more: Partial<RestoreBegin>) => restoreRefusal({ ...begin, ...more })?.message ?? '';
/** A command on its own line. */
const REMOVES = /\n {2}nats stream ls --names --all \| grep -E '\S+' \| xargs -n 1 nats stream rm --force$/;

describe('a restore', () => {
  it('begins on a server without streams, and goes on with --again where it was cut off', () => {
    for (const again of [false, true])
      expect(restoreRefusal({ ...begin, again, there: [], marked: undefined })).toBeUndefined();
    expect(restoreRefusal({ ...begin, again: true })).toBeUndefined();
  });

  it('names the command that goes on, where it was cut off and is begun again', () => {
    expect(said({})).toMatch(
      /was cut off or still runs: .* run "throughline admin restore \/backups\/b1 --again"$/,
    );
  });

  it('says that nothing was cut off where --again finds an installation, and what to do', () => {
    const text = said({ again: true, marked: undefined });
    expect(text).toContain('no restore was cut off on this server');
    expect(text).toContain('"throughline doctor"');
    expect(text).toContain('then run "throughline admin restore /backups/b1":');
    expect(text).toMatch(REMOVES);
  });

  it('says which backup it was where another one was cut off, and how this one takes its place', () => {
    for (const again of [false, true]) {
      const text = said({ again, marked: 'other' });
      expect(text).toContain('"throughline admin restore DIR --again"');
      expect(text).toContain('throughline-backup.json has the id other');
      expect(text).toMatch(REMOVES);
    }
  });

  it('names the command that removes what is there where the server has an installation', () => {
    const text = said({ marked: undefined });
    expect(text).toContain('restore into an empty server or account');
    expect(text).toMatch(REMOVES);
  });
});
