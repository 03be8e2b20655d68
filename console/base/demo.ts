/** What `npm start` has, and the page fills in where this machine serves it. */
import { acceptingSinkPath } from "../../shared/sandbox/sinks.ts";
import { apiUrl } from "./http.ts";

/** Whether this machine serves the page. */
export const isLocal = ["127.0.0.1", "[::1]", "localhost"].includes(location.hostname);

/** The login of the demo data (`tools/demo/profiles.json`); undefined elsewhere. */
export const demoLogin = isLocal
  ? { emailaddress: "app@example.com", password: "correct horse battery staple" }
  : undefined;

/** A login of the demo data that is linked to a subscription; undefined elsewhere. */
export const subscriberLogin = isLocal
  ? { emailaddress: "ada@example.com", password: "subscriber one pass" }
  : undefined;

/** Whether the demo's city is what is covered. */
export const isDemoCity = document.querySelector<HTMLMetaElement>('meta[name="demo-city"]')?.content === "on";

/** The latitude and the longitude of what is covered by a model, where it is not the demo's city; none elsewhere. */
export const startAt = (document.querySelector<HTMLMetaElement>('meta[name="start-at"]')?.content ?? "")
  .split(",")
  .filter((degrees) => degrees !== "")
  .map(Number);

/**
 * How one covers other ground, as a command and the rest of a sentence; undefined elsewhere.
 * @param option that covers it, as `aroundOption` has it
 */
export function otherGround(option = "--around PLACE"): readonly [command: string, rest: string] | undefined {
  return isLocal ? [`npm start -- ${option}`, " covers another place, by a model."] : undefined;
}

/** A sink that takes every delivery; undefined elsewhere. */
export const demoSink = isLocal ? apiUrl(acceptingSinkPath.slice(1)) : undefined;
