/**
 * Values that Secrets Manager makes up.
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetRandomPassword.html
 */
import { randomInt } from "node:crypto";
import * as z from "zod";
import type { GeneratedSecret } from "../template/template.ts";

/** The first value of a generated secret: a password, or a JSON object that holds one. */
export function generateSecretString(options: GeneratedSecret): string {
  const password = generatePassword(options);
  const { SecretStringTemplate, GenerateStringKey } = options;
  if (SecretStringTemplate === undefined || GenerateStringKey === undefined) return password;
  const members = z.record(z.string(), z.unknown()).parse(JSON.parse(SecretStringTemplate));
  return JSON.stringify({ ...members, [GenerateStringKey]: password });
}

function generatePassword(options: GeneratedSecret): string {
  const kinds = [
    options.ExcludeLowercase ? "" : "abcdefghijklmnopqrstuvwxyz",
    options.ExcludeUppercase ? "" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    options.ExcludeNumbers ? "" : "0123456789",
    options.ExcludePunctuation ? "" : "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    options.IncludeSpace ? " " : "",
  ]
    .map((kind) => [...kind].filter((character) => !options.ExcludeCharacters.includes(character)))
    .filter((kind) => kind.length > 0);
  const all = kinds.flat();
  if (all.length === 0) throw new Error("A generated secret excludes every character");

  const required = options.RequireEachIncludedType ? kinds.map(pick) : [];
  const rest = Array.from({ length: Math.max(0, options.PasswordLength - required.length) }, () => pick(all));
  return shuffle([...required, ...rest]).join("");
}

function pick(characters: readonly string[]): string {
  return characters[randomInt(characters.length)] ?? "";
}

function shuffle(characters: readonly string[]): readonly string[] {
  const rest = [...characters];
  return characters.map(() => rest.splice(randomInt(rest.length), 1)[0] ?? "");
}
