import type { RequestListener } from "node:http";

/**
 * Whether a `Host` header names this server: a loopback name with the server's own port, or an allowed name with any
 * port. A missing header does not.
 * @param allowed in lower case, without ports.
 */
export function isOwnHost(host: string | undefined, port: number, allowed: readonly string[]): boolean;

/**
 * Answers the requests of programs that name this server; others, and all that have an `Origin`, as those of web pages
 * do, get 403 in the form of AWS's errors, without CORS headers.
 */
export function onlyPrograms(answer: RequestListener, allowed: readonly string[]): RequestListener;
