/** The part of `@huggingface/transformers` that is used: the package is optional and missing at compile time. */
declare module '@huggingface/transformers' {
  export const env: { allowRemoteModels: boolean; allowLocalModels: boolean };

  export interface FeatureExtractor {
    (
      texts: string[],
      options: { pooling: 'mean' | 'cls'; normalize: boolean },
    ): Promise<{ readonly dims: readonly number[]; readonly data: ArrayLike<number> }>;
    dispose(): Promise<unknown>;
  }

  export function pipeline(
    task: 'feature-extraction',
    model: string,
    options: { local_files_only: boolean; dtype: string; subfolder: string; model_file_name: string },
  ): Promise<FeatureExtractor>;
}
