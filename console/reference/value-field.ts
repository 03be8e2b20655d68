import { html } from "../base/dom.ts";
import type { Schema } from "./document.ts";

/** A field in which somebody enters one value. */
export type ValueField = HTMLInputElement | HTMLSelectElement;

/** Creates the field for a value: a choice where the schema names the values, otherwise a text or a date. */
export function valueField(
  { enum: choices, default: fallback, format }: Schema,
  { value, isRequired, change }: { value: string; isRequired: boolean; change: () => void },
): ValueField {
  if (choices === undefined) {
    return html("input", {
      type: format === "date" ? "date" : "text",
      value,
      required: isRequired,
      placeholder: String(fallback ?? ""),
      spellcheck: "false",
      autocomplete: "off",
      input: change,
    });
  }
  const field = html(
    "select",
    { change },
    html("option", { value: "" }, "–"),
    ...choices.map((choice) => html("option", {}, String(choice))),
  );
  field.value = value;
  return field;
}

/** What was entered as the schema has it. A text that is no number stays one, so that the API says what is wrong with it. */
export function enteredValue({ type }: Schema, text: string): string | number {
  const isNumber = (type === "integer" || type === "number") && Number.isFinite(Number(text));
  return isNumber ? Number(text) : text;
}

/** A field with its name: as the API has it or, for people who do not know the API, in words. */
export function labelled(name: string, isRequired: boolean, field: ValueField, inWords = false): HTMLElement {
  return html(
    "label",
    {},
    inWords ? wordsOf(name) : html("code", {}, name),
    isRequired ? " required" : "",
    field,
  );
}

/** The name of a member in words: `phoneNumber` is “Phone number”, and `imei`, which is an abbreviation, “IMEI”. */
export function wordsOf(name: string): string {
  if (/^(?:imei|imeisv|tac)$/.test(name)) return name.toUpperCase();
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
