/**
 * A model's name as the tables of this folder match it: in small letters and without what stands before the last slash, so
 * that `openai/gpt-4o` and `accounts/fireworks/models/llama-v3p1-70b` read like `gpt-4o` and `llama-v3p1-70b`.
 */
export function modelName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .trim()
    .toLowerCase()
}
