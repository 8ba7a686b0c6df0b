import { isDeepStrictEqual } from 'node:util';
import { parse, stripComments } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import type { ConfigFile } from './client-table.js';
import { hasAll, hasAny, unusable, withEntries, withoutEntries } from './json-entries.js';
import { hasBlock, linesOfBlock, withBlock, withoutServer } from './marked-block.js';

export type EntryState = 'connected' | 'outdated' | 'absent';

const OWN = '// Written by "throughline connect';

/** Compares our entries in a file with the current ones; `text` is undefined for a missing file. */
export function entryState(file: ConfigFile, text: string | undefined): EntryState {
  if (text === undefined || text.trim() === '') return 'absent';
  const { path } = file;
  switch (file.kind) {
    case 'json':
      if (!hasAny(text, file.entries, path)) return 'absent';
      return hasAll(text, file.entries, path) ? 'connected' : 'outdated';
    case 'block':
      if (linesOfBlock(text) === undefined) return 'absent';
      return hasBlock(text, file.block) ? 'connected' : 'outdated';
    case 'own':
      if (!text.startsWith(OWN)) return 'absent';
      return text === file.text ? 'connected' : 'outdated';
  }
}

/** Returns the lines that only we write, a marked block or an own file, for a hash that detects foreign ones. */
export function ownLines(file: ConfigFile, text: string | undefined): string | undefined {
  if (text === undefined || file.kind === 'json') return undefined;
  if (file.kind === 'block') return linesOfBlock(text);
  return text.startsWith(OWN) ? text : undefined;
}

/** Returns the text of a file with our entries. Throws `config_invalid` for a file that cannot be edited. */
export function connectedText(file: ConfigFile, text: string | undefined): string {
  const isBlank = text === undefined || text.trim() === '';
  switch (file.kind) {
    case 'json':
      return withEntries(
        isBlank ? `${JSON.stringify(file.empty, null, 2)}\n` : text,
        file.entries,
        file.path,
      );
    case 'block':
      return withBlock(text ?? '', file.block, file.path);
    case 'own':
      if (isBlank || entryState(file, text) !== 'absent') return file.text;
      throw unusable(
        file.path,
        '"throughline connect" did not write this file: move it away, then run this again',
      );
  }
}

/**
 * Returns the text of a file without our entries, byte for byte as before unless something else has changed since.
 *
 * @param before the text before the first edit; undefined if there was no file
 * @returns undefined for a file to remove, because it only contained our entries
 */
export function disconnectedText(file: ConfigFile, text: string, before: string | undefined) {
  if (entryState(file, text) === 'absent') return text;
  if (before !== undefined && isConnected(file, before, text)) return before;
  switch (file.kind) {
    case 'json': {
      const rest = withoutEntries(text, file.entries, file.path);
      const isEmpty = isDeepStrictEqual(parse(rest, [], { allowTrailingComma: true }), file.empty);
      return before === undefined && isEmpty && stripComments(rest) === rest ? undefined : rest;
    }
    case 'block': {
      const rest = withoutServer(text, file.block, file.path);
      return before === undefined && rest.trim() === '' ? undefined : rest;
    }
    case 'own':
      return undefined;
  }
}

function isConnected(file: ConfigFile, before: string, text: string): boolean {
  try {
    return connectedText(file, before) === text;
  } catch (error) {
    // The backup does not belong to this file: remove only our entries.
    if (error instanceof ThroughlineError) return false;
    throw error;
  }
}
