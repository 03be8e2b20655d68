import { demoLogins } from "../demo-logins.ts";

/** What to do with a service that has just started: its pages, a login, a first call. */
export function nextSteps(
  url: string,
  paths: readonly string[],
  { hasDemoLogins, around }: { readonly hasDemoLogins: boolean; readonly around?: string | undefined },
): string {
  const pages = [
    ["/", hasDemoLogins ? "Map of the demo" : "Map"],
    ["/reference", "Reference"],
    ["/openapi.json", "OpenAPI document"],
  ] as const;
  const lines = pages
    .filter(([path]) => paths.includes(path))
    .map(([path, what]) => `${`${what}:`.padEnd(18)} ${url}${path}`);
  const port = new URL(url).port;
  const at = port === "3000" ? "" : ` --url ${url}`;
  const [login] = demoLogins();
  const steps = hasDemoLogins
    ? [
        `${"Login:".padEnd(18)} ${login?.EmailAddress}, password "${login?.password}"`,
        `${"First call:".padEnd(18)} ${firstCall} --as ${login?.EmailAddress}${at} ${firstRequest}`,
        around === undefined
          ? `${"Another place:".padEnd(18)} npm start -- --around "Nairobi"`
          : `${"Covered:".padEnd(18)} ${around}, by a model, nobody was counted`,
      ]
    : [`${"Import more:".padEnd(18)} npm run ncs -- import devices FILE --local ${port}`];
  return ["", ...lines, ...steps, "", "Ctrl-C stops it. Requests as they are answered:", ""].join("\n");
}

const firstCall = "npm run ncs -- call retrieveQosProfiles";
const firstRequest = `'{"device":{"phoneNumber":"+34600000001"}}'`;
