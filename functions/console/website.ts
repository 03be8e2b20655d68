import { website } from "../../shared/website.ts";

/**
 * A map of the densities and a reference to try. The files are those of `console/`, as `tools/build-console.ts` makes
 * them.
 */
export const consoleWebsite = website({
  id: "console/publish",
  operationId: "publishConsole",
  paths: ["/", "/reference", "/llms.txt", "/assets/{name}"],
  publicBecause:
    "Pages without data: what they show comes from the API, with the token of the person who logs in there.",
});
