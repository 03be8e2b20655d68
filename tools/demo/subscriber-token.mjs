// Prints a 3-legged token, by the key of the demo's client. In a checkout of the service:
// TOKEN=$(node tools/demo/subscriber-token.mjs http://127.0.0.1:3000)
import { readFileSync } from "node:fs";
import { importJWK, SignJWT } from "jose";

const [service = "http://127.0.0.1:3000", phoneNumber = "+34600000001"] = process.argv.slice(2);
const scope = "device-identifier:retrieve-identifier dpv:ServiceProvision";
const jwk = JSON.parse(readFileSync("tools/demo/client-key.json", "utf8"));
const { issuer } = await (await fetch(`${service}/.well-known/openid-configuration`)).json();

const assertion = await new SignJWT({ scope })
  .setProtectedHeader({ alg: jwk.alg, kid: jwk.kid })
  .setIssuer("demo-client")
  .setSubject(`tel:${phoneNumber}`)
  .setAudience(issuer)
  .setExpirationTime("1 minute")
  .setJti(crypto.randomUUID())
  .sign(await importJWK(jwk));

const response = await fetch(`${service}/oauth2/token`, {
  method: "POST",
  body: new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }),
});
const answer = await response.json();
if (!response.ok) throw new Error(`${response.status} ${answer.error}: ${answer.error_description}`);
console.log(answer.access_token);
