import * as z from "zod/mini";
import type { ListPosition } from "../delivery/job-list-store.ts";

const position = z.tuple([z.iso.datetime(), z.uuid()]);

/** The token of the page that follows a position; opaque to callers. */
export function pageTokenOf({ listedAt, operationId }: ListPosition): string {
  return Buffer.from(JSON.stringify([listedAt, operationId])).toString("base64url");
}

/** The position of a token; undefined for what `pageTokenOf` never returns. */
export function positionOf(token: string): ListPosition | undefined {
  const { success, data } = position.safeParse(jsonOf(token));
  if (!success) return undefined;
  const [listedAt, operationId] = data;
  const found = { listedAt, operationId };
  return pageTokenOf(found) === token ? found : undefined;
}

/** What a token holds; undefined when that is not JSON. */
function jsonOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
