import { expect, test } from "vitest";
import { languages } from "../../console/answer/snippets.ts";

const body = { area: { areaType: "POLYGON", note: 'it\'s \\ "here"' }, precision: 7 };
const request = { url: "https://api.example.com/live/populationdensitydata/retrieve", body };

test("the request in curl has the body in one argument of a shell", () => {
  const [, quoted = ""] = /-d '([\s\S]*)'$/.exec(languages.curl(request)) ?? [];

  expect(JSON.parse(quoted.replaceAll("'\\''", "'"))).toEqual(body);
  expect(quoted.replaceAll("'\\''", "")).not.toContain("'");
});

test("the request in JavaScript is sent as it is shown", async () => {
  const sent: unknown[] = [];
  const fetch = async (url: string, options: { headers: object; body: string }) => {
    sent.push({ url, headers: options.headers, body: JSON.parse(options.body) });
    return { ok: true, json: async () => ({}) };
  };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const program = new AsyncFunction("fetch", "process", "console", languages.JavaScript(request));
  await program(fetch, { env: { TOKEN: "a-token" } }, { log: () => {} });

  expect(sent).toEqual([
    {
      url: request.url,
      headers: { authorization: "Bearer a-token", "content-type": "application/json" },
      body,
    },
  ]);
});

test("the request in Python has the body as a dictionary", () => {
  const [, dictionary = ""] = /json\.dumps\(([\s\S]*?)\)\.encode\(\)/.exec(languages.Python(request)) ?? [];

  // Text, numbers, lists and objects are written alike in both languages.
  expect(JSON.parse(dictionary)).toEqual(body);
});

test("no program has a token in it: each reads it from its environment", () => {
  for (const write of Object.values(languages)) expect(write(request)).toContain("TOKEN");
});
