/** Where an issuer's metadata is, below its address (OpenID Connect Discovery 1.0, section 4). */
export const discoveryPath = "/.well-known/openid-configuration";

/** The address of a path of an issuer that is an address. */
export function below(issuer: string, path: `/${string}`): string {
  return issuer.replace(/\/$/, "") + path;
}
