import { ApiError } from "../errors.ts";
import { isNestedTooDeep, nestedTooDeep } from "../nesting.ts";
import { invalidJsonAt } from "./json-position.ts";

const maximumBytes = 64 * 1024;

/**
 * Reads a request's body as a JSON object.
 *
 * @param body the event's body, base64 if API Gateway passed it as bytes.
 * @throws {ApiError} `INVALID_ARGUMENT` for more than 64 KiB, bytes that are not UTF-8, text that is not JSON, a top
 * level that is not an object, and nesting deeper than 32. The message gives the position of a JSON error, but never
 * content of the body.
 */
export function parseJsonObject(body: string | null, isBase64Encoded: boolean): Record<string, unknown> {
  const value = parse(bytesOf(body, isBase64Encoded));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused("The body is not a JSON object.");
  }
  if (isNestedTooDeep(value)) throw refused(`The body ${nestedTooDeep}.`);
  return value as Record<string, unknown>;
}

/**
 * Reads a request's body as a form (RFC 6749, appendix B). A parameter without a value counts as omitted (section 3.2).
 *
 * @throws {ApiError} `INVALID_ARGUMENT` for more than 64 KiB, bytes that are not UTF-8, and a parameter that is there
 * twice.
 */
export function parseForm(body: string | null, isBase64Encoded: boolean): Record<string, string> {
  const text = decode(bytesOf(body, isBase64Encoded));
  const sent = [...new URLSearchParams(text)].filter(([, value]) => value !== "");
  const form = new Map(sent);
  if (form.size < sent.length) throw refused("A parameter is there more than once.");
  return Object.fromEntries(form);
}

function bytesOf(body: string | null, isBase64Encoded: boolean): Buffer {
  if (body === null || body === "") throw refused("The request has no body.");
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.byteLength > maximumBytes) throw refused("The body is larger than 64 KiB.");
  return bytes;
}

function parse(bytes: Buffer): unknown {
  const text = decode(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { line, column } = invalidJsonAt(text) ?? { line: 1, column: 1 };
    throw refused(`The body is not JSON: see line ${line}, column ${column}.`);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw refused("The body is not UTF-8.");
    throw error;
  }
}

function refused(message: string): ApiError {
  return new ApiError("INVALID_ARGUMENT", { message });
}
