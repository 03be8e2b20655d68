/** Uses what the browser keeps, with the tab or beyond it; undefined where the user forbids it. */
export function withStorage<Result>(
  kind: "sessionStorage" | "localStorage",
  use: (storage: Storage) => Result,
): Result | undefined {
  try {
    return use(window[kind]);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
