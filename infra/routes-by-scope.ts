import { type Endpoint, pathsOf } from "../shared/endpoint.ts";

/**
 * The routes that each scope permits, as the authorizer writes them into a policy. It reads them from its environment
 * instead of the declarations, which would add every area's schemas to its bundle and slow its start.
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
