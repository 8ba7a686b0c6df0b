/**
 * Turns texts into vectors, so that texts of like meaning lie close together.
 *
 * An implementer must give one vector for each text, in their order, all of one length and none of it zero or not a
 * number; must keep to the deadline that the signal brings; and must throw rather than answer with something else.
 */
export interface Embedder {
  /** Names model and provider, so that vectors of another one are told apart. */
  readonly model: string;

  /**
   * Embeds texts: at least one, none empty.
   *
   * @param signal ends the attempt when it fires
   * @throws ThroughlineError `unavailable` when it gets no vectors, even after retries;
   *   `config_invalid` when it is set up wrongly, as with a key that is refused
   * @throws TextsRefusedError when it refused these texts, and would refuse them again
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  close(): Promise<void>;
}
