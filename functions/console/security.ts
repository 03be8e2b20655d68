/**
 * What a browser may do with the pages. Nothing is loaded from another origin, except the operator's own map if there
 * is one; there is no inline script, no inline style and no eval.
 * @param mapStyle the address of the operator's map; empty without one.
 * @param isDeployed whether the pages are a stage's, which has https alone. Hosts below its own are not ours to decide on.
 */
export function securityHeaders(mapStyle: string, isDeployed: boolean): Readonly<Record<string, string>> {
  const mapOrigin = mapStyle === "" ? [] : [new URL(mapStyle).origin];
  const policy = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    // Icons in style sheets are data; MapLibre decodes what it has loaded from blobs.
    "img-src": ["'self'", "data:", "blob:"],
    "connect-src": ["'self'", ...mapOrigin],
    "worker-src": ["'self'"],
    "base-uri": ["'self'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
  };
  return {
    "content-security-policy": Object.entries(policy)
      .map(([directive, sources]) => [directive, ...sources].join(" "))
      .join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    ...(isDeployed ? { "strict-transport-security": "max-age=31536000" } : {}),
    "x-content-type-options": "nosniff",
  };
}
