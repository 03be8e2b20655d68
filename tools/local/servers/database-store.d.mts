/** Prepares the next store that dynalite creates, and returns a function that waits until it is open. */
export function prepareStore(folder?: string): () => Promise<void>;
