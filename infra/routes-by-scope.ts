import { type Endpoint, pathsOf } from "../shared/endpoint.ts";

/**
 * The routes each scope opens, as the authorizer writes them into a policy. It gets them from its environment: the
 * declarations would bring the schemas of every area with them, and the authorizer must start fastest.
 */
export function routesByScope(declared: readonly Endpoint[]): Record<string, string[]> {
  const routes: Record<string, string[]> = {};
  for (const endpoint of declared) {
    if (endpoint.scope === null) continue;
    const opened = pathsOf(endpoint).map((path) => `${endpoint.method}${path.replaceAll(/\{[^}]+\}/g, "*")}`);
    routes[endpoint.scope] = [...(routes[endpoint.scope] ?? []), ...opened];
  }
  return routes;
}
