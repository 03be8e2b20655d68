import { oneOf } from "./format.ts";

/** Whether clients get tokens at `/oauth2/token`; a stage without it has none of its paths and functions. */
export const TOKEN_ENDPOINT = { name: "TOKEN_ENDPOINT", default: "off", format: () => oneOf("off", "on") };
