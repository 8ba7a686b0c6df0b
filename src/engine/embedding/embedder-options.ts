export type EmbedderOptions = HttpEmbedderOptions | LocalEmbedderOptions;

export interface HttpEmbedderOptions {
  readonly kind: 'http';
  /** `http://127.0.0.1:11434`, with or without `/v1`, or the whole address ending in `/embeddings`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Milliseconds that one request may take. */
  readonly timeoutMs: number;
  /** Texts in one request. */
  readonly batch: number;
}

export interface LocalEmbedderOptions {
  readonly kind: 'local';
  /** Directory with `config.json`, `tokenizer.json` and an ONNX file, as model hubs lay it out. */
  readonly dir: string;
}
