/** Programs that send a request, with the token of the environment variable TOKEN. */

/** The request that a program sends. */
export interface SnippetRequest {
  readonly url: string;
  readonly body: unknown;
}

/** A shell command that logs in as the variables EMAIL and PASSWORD say, and keeps the token in TOKEN. */
export function shellLogin(url: string): string {
  return [
    "export TOKEN=$(jq -n '{emailaddress: env.EMAIL, password: env.PASSWORD}' |",
    `  curl -s '${url}' -d @- |`,
    "  jq -r .Data.access_token)",
  ].join("\n");
}

/** Generators of the program, by the name of the language. */
export const languages = {
  curl: ({ url, body }) =>
    [
      `curl --compressed '${url}' \\`,
      '  -H "Authorization: Bearer $TOKEN" \\',
      "  -H 'Content-Type: application/json' \\",
      `  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
    ].join("\n"),
  JavaScript: ({ url, body }) =>
    [
      `const response = await fetch(${JSON.stringify(url)}, {`,
      '  method: "POST",',
      "  headers: {",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program.
      "    authorization: `Bearer ${process.env.TOKEN}`,",
      '    "content-type": "application/json",',
      "  },",
      `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`,
      "});",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program.
      "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);",
      "console.log(await response.json());",
    ].join("\n"),
  Python: ({ url, body }) =>
    [
      "import json, os, urllib.request",
      "",
      "request = urllib.request.Request(",
      `    ${JSON.stringify(url)},`,
      `    data=json.dumps(${indented(JSON.stringify(body, null, 2), "    ")}).encode(),`,
      "    headers={",
      `        "Authorization": f"Bearer {os.environ['TOKEN']}",`,
      '        "Content-Type": "application/json",',
      "    },",
      ")",
      "with urllib.request.urlopen(request) as response:",
      "    print(json.load(response))",
    ].join("\n"),
} as const satisfies Record<string, (request: SnippetRequest) => string>;

/** The name of a language. */
export type Language = keyof typeof languages;

/**
 * Formats JSON as an expression of JavaScript or Python. Requests contain no `true`, `false` or `null`, in which Python
 * differs.
 */
function indented(text: string, indent = "  "): string {
  return text.replaceAll("\n", `\n${indent}`);
}
