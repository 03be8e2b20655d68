import { errors } from "../../shared/errors.ts";
import {
  type Outcome,
  type SandboxNumber,
  sandboxDate,
  sandboxNumbers,
} from "../../shared/sandbox/numbers.ts";

/** The numbers of the sandbox as a Markdown table: what each is, and what is answered about it. */
export function sandboxTable(): string {
  const row = ({ phoneNumber, about, outcomes }: SandboxNumber) => [
    `\`${phoneNumber}\``,
    about,
    textOf(outcomes["qos-profiles"]),
    textOf(outcomes["number-recycling"]),
    textOf(outcomes["device-identifier"]),
  ];
  const head = ["Number", "What it is", "QoS profiles", `Recycled since ${sandboxDate}`, "Device identifier"];
  return [head, head.map(() => "---"), ...sandboxNumbers.map(row)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function textOf(outcome: Outcome): string {
  return typeof outcome === "string" ? `${errors[outcome].status} \`${outcome}\`` : `200, ${outcome.says}`;
}

/** The document of a stage that is a sandbox: its description ends with the numbers to try. */
export function withSandbox<Document extends { readonly info: { readonly description: string } }>(
  document: Document,
) {
  const { info } = document;
  const description = [
    info.description,
    "## Numbers to try",
    "This stage has numbers that belong to nobody. About each, an operation always answers the same:",
    sandboxTable(),
  ].join("\n\n");
  return { ...document, info: { ...info, description } };
}
