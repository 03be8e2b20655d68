import type { Command } from "commander";
import { areas } from "../../functions/areas.ts";
import packageJson from "../../package.json" with { type: "json" };
import { httpRequests } from "../docs/http-requests.ts";
import { canonicalDocument } from "../docs/openapi.ts";
import { withUrl } from "./login.ts";
import type { Print } from "./print.ts";

/** `ncs requests`: every operation as a request of an `.http` file. */
export function addRequests(command: Command, print: Print): void {
  withUrl(command).action(({ url }: { readonly url: string }) => {
    print(httpRequests(canonicalDocument(areas, packageJson.version), url));
  });
}
