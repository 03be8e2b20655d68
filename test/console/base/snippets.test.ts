import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { languages, type SnippetRequest, shellLogin } from "../../../console/base/snippets.ts";
import { clientProgram } from "../../../console/reference/client-program.ts";

const body = { area: { areaType: "POLYGON", note: 'it\'s \\ "here"' }, precision: 7 };
const request = { method: "POST", url: "https://api.example.com/live/populationdensitydata/retrieve", body };

test("the curl program has its body in several lines, quoted as one argument of the shell", () => {
  const [, quoted = ""] = /-d '([\s\S]*)'$/.exec(languages.curl(request)) ?? [];

  expect(JSON.parse(quoted.replaceAll("'\\''", "'"))).toEqual(body);
  expect(quoted.split("\n").length).toBeGreaterThan(3);
  expect(quoted.replaceAll("'\\''", "")).not.toContain("'");
});

test("the curl program is one command of the shell for any URL, token and headers", () => {
  const url = "https://api.example.com/profiles/O'Hara;%20id";
  const program = languages.curl({ method: "GET", url, token: "it's", headers: { Accept: "a'b" } });

  const shell = spawnSync("sh", ["-c", `curl() { printf '%s\\n' "$@"; }\n${program}`], { encoding: "utf8" });

  expect(shell.stdout.trim().split("\n")).toEqual([
    url,
    "--compressed",
    "-H",
    "Authorization: Bearer it's",
    "-H",
    "Accept: a'b",
  ]);
});

test("the login command sends EMAIL and PASSWORD, and keeps the token in TOKEN, with curl and Node.js alone", () => {
  const curl = `curl() { cat >&2; echo '{"Data":{"access_token":"a.b.c"}}'; }`;
  const program = `${curl}\n${shellLogin("https://api.example.com/v3/profile/authenticate")}\necho "$TOKEN"`;
  const login = { emailaddress: "o'hara@example.com", password: 'a "secret" pass' };

  const env = { PATH: dirname(process.execPath), EMAIL: login.emailaddress, PASSWORD: login.password };
  const shell = spawnSync("/bin/sh", ["-c", program.replace("cat", "/bin/cat")], { encoding: "utf8", env });

  expect(JSON.parse(shell.stderr)).toEqual(login);
  expect(shell.stdout.trim()).toBe("a.b.c");
});

test("the login command prints the service's error where the login is not answered, and fails", () => {
  const error = { status: 504, code: "TIMEOUT", message: "It took too long." };
  const program = `curl() { echo '${JSON.stringify(error)}'; }\n${shellLogin("https://api.example.com/login")}`;

  const env = { PATH: dirname(process.execPath) };
  const { stderr, status } = spawnSync("/bin/sh", ["-ec", program.replace("export TOKEN", "TOKEN")], {
    encoding: "utf8",
    env,
  });

  expect(stderr).toContain("code: 'TIMEOUT'");
  expect(stderr).not.toContain("TypeError");
  expect(status).toBe(1);
});

test("the login command prints what curl says where no service answers, and fails without a stack trace", () => {
  const refused = "curl: (7) Failed to connect";
  const curl = `curl() { case "$*" in *-sS*) echo '${refused}' >&2 ;; esac; return 7; }`;
  const program = `${curl}\n${shellLogin("https://api.example.com/login")}`;

  const env = { PATH: dirname(process.execPath) };
  const { stderr, status } = spawnSync("/bin/sh", ["-ec", program.replace("export TOKEN", "TOKEN")], {
    encoding: "utf8",
    env,
  });

  expect(stderr.trim()).toBe(refused);
  expect(status).toBe(1);
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

test.each(Object.entries(languages))("the %s program has the token that it is given", (_, write) => {
  const program = write({ ...request, token: "a.b.c" });

  expect(program).toContain("Bearer a.b.c");
  expect(program).not.toContain("TOKEN");
});

test("programs without a body name any method that is not implied, and read text where text is accepted", () => {
  const deletion: SnippetRequest = { method: "DELETE", url: "https://api.example.com/secrets/1" };
  const table: SnippetRequest = { ...request, headers: { Accept: "text/csv" } };

  expect(languages.curl(deletion)).toMatch(/^curl -X DELETE 'https:\/\/[^']+' (?!.* -d )/);
  expect(languages.curl({ ...deletion, method: "GET" })).not.toContain("-X");
  expect(languages.JavaScript(deletion)).toContain('method: "DELETE"');
  expect(languages.JavaScript(table)).toContain("response.text()");
  expect(languages.Python(table)).toContain("response.read().decode()");
});

test("the Python program writes the constants of JSON as Python's, outside of texts", () => {
  const program = languages.Python({ ...request, body: { flag: true, none: null, text: "true or null" } });

  expect(program).toContain('"flag": True');
  expect(program).toContain('"none": None');
  expect(program).toContain('"true or null"');
});

test("the TypeScript program calls the client with the parameters, the format and the body", () => {
  const program = clientProgram({
    method: "GET",
    path: "/notes/{id}",
    baseUrl: "https://api.example.com",
    parameters: { path: { id: "n1" }, query: { perPage: 5 }, header: {} },
    accept: "text/csv",
  });

  expect(program.replaceAll(/\s+/g, " ")).toContain(
    'client.GET("/notes/{id}", { params: { path: { id: "n1" }, query: { perPage: 5 } }, ' +
      'headers: { Accept: "text/csv" }, parseAs: "text" })',
  );
});
