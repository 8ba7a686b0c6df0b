import { tokens } from './tokens.js';

/** Words that texts about anything share: alone they do not say that two texts are about the same. */
const COMMON: ReadonlySet<string> = new Set(
  // The dash: none of them is the verb that a text begins with.
  tokens(
    '- i me my you your we us our they them their he she his her who whose which what where when why how while because ' +
      'since until before after during about without within over under between through out off up down here there ' +
      'all any each every both some few more most less other another such only own same too very just also even still ' +
      'yet again ever never always often now one two first last next new old good better best well way thing something ' +
      'nothing everything like per via instead rather must need let please prefer avoid ensure make made making use ' +
      'using get go going put take give keep run work task want know see look say try add fix change update create ' +
      'implement improve support write wrote written',
  ),
);

/** Whether a token that two texts share says that they are about the same: common words and bare numbers do not. */
export function isTelling(token: string): boolean {
  return !COMMON.has(token) && !/^\p{N}+$/u.test(token);
}
