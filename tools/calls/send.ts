/** One request to a service that may not run. */

/** A caller waits as long as API Gateway lets a function take, and a little more. */
const callMilliseconds = 35_000;

/**
 * Sends a request with a deadline.
 * @throws {Error} that says what to set when nothing answers.
 */
export async function send(url: string, request: RequestInit): Promise<Response> {
  const call = new AbortController();
  const timer = setTimeout(() => call.abort(), callMilliseconds).unref();
  try {
    return await fetch(url, { ...request, redirect: "manual", signal: call.signal });
  } catch (error) {
    // `fetch` of Node.js may leave a body whose abort, after it has rejected the headers, would end the process.
    clearTimeout(timer);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code =
      cause instanceof Error && "code" in cause ? cause.code : cause instanceof Error ? cause.name : "";
    throw new Error(
      `${new URL(url).origin} does not answer (${code}): run npm start, or give the address of a stage`,
    );
  }
}
