import type { Method, OtherVerbs } from "../../../infra/gateway.ts";
import type { LocalApi } from "../declared/declarations.ts";

/** What answers a request: a function, or the gateway itself if the path does not have its verb. */
export type Route = Method | OtherVerbs;

/** The route that answers a request. */
export interface RouteMatch<Found extends Route = Route> {
  readonly route: Found;
  /** As it is declared: `/things/{id}`. */
  readonly path: string;
  /** Percent-encoded, as in the path; null if the path declares none. */
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

/** A node of the path tree; it has only nodes that lead to a method. */
interface Segment {
  readonly fixed: Map<string, Segment>;
  readonly parameters: Map<string, Segment>;
  readonly routes: Map<string, Route>;
}

/**
 * Finds routes as API Gateway does: first by path, where a literal segment wins over a parameter, then by verb, where
 * `ANY` comes last.
 */
export class RouteTable {
  readonly #root = emptySegment();

  constructor({ methods, otherVerbs }: Pick<LocalApi, "methods" | "otherVerbs">) {
    for (const method of methods) this.#segmentOf(method.path).routes.set(method.verb, method);
    for (const others of otherVerbs) this.#segmentOf(others.path).routes.set("ANY", others);
  }

  #segmentOf(path: string): Segment {
    const parts = path === "/" ? [] : path.slice(1).split("/");
    return parts.reduce(child, this.#root);
  }

  /**
   * Ignores one trailing slash.
   * @param path percent-encoded and never decoded here, so `%2F` stays inside its segment.
   */
  match(method: string, path: string): RouteMatch | undefined {
    if (!path.startsWith("/")) return undefined;
    const parts = path === "/" ? [] : path.slice(1).replace(/\/$/, "").split("/");
    const found = descend(this.#root, parts, []);
    const route = found?.segment.routes.get(method) ?? found?.segment.routes.get("ANY");
    if (found === undefined || route === undefined) return undefined;
    return {
      route,
      path: route.path,
      pathParameters: found.parameters.length > 0 ? Object.fromEntries(found.parameters) : null,
    };
  }
}

type Parameters = readonly (readonly [name: string, value: string])[];

function descend(
  segment: Segment,
  parts: readonly string[],
  parameters: Parameters,
): { readonly segment: Segment; readonly parameters: Parameters } | undefined {
  const [part, ...rest] = parts;
  if (part === undefined) return segment.routes.size > 0 ? { segment, parameters } : undefined;

  const fixed = segment.fixed.get(part);
  const exact = fixed && descend(fixed, rest, parameters);
  if (exact) return exact;
  if (part === "") return undefined;

  for (const [name, next] of segment.parameters) {
    const found = descend(next, rest, [...parameters, [name, part]]);
    if (found) return found;
  }
  return undefined;
}

function child(parent: Segment, part: string): Segment {
  const [, name] = /^\{(.+)\}$/.exec(part) ?? [];
  const siblings = name === undefined ? parent.fixed : parent.parameters;
  const key = name ?? part;
  const existing = siblings.get(key);
  if (existing) return existing;
  const created = emptySegment();
  siblings.set(key, created);
  return created;
}

function emptySegment(): Segment {
  return { fixed: new Map(), parameters: new Map(), routes: new Map() };
}
