/**
 * A client of the Network Capabilities Service for programs in TypeScript, in Node.js and in browsers. Copy this
 * folder into your project and install `openapi-fetch`; nothing else of this project is needed.
 *
 *     const baseUrl = "https://api.operator.example";
 *     const token = login({ baseUrl, emailaddress: "app@example.com", password });
 *     const client = createClient({ baseUrl, token });
 *     const { data, error } = await client.GET("/qualityondemand/qos-profiles/{name}", {
 *       params: { path: { name: "QOS_E" } },
 *     });
 *
 * `schema.d.ts`, generated from the OpenAPI document, types paths, bodies, answers and errors. `waitForOperation` follows
 * the delivery of an answer to a sink; `receiver.ts` is such a sink, for Node.js and runtimes that have `node:crypto`.
 */
export { type ClientOptions, createClient, type NetworkCapabilities } from "./client.ts";
export { type LoginOptions, login } from "./login.ts";
export { ServiceError } from "./service-error.ts";
export { type WaitOptions, waitForOperation } from "./wait-for-operation.ts";
