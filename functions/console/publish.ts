import { readFileSync } from "node:fs";
import { isOnLambda, isSamLocal, pagesFolder, setting } from "../../shared/environment.ts";
import type { IncomingRequest } from "../../shared/http/event.ts";
import { serveWebsite, type WebFile } from "../../shared/http/serve-website.ts";
import { DEMO_CITY } from "../../shared/variables/demo-city.ts";
import { EXAMPLES_AT } from "../../shared/variables/examples-at.ts";
import { MAP_STYLE } from "../../shared/variables/map-style.ts";
import { securityHeaders } from "./security.ts";
import { consoleWebsite } from "./website.ts";

/** Made by `tools/build-console.ts`: in a local run where it says, otherwise next to the function's bundle. */
const folder = pagesFolder() ?? new URL("./console/", import.meta.url);

/** The media types by the names of files. */
let mediaTypes: Readonly<Record<string, string>> | undefined;

const files = new Map<string, Buffer>();
let page: string | undefined;
let agentsText: string | undefined;

/**
 * Serves the pages, which differ in their path alone, a text for agents, and the pages' assets, whose names have the
 * hash of their content.
 */
export const handler = serveWebsite(consoleWebsite, (incoming) => {
  const headers = securityHeaders(setting(MAP_STYLE), isOnLambda() && !isSamLocal());
  switch (incoming.resource) {
    case "/assets/{name}":
      return asset(incoming.pathParameters.name ?? "", headers);
    case "/llms.txt":
      return { headers: { ...headers, ...textHeaders }, text: agentsTextAt(incoming) };
    default:
      return { headers: { ...headers, ...pageHeaders }, text: pageAt(incoming) };
  }
});

const pageHeaders = { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" };
const textHeaders = { "content-type": "text/plain; charset=utf-8", "cache-control": "public, max-age=300" };

/** @returns undefined for any name but that of an asset, so that no other file is ever read. */
function asset(name: string, headers: WebFile["headers"]): WebFile | undefined {
  mediaTypes ??= JSON.parse(readFileSync(new URL("assets.json", folder), "utf8")) as Record<string, string>;
  const type = Object.hasOwn(mediaTypes, name) ? mediaTypes[name] : undefined;
  if (type === undefined) return undefined;
  const text = files.get(name) ?? readFileSync(new URL(`assets/${name}.gz`, folder));
  files.set(name, text);
  const cache = { "cache-control": "public, max-age=31536000, immutable" };
  return { headers: { ...headers, ...cache, "content-type": type }, text };
}

/** The page says where it is, as its links are relative: a stage's path may lack the slash at its end. */
function pageAt({ address }: IncomingRequest): string {
  page ??= readFileSync(new URL("index.html", folder), "utf8");
  const base = address === undefined ? "/" : `${new URL(address).pathname.replace(/\/$/, "")}/`;
  return page
    .replace("{base}", () => escaped(base))
    .replace("{mapStyle}", () => escaped(setting(MAP_STYLE)))
    .replace("{demoCity}", setting(DEMO_CITY) ? "on" : "")
    .replace("{startAt}", setting(EXAMPLES_AT).join());
}

/** What agents and people with a shell need to call the service: `docs/llms.txt`, with the address that was asked. */
function agentsTextAt({ address = "" }: IncomingRequest): string {
  agentsText ??= readFileSync(new URL("llms.txt", folder), "utf8");
  return agentsText.replaceAll("{address}", () => address);
}

function escaped(text: string): string {
  return text.replaceAll(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
