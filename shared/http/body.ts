import { ApiError } from "../errors.ts";

const maximumBytes = 64 * 1024;
const maximumDepth = 32;

/**
 * Reads a request's body as a JSON object.
 *
 * @param sent the body of the event, base64 if API Gateway passed it as bytes.
 * @throws {ApiError} `INVALID_ARGUMENT` for more than 64 KiB, bytes that are not UTF-8, text that is not JSON,
 * a top level that is not an object, and nesting deeper than 32.
 */
export function parseJsonObject(sent: string | null, isBase64Encoded: boolean): Record<string, unknown> {
  if (sent === null || sent === "") throw refused("The request has no body.");
  const bytes = Buffer.from(sent, isBase64Encoded ? "base64" : "utf8");
  if (bytes.byteLength > maximumBytes) throw refused("The body is larger than 64 KiB.");
  const value = parse(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused("The body is not a JSON object.");
  }
  if (isDeeperThan(maximumDepth, value)) throw refused("The body is nested too deeply.");
  return value as Record<string, unknown>;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw refused("The body is not JSON.");
    if (error instanceof TypeError) throw refused("The body is not UTF-8.");
    throw error;
  }
}

/** Walks level by level: a body may be nested deeper than the stack allows to recurse. */
function isDeeperThan(maxDepth: number, value: object): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level
      .flatMap((container) => Object.values(container))
      .filter((member): member is object => typeof member === "object" && member !== null);
  }
  return false;
}

function refused(message: string): ApiError {
  return new ApiError("INVALID_ARGUMENT", { message });
}
