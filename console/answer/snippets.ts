/** A request as a program that sends it. The token is left out: it is in the variable TOKEN. */

/** What the examples send. */
export interface SentRequest {
  readonly url: string;
  readonly body: unknown;
}

/** The languages of the examples, with what they are called. */
export const languages = {
  curl: ({ url, body }) =>
    [
      `curl --compressed '${url}' \\`,
      '  -H "Authorization: Bearer $TOKEN" \\',
      "  -H 'Content-Type: application/json' \\",
      `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
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
} as const satisfies Record<string, (request: SentRequest) => string>;

/** A language of the examples. */
export type Language = keyof typeof languages;

/** JSON is also an expression of both languages: it has no `true`, `false` and `null` here. */
function indented(text: string, indent = "  "): string {
  return text.replaceAll("\n", `\n${indent}`);
}
