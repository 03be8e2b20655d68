import { html } from "../base/dom.ts";
import { codeCard } from "./code-card.ts";
import { type ApiDocument, type Operation, resolve } from "./document.ts";
import { examplesOf } from "./draft.ts";

/** An example of a response, and how people choose it. */
interface ResponseExample {
  readonly label: string;
  readonly value: unknown;
}

/** Creates the card with the examples of an operation's responses, of which one is shown. */
export function exampleCard(document: ApiDocument, operation: Operation): HTMLElement {
  const examples = responseExamples(document, operation);
  const select = html(
    "select",
    { "aria-label": `Response: ${operation.summary}` },
    ...examples.map(({ label }, index) => html("option", { value: index }, label)),
  );
  const card = codeCard(`Response: ${operation.summary}`, select);
  const show = () => card.show(textOf(examples[Number(select.value)]?.value));
  select.addEventListener("change", show);
  show();
  return card.element;
}

/** A body as people read it. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function responseExamples(document: ApiDocument, { responses }: Operation): readonly ResponseExample[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    Object.entries(resolve(document, response).content ?? {}).flatMap(([mediaType, content]) =>
      examplesOf(document, content).map(({ name, value }, index) => ({
        label: status.startsWith("2")
          ? `${status} ${mediaType}${index === 0 ? "" : ` (${index + 1})`}`
          : `${status} ${name}`,
        value,
      })),
    ),
  );
}
