import type { Command } from "commander";
import { tokenOf } from "../calls/login.ts";
import { jsonIn, textOf } from "../json-text.ts";
import { type CallerOptions, type LoginOptions, loginOf, tokenFor, withCaller, withUrl } from "./login.ts";
import type { Print } from "./print.ts";

/** `ncs token`: an access token, as a caller gets it. */
export function addToken(command: Command, print: Print): void {
  withUrl(command)
    .requiredOption("--as <email>", "the login; its password is asked for, or read from NCS_PASSWORD")
    .action(async (options: LoginOptions & { readonly as: string }) => {
      print(await tokenOf(options.url, await loginOf(options.url, options.as)));
    });
}

interface CallOptions extends CallerOptions {
  readonly header?: readonly string[];
}

/** `ncs call`: one request, and its answer on standard output. */
export function addCall(command: Command, print: Print, note: Print): void {
  withCaller(command)
    .argument(
      "[operationId]",
      "as in the OpenAPI document, such as retrieveQosProfiles; lists all without one",
    )
    .argument(
      "[request]",
      "JSON, or @file: members that are parameters of the path or the query, and the body's",
    )
    .option("--header <name:value...>", "further headers of the request")
    .action(async (operationId: string | undefined, request: string | undefined, options: CallOptions) => {
      const { answer, operationTable } = await import("./call-operation.ts");
      if (operationId === undefined) {
        print(operationTable());
        return;
      }
      const token = await tokenFor(options);
      const { status, headers, body } = await answer({
        url: options.url,
        operationId,
        request: request === undefined ? {} : await requestIn(request),
        token,
        headers: headersIn(options.header ?? []),
      });
      note(
        `${status}${headers.get("x-correlator") === null ? "" : `  x-correlator: ${headers.get("x-correlator")}`}`,
      );
      if (body !== "") print(body);
      if (status >= 400) throw new Error(`${operationId} was answered with ${status}`);
    });
}

/**
 * The members of a request.
 * @param text JSON, or `@` and the name of a file with it.
 * @throws {Error} if it is no JSON object.
 */
export async function requestIn(text: string): Promise<Readonly<Record<string, unknown>>> {
  const value = jsonIn(text.startsWith("@") ? await textOf(text.slice(1)) : text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(
    "the request must be a JSON object, in single quotes for the shell, or @ and the name of a file",
  );
}

function headersIn(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new Error("--header must be a name, a colon and a value");
      return [name, value];
    }),
  );
}
