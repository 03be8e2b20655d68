import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import type { Code } from "../../shared/errors.ts";
import { code, markdownTable } from "./generated-part.ts";
import { neverAnswered } from "./never-answered.ts";

/** The codes that functions never answer with, each with the reason, as a Markdown table. */
export function neverAnsweredTable(): string {
  const declared: readonly Endpoint[] = [...endpoints, ...protocolEndpoints];
  const reasons: Readonly<Record<string, Readonly<Partial<Record<Code, string>>>>> = neverAnswered;
  const rows = declared.flatMap(({ id, method, path }) => {
    const entries = Object.entries(reasons[id] ?? {});
    return [...new Set(entries.map(([, reason]) => reason))].map((reason) => {
      const codes = entries.filter(([, one]) => one === reason).map(([name]) => code(name));
      return [code(`${method} ${path}`), codes.join(", "), reason];
    });
  });
  return markdownTable(["Operation", "Code", "Why not"], rows);
}
