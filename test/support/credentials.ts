import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nkeys } from 'nats';

/** Keys, certificates and files for servers that ask who comes: made for one test, and gone with it. */
export interface CredentialsFolder extends AsyncDisposable {
  readonly path: string;
  write(name: string, text: string): Promise<string>;
  /** An authority: `<name>.pem` and `<name>.key`; also a self-signed certificate for 127.0.0.1. */
  authority(name: string): Promise<string>;
  /** A certificate for 127.0.0.1, or for `host`, by an authority. */
  certificate(name: string, authority: string, host?: string): Promise<{ cert: string; key: string }>;
}

export async function credentialsFolder(): Promise<CredentialsFolder> {
  const path = await mkdtemp(join(tmpdir(), 'throughline-credentials-'));
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: path });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const file = (name: string) => join(path, name);
  return {
    path,
    async write(name, text) {
      await writeFile(file(name), text, { mode: 0o600 });
      return file(name);
    },
    async authority(name) {
      const out = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
      const san = ['-addext', 'subjectAltName=IP:127.0.0.1'];
      await openssl('req', '-x509', ...newKey, ...out, '-days', '2', '-subj', `/CN=${name}`, ...san);
      return file(`${name}.pem`);
    },
    async certificate(name, authority, host = 'IP:127.0.0.1') {
      const request = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`];
      await openssl('req', ...newKey, ...request, '-addext', `subjectAltName=${host}`);
      const by = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
      const signed = ['-copy_extensions', 'copyall', '-days', '2', '-out', `${name}.pem`];
      await openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...signed);
      return { cert: file(`${name}.pem`), key: file(`${name}.key`) };
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** A user's NKey: what the server is told, and what the user keeps. */
export function userKey(): { readonly publicKey: string; readonly seed: string } {
  const pair = nkeys.createUser();
  return { publicKey: pair.getPublicKey(), seed: text(pair.getSeed()) };
}

/** Limits of JetStream that hold for streams of so many replicas. */
export type Tiers = Readonly<
  Record<string, Readonly<Record<'mem_storage' | 'disk_storage' | 'streams' | 'consumer', number>>>
>;

/** A server of an operator, with one account, and a way to make creds files of its users. */
export function operatorMode(tiers?: Tiers): {
  readonly config: string;
  creds(expiresInSeconds?: number): string;
} {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const storage =
    tiers === undefined
      ? { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
      : { tiered_limits: tiers };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, ...storage };
  const sign = (by: Keys, of: Keys, nats: object, more: object = {}) =>
    jwt(by, { sub: of.getPublicKey(), name: 'test', nats: { version: 2, ...nats }, ...more });
  const accounts = [account, system].map((each) => {
    const of =
      each === account ? limits : { ...limits, tiered_limits: undefined, mem_storage: 0, disk_storage: 0 };
    return `${each.getPublicKey()}: ${sign(operator, each, { type: 'account', limits: of })}`;
  });
  return {
    config: [
      `operator: ${sign(operator, operator, { type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${accounts.join('\n')} }`,
    ].join('\n'),
    creds(expiresInSeconds) {
      const user = nkeys.createUser();
      const exp = expiresInSeconds === undefined ? {} : { exp: now() + expiresInSeconds };
      const signed = sign(account, user, { type: 'user', ...unlimited, pub: {}, sub: {} }, exp);
      return [
        '-----BEGIN NATS USER JWT-----',
        signed,
        '------END NATS USER JWT------',
        '',
        '-----BEGIN USER NKEY SEED-----',
        text(user.getSeed()),
        '------END USER NKEY SEED------',
        '',
      ].join('\n');
    },
  };
}

type Keys = ReturnType<typeof nkeys.createUser>;

function jwt(by: Keys, claims: object): string {
  const body = { iat: now(), iss: by.getPublicKey(), ...claims };
  const jti = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ ...body, jti })}`;
  return `${signed}.${Buffer.from(by.sign(Buffer.from(signed))).toString('base64url')}`;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
