import { expect, test } from "vitest";
import { incomingRequest } from "../../../shared/http/event.ts";

const identity = { sourceIp: "192.0.2.1" };
const byName = "/qualityondemand/qos-profiles/{name}";

test.each([
  ["api.example.com", "/live/qualityondemand/qos-profiles/QOS_E", byName, "https://api.example.com/live"],
  ["api.example.com", "/qualityondemand/qos-profiles/QOS_E", byName, "https://api.example.com"],
  ["api.example.com", "/live//openapi.json/", "/openapi.json", "https://api.example.com/live"],
  ["api.example.com", "/live", "/", "https://api.example.com/live"],
])(
  "an event for host %s, path %s and resource %s has the address %s",
  (domainName, path, resource, address) => {
    const event = { resource, requestContext: { identity, domainName, path } };
    expect(incomingRequest(event).address).toBe(address);
  },
);

test.each([
  ["127.0.0.1:3000", "http", "http://127.0.0.1:3000"],
  ["[::1]:3000", "http", "http://[::1]:3000"],
  ["api.example.com:443", "https", "https://api.example.com:443"],
  ["api.example.com:443", undefined, "https://api.example.com:443"],
  ["api.example.com", "http", "https://api.example.com"],
])("an event for host %s with X-Forwarded-Proto %s has the address %s", (domainName, scheme, address) => {
  const headers = scheme === undefined ? null : { "X-Forwarded-Proto": scheme };
  expect(incomingRequest({ headers, requestContext: { identity, domainName } }).address).toBe(address);
});

test("an event without a domain name has no address", () => {
  expect(incomingRequest({ requestContext: { identity } }).address).toBeUndefined();
});

test("a list header joins all lines of a header that was sent several times", () => {
  const headers = { Accept: "application/json;q=0.1" };
  const multiValueHeaders = { Accept: ["text/csv", "application/json;q=0.1"] };
  const event = { headers, multiValueHeaders, requestContext: { identity } };
  expect(incomingRequest(event).listHeader("accept")).toBe("text/csv,application/json;q=0.1");
  expect(incomingRequest(event).header("accept")).toBe("application/json;q=0.1");
  expect(incomingRequest({ ...event, multiValueHeaders: null }).listHeader("accept")).toBe(headers.Accept);
});
