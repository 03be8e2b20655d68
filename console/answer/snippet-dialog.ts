import { copyText } from "../base/copy.ts";
import { buttonTo, element, html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { type Language, languages, type SnippetRequest, shellLogin } from "../base/snippets.ts";

/** Shows requests as a program to copy, in several languages. */
export function showSnippets(requests: readonly SnippetRequest[]): void {
  const dialog = element<HTMLDialogElement>("request");
  const code = html("code");
  const copied = html("span", { class: "note" });
  const names = Object.keys(languages) as Language[];
  const choose = (language: Language) => {
    code.textContent = requests.map(languages[language]).join("\n\n");
    copied.textContent = "";
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.textContent === language));
    }
  };
  const buttons = names.map((name) => buttonTo(name, () => choose(name), { "aria-pressed": "false" }));
  const copy = async () => {
    copied.textContent = await copyText(code);
  };
  dialog.replaceChildren(
    html("h2", { id: "request-title" }, "This request as a program"),
    html("div", { class: "segments", role: "group", "aria-label": "Language" }, ...buttons),
    html("pre", { tabindex: 0, role: "region", "aria-label": "Program" }, code),
    html(
      "p",
      { class: "note" },
      "The programs read an access token from the environment variable TOKEN. Export EMAIL and PASSWORD, and get one:",
    ),
    html(
      "pre",
      { tabindex: 0, role: "region", "aria-label": "Login" },
      html("code", {}, shellLogin(apiUrl("v3/profile/authenticate"))),
    ),
    html(
      "div",
      { class: "row" },
      buttonTo("Copy", copy, { class: "primary" }),
      buttonTo("Close", () => dialog.close()),
      copied,
    ),
  );
  choose("curl");
  dialog.showModal();
}
