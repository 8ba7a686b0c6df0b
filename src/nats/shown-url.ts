/** A URL, or several, as they may be shown: user, password and token replaced, with a scheme before them or without. */
export function withoutSecrets(url: string): string {
  // Up to the last @ of each: a password may hold one as well, and, wrongly, a slash, a comma or the end of a line.
  return url.replace(/(^|,)([a-z][a-z\d+.-]*:\/\/)?(?:(?!,[a-z][a-z\d+.-]*:\/\/).)*@/gis, '$1$2***@');
}
