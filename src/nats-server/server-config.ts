/** The name of the configuration file in the store directory. */
export const CONFIG_FILE = 'nats-server.conf';

/** What goes into the configuration file of one server. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number | undefined;
  readonly serverName: string;
  /** JetStream's parent folder. */
  readonly storeDir: string;
  readonly syncInterval: string | undefined;
  readonly maxPayloadBytes: number | undefined;
  readonly extraConfig: string | undefined;
}

/** The text of a nats-server configuration file. `extraConfig` comes last, as it is. */
export function renderServerConfig(config: ServerConfig): string {
  const sync = config.syncInterval === undefined ? '' : `, sync_interval: ${quote(config.syncInterval)}`;
  const lines = [
    `server_name: ${quote(config.serverName)}`,
    `host: ${quote(config.host)}`,
    `port: ${config.port}`,
    ...(config.monitorPort === undefined ? [] : [`http: ${quote(`${config.host}:${config.monitorPort}`)}`]),
    ...(config.maxPayloadBytes === undefined ? [] : [`max_payload: ${config.maxPayloadBytes}`]),
    `jetstream { store_dir: ${quote(config.storeDir)}${sync} }`,
    ...(config.extraConfig === undefined ? [] : [config.extraConfig]),
  ];
  return `${lines.join('\n')}\n`;
}

/** A double-quoted string; the server's escapes for quotes and backslashes are JSON's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
