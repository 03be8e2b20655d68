import { expect, test } from "vitest";
import { languages } from "../../../console/answer/snippets.ts";

const body = { area: { areaType: "POLYGON", note: 'it\'s \\ "here"' }, precision: 7 };
const request = { url: "https://api.example.com/live/populationdensitydata/retrieve", body };

test("the curl program has its body in several lines, quoted as one argument of the shell", () => {
  const [, quoted = ""] = /-d '([\s\S]*)'$/.exec(languages.curl(request)) ?? [];

  expect(JSON.parse(quoted.replaceAll("'\\''", "'"))).toEqual(body);
  expect(quoted.split("\n").length).toBeGreaterThan(3);
  expect(quoted.replaceAll("'\\''", "")).not.toContain("'");
});

test("the JavaScript program sends the URL, the token from TOKEN and the body", async () => {
  const requests: unknown[] = [];
  const fetch = async (url: string, options: { headers: object; body: string }) => {
    requests.push({ url, headers: options.headers, body: JSON.parse(options.body) });
    return { ok: true, json: async () => ({}) };
  };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const program = new AsyncFunction("fetch", "process", "console", languages.JavaScript(request));
  await program(fetch, { env: { TOKEN: "a-token" } }, { log: () => {} });

  expect(requests).toEqual([
    {
      url: request.url,
      headers: { authorization: "Bearer a-token", "content-type": "application/json" },
      body,
    },
  ]);
});

test("the Python program sends the body as a dictionary", () => {
  const [, dictionary = ""] = /json\.dumps\(([\s\S]*?)\)\.encode\(\)/.exec(languages.Python(request)) ?? [];

  // Text, numbers, lists and objects are written alike in both languages.
  expect(JSON.parse(dictionary)).toEqual(body);
});

test.each(Object.entries(languages))("the %s program reads the token from the variable TOKEN", (_, write) => {
  expect(write(request)).toContain("TOKEN");
});
