import { areas } from "../../functions/areas.ts";

/** The scopes of all areas. */
export const everyScope: readonly string[] = areas.flatMap(({ scopes }) => Object.keys(scopes));
