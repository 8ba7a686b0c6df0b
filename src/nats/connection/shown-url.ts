/** A URL, or several, as they may be shown: user, password and token replaced, with a scheme before them or without. */
export function withoutSecrets(url: string): string {
  // Up to the last @ of each: a password may hold one as well, and, wrongly, a slash, a comma or the end of a line.
  return url
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map(shown)
    .join(',');
}

function shown(url: string): string {
  const [scheme = ''] = /^[a-z][a-z\d+.-]*:\/\//i.exec(url) ?? [];
  const at = url.lastIndexOf('@');
  return at < scheme.length ? url : `${scheme}***${url.slice(at)}`;
}
